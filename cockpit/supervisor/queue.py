"""Who stands where in the queue of handoffs: under way, or before somebody in it. Pure."""

from __future__ import annotations

from cockpit.core.handoff.states import (
    Confirming,
    Documenting,
    Reviving,
    Starting,
    Stopping,
    Waiting,
)
from cockpit.supervisor.seat import Seat

UNDER_WAY = (Documenting, Stopping, Starting, Confirming, Reviving)
"""States that count against `concurrent`; a question to the pilot does not."""


def is_under_way(seat: Seat) -> bool:
    """Whether its handoff keeps a place: from the request on, questions and waits aside."""
    if seat.handoff is None:
        return False
    state = seat.handoff.state
    asked = isinstance(state, Waiting) and state.requested_at is not None
    return asked or isinstance(state, UNDER_WAY)


def is_ahead(other: Seat, seat: Seat) -> bool:
    """Whether the other's handoff began before and waits for a place, and for nothing else."""
    theirs, mine = other.handoff_record, seat.handoff_record
    if other.handoff is None or theirs is None or mine is None:
        return False
    match other.handoff.state:
        case Waiting(requested_at=None, why=why):
            earlier = (theirs.created, theirs.id) < (mine.created, mine.id)
            return earlier and (not why or why.startswith("queued"))
        case _:
            return False

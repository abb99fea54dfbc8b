"""Find the machine on which a session ran: the job may have been moved to this machine since."""

from __future__ import annotations

from collections.abc import Iterable

from cockpit.ports.records import HandoffRecord


def machine_of(handoffs: Iterable[HandoffRecord]) -> str | None:
    """Return the machine of the session that these handoffs ended; None for this machine."""
    return next(
        (handoff.details.moved_from for handoff in handoffs if handoff.details.moved_from), None
    )

"""What a compaction by the CLI itself means: held once while it would cost a document, and told.

A handoff whose reason it has taken away is called off. What the session is told again afterwards
is the business of `supplements`.
"""

from __future__ import annotations

from cockpit.core.handoff.events import CalledOff
from cockpit.core.handoff.states import (
    Asked,
    Documenting,
    Handoff,
    Reviewing,
    Waiting,
    is_revocable,
)
from cockpit.supervisor.engine import Engine
from cockpit.supervisor.guards import COMPACTED
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.sight import began

HELD = "compaction.held"
"""Latch of a session whose compaction was put off, or lies ready to be: once, for ever."""
REASON = (
    "cockpit is handing this job over to a fresh session; the agent writes the handoff document "
    "now. The next compaction is not held up."
)


class Compactions:
    """Looks at one seat's handoff and its compactions."""

    def __init__(self, instruments: Instruments, engine: Engine) -> None:
        self._in = instruments
        self._engine = engine

    def hold(self, seat: Seat) -> None:
        """Have a compaction put off while the agent writes, and no longer. Twice is as once.

        At most one for each session: an agent that can never compact is wedged.
        """
        if seat.session is None:
            return
        store, session = self._in.store, seat.session.id
        if seat.alive and seat.handoff is not None and agent_writes(seat.handoff):
            if store.latch(session, HELD, self._now()):
                seat.runtime.hold_compaction(seat.name, REASON)
        elif store.latched(session, HELD) and seat.runtime.release_compaction(seat.name):
            store.unlatch(session, HELD)

    def took_place(self, seat: Seat) -> None:
        """The CLI compacted: counted, told with how late that was, and kept for the row."""
        late = ""
        before, marks = seat.sitting.gauge.before_compaction, seat.marks
        if before is not None and marks is not None and before > marks.act.tokens:
            late = f"{(before - marks.act.tokens) // 1000}k past the act mark"
        wanted = seat.settings.strategy == "compact"
        words = f"{seat.name} compacted its context by itself"
        if seat.handoff is not None:
            words += _meanwhile(seat.handoff)
        elif late and not wanted:
            seat.sitting.too_late = late
            words += f": a handoff would have been too late by {late.split()[0]}"
        self._in.feed.tell(
            "agent.compacted",
            words,
            seat.name,
            compactions=seat.sitting.meter.compactions,
            tokens=before,
        )

    async def settle(self, seat: Seat) -> None:
        """Call off a handoff of a context which is no longer there. Twice is as once."""
        if seat.handoff is None or seat.handoff_record is None or seat.session is None:
            return
        if seat.session.id != seat.handoff_record.old_session and is_revocable(seat.handoff):
            await self._engine.tell(seat, CalledOff("the session was cleared by hand"))
            return
        compacted, plan = seat.sitting.gauge.compacted_at, seat.handoff.plan
        if compacted is None or compacted <= began(seat.handoff_record):
            return
        untouched = isinstance(seat.handoff.state, Asked | Waiting)
        if untouched and plan.reason in {"threshold", "compaction"}:
            await self._engine.tell(seat, CalledOff(COMPACTED))

    def _now(self) -> float:
        return self._in.clock.now().timestamp()


def _meanwhile(handoff: Handoff) -> str:
    """What a compaction means for a handoff that is under way."""
    match handoff.state:
        case Asked():
            return " before you said whether to hand off"
        case Reviewing():
            return "; its handoff document was written before that and waits for your approval"
        case Waiting() | Documenting():
            return " before its handoff document was written"
        case _:
            return "; its handoff document was agreed before that, and the handoff goes on"


def agent_writes(handoff: Handoff) -> bool:
    """The agent was asked for its document and has not given it: its context is needed."""
    match handoff.state:
        case Waiting(requested_at=requested):
            return requested is not None
        case Documenting(writer="agent", composing=composing):
            return not composing
        case _:
            return False

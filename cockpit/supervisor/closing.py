"""The end of a handoff: its outcome written down, and what that means for the seat.

Decides nothing: what came of the handoff is known when it is closed.
"""

from __future__ import annotations

from dataclasses import replace

from cockpit.core.handoff.states import Ended, Handoff, Outcome
from cockpit.core.ids import SessionId
from cockpit.supervisor import announcements as told
from cockpit.supervisor.guards import leaving
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.paperwork import Paperwork
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.sessions import Sessions


class Closing:
    """Closes the handoffs of all seats."""

    def __init__(self, instruments: Instruments, sessions: Sessions, paperwork: Paperwork) -> None:
        self._in = instruments
        self._sessions = sessions
        self._paperwork = paperwork

    async def close(self, seat: Seat, ended: Ended) -> None:
        """Write the outcome down and take the handoff off the seat.

        The outcome is durable before anything else follows.
        """
        record = seat.handoff_record
        assert record is not None
        assert seat.handoff is not None
        done = ended.outcome is Outcome.DONE
        new = seat.handoff.successor(ended.attempt).session if done else None
        stood = {"left": leaving(seat, self._in.clock.monotonic())}
        after = {"tokens_after": seat.sitting.gauge.tokens} if done else stood
        seat.runtime.withdraw_ask(seat.name)
        closed = replace(
            record,
            ended=self._now(),
            outcome=ended.outcome.value,
            why=ended.why,
            new_session=new,
            details={**record.details, **after, "closed": self._in.clock.steady()},
        )
        with self._in.store.transaction():
            self._in.store.save_handoff(closed)
            old = self._in.store.session(record.old_session)
            if done and old is not None:
                self._in.store.save_session(replace(old, state="handed_off", ended=self._now()))
            self._mark_failed_starts(seat.handoff, new)
        seat.handoff_record = closed
        await self._paperwork.tidy(seat, done=done)
        self._settle(seat, ended)
        told.ended(self._in.feed, seat, ended)
        seat.handoff = seat.handoff_record = seat.stall = None
        seat.chain = self._in.store.chain(closed.job)

    def _mark_failed_starts(self, handoff: Handoff, confirmed: SessionId | None) -> None:
        for each in handoff.plan.successors:
            tried = self._in.store.session(each.session)
            if tried is not None and tried.id != confirmed:
                self._in.store.save_session(replace(tried, state="failed", ended=self._now()))

    def _settle(self, seat: Seat, ended: Ended) -> None:
        """What the outcome means for the seat."""
        if ended.outcome is Outcome.DONE:
            seat.handoffs += 1
        elif ended.outcome is Outcome.FAILED:
            seat.handoff_has_failed(ended.why)
        elif ended.outcome is Outcome.REVIVED:
            note = f"the handoff failed, this is the old session again: {ended.why}"
            self._in.store.save_seat(seat.change(note=note))
        elif not seat.alive and seat.exit is not None:
            self._sessions.finish(seat)  # it ended meanwhile, and nobody follows it

    def _now(self) -> float:
        return self._in.clock.now().timestamp()

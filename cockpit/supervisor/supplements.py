"""Gives facts back to a session whose conversation was compacted or cleared.

They are laid ready when the CLI says that it is about to compact, kept fresh while it takes its
time, and looked for in the record. Where they did not arrive by the end of the next turn they are
laid for the next step instead, once; never twice. Without a compaction nothing is said.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from cockpit.core.facts import Facts
from cockpit.core.supplement import Occasion
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.paperwork import Paperwork
from cockpit.supervisor.seat import Seat

FRESH = 5.0
"""Seconds for which facts that lie ready are not written again, however busy the agent is."""


@dataclass(slots=True)
class Laid:
    """Facts that lie ready for one session, or were given and are looked for."""

    token: str
    occasion: Occasion
    calls: int
    """Replies of the model when they were written."""
    written: float
    compactions: int
    """Of the session, when they were first laid: one more, and they are due."""
    beginnings: int
    """Times it had begun anew by then."""
    turns: int | None = None
    """Turns that had ended when the compaction was seen; None while it was not."""
    again: bool = False
    """They were laid for the next step: there is no third way."""


class Supplements:
    """What lies ready for each session, by its id."""

    def __init__(self, instruments: Instruments, paperwork: Paperwork) -> None:
        self._in = instruments
        self._paperwork = paperwork
        self._laid: dict[str, Laid] = {}
        self._announced: dict[str, int] = {}
        """Compactions that each session's CLI had announced when facts were last laid."""

    async def consider(self, seat: Seat) -> None:
        """Lay, renew, look for or lay again, as it is due. Twice is as once."""
        if seat.session is None or not seat.alive or seat.settings.mode == "observe":
            return
        if seat.sitting.before is not None:
            before, seat.sitting.before = seat.sitting.before, None
            await self._lay(seat, "clear", at_start=False, facts=before)
        laid = self._laid.get(seat.session.id)
        if laid is not None and seat.heard_of(laid.token):
            del self._laid[seat.session.id]
            self._tell_given(seat, laid)
            laid = None
        if seat.settings.strategy != "handoff" and not seat.sitting.catching_up:
            await self._around_compaction(seat, laid)

    async def _around_compaction(self, seat: Seat, laid: Laid | None) -> None:
        assert seat.session is not None
        announced = seat.sitting.conduct.compactions_announced
        if announced > self._announced.get(seat.session.id, 0):
            self._announced[seat.session.id] = announced
            await self._lay(seat, "compact", at_start=True)
        elif laid is None or laid.occasion != "compact":
            return
        elif self._was_missed(seat, laid):
            await self._lay_again(seat, laid)
        elif seat.compactions > laid.compactions:
            await self._follow_up(seat, laid)
        elif self._is_stale(seat, laid):
            await self._lay(seat, "compact", at_start=True, over=laid)

    async def _follow_up(self, seat: Seat, laid: Laid) -> None:
        """The compaction is over: a turn later the facts must have arrived."""
        if laid.turns is None:
            laid.turns = seat.turns
        elif seat.turns > laid.turns and not laid.again:
            self._in.feed.tell(
                "facts.dropped",
                f"{seat.name} did not take the facts with its compaction; they go in with its "
                "next step",
                seat.name,
            )
            await self._lay_again(seat, laid)

    def _was_missed(self, seat: Seat, laid: Laid) -> bool:
        """The session went on before they lay ready: nobody can have taken them."""
        if laid.again or seat.sitting.conduct.begun_anew <= laid.beginnings:
            return False
        return seat.runtime.withdraw_supplement(seat.name)

    async def _lay_again(self, seat: Seat, laid: Laid) -> None:
        seat.runtime.withdraw_supplement(seat.name)
        laid.again = True
        await self._lay(seat, "compact", at_start=False, over=laid)

    def _is_stale(self, seat: Seat, laid: Laid) -> bool:
        """A compaction can be announced long before it comes; the agent works on meanwhile."""
        if seat.sitting.meter.api_calls == laid.calls:
            return False
        return self._in.clock.monotonic() - laid.written > FRESH

    async def _lay(
        self,
        seat: Seat,
        occasion: Occasion,
        *,
        at_start: bool,
        facts: Facts | None = None,
        over: Laid | None = None,
    ) -> None:
        assert seat.session is not None
        session = seat.session.id
        before, beginnings = seat.compactions, seat.sitting.conduct.begun_anew
        token = over.token if over else f"facts {secrets.token_hex(4)}"
        text = await self._paperwork.supplement(seat, token, occasion, facts)
        if seat.session is None or seat.session.id != session:
            return  # another session sits there by now
        if over is not None and at_start and seat.compactions > over.compactions:
            return  # it came while git was asked: what lies there is on its way
        if not seat.runtime.supplement(seat.name, text, at_start=at_start):
            return
        laid = over or Laid(
            token, occasion, calls=0, written=0.0, compactions=before, beginnings=beginnings
        )
        laid.calls, laid.written = seat.sitting.meter.api_calls, self._in.clock.monotonic()
        self._laid[session] = laid

    def _tell_given(self, seat: Seat, laid: Laid) -> None:
        after = "its compaction" if laid.occasion == "compact" else "it was cleared"
        self._in.feed.tell(
            "facts.given",
            f"{seat.name} was given the facts of its work back after {after}",
            seat.name,
            occasion=laid.occasion,
            token=laid.token,
        )

    def forget(self, session: str) -> None:
        """The session is over."""
        self._laid.pop(session, None)
        self._announced.pop(session, None)

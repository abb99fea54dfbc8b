"""When a filling context is told of, and when it starts a handoff by itself.

Latches are on disk, so that nothing alarms twice, not even after a restart. Everything that holds
an automatic handoff back is a sentence for the pilot, and is in `held_back`.
"""

from __future__ import annotations

from dataclasses import dataclass

from cockpit.core.bands import Band, may_act
from cockpit.supervisor.engine import Engine
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.rows import chain_cost, finished
from cockpit.supervisor.seat import Seat

BREAKER_SECONDS = 900.0
BREAKER_HANDOFFS = 3
"""So many swaps of one agent within so many seconds pause its automatic handoffs."""
UNDONE = "undone"
"""Latch of a session that the pilot reopened: what follows it is the pilot's to say."""
CROSSINGS = (Band.NOTICE, Band.WARN, Band.ACT, Band.FORCE)


@dataclass(frozen=True, slots=True)
class Due:
    """A handoff that should begin: with the question first, or by itself."""

    ask: bool
    why_ask: str | None = None
    """Why an automatic agent is asked about after all."""


class Triggers:
    """Looks at one seat after each new reading."""

    def __init__(self, instruments: Instruments, engine: Engine) -> None:
        self._in = instruments
        self._engine = engine

    async def consider(self, seat: Seat) -> None:
        """Tell of bands newly reached, and begin a handoff if one is due. Twice is as once."""
        if seat.session is None or seat.sitting.gauge.tokens is None:
            self._by_tool_calls(seat)
            return
        self._tell_crossings(seat)
        due = self.due(seat)
        if due is None:
            return
        if due.why_ask:
            self._in.feed.tell("handoff.held_back", due.why_ask, seat.name)
        offered = f"offered.{seat.band.value}"
        await self._engine.begin(
            seat, "threshold", ask=due.ask, review=due.ask, offered=offered
        )

    def _by_tool_calls(self, seat: Seat) -> None:
        if seat.session is None or seat.band is not Band.WARN:
            return
        if self._latch(seat, "band.tool_calls"):
            words = (
                f"{seat.name} made {seat.tool_calls} tool calls and its context cannot be read; "
                "it may be filling up"
            )
            self._in.feed.tell("band.crossed", words, seat.name, band="warn", tokens=None)

    def _tell_crossings(self, seat: Seat) -> None:
        """One event for the highest band newly reached, however many were jumped."""
        band = seat.band
        reached = [each for each in CROSSINGS if each.severity <= band.severity]
        fresh = [each for each in reached if self._latch(seat, f"band.{each.value}")]
        if not fresh:
            return
        reading = seat.sitting.gauge.reading
        share = f"{reading.used:.0%}" if reading.used is not None else "?"
        self._in.feed.tell(
            "band.crossed",
            f"{seat.name} is at {share} of its context ({fresh[-1].value})",
            seat.name,
            band=fresh[-1].value,
            tokens=reading.tokens,
            window=reading.window,
            confidence=reading.confidence.value,
        )

    def due(self, seat: Seat) -> Due | None:
        """Whether a handoff should begin now; None if not."""
        if seat.handoff is not None or not seat.alive or seat.settings.mode == "observe":
            return None
        if not may_act(seat.sitting.gauge.reading, seat.band) or finished(seat):
            return None
        if not self._strategy_allows(seat) or self._latched(seat, f"offered.{seat.band.value}"):
            return None
        if self._cooling(seat) or self._born_full(seat):
            return None
        if seat.settings.mode == "prompt":
            return Due(ask=True)
        why = self.held_back(seat)
        return Due(ask=why is not None, why_ask=why)

    def held_back(self, seat: Seat) -> str | None:
        """Why an automatic agent is asked about instead; None when nothing holds it back."""
        settings = seat.settings.handoff
        if self._latched(seat, UNDONE):
            return f"you went back to this session of {seat.name}; asking you"
        if seat.handoffs >= settings.max_per_job:
            return f"{seat.name} was handed off {seat.handoffs} times in this job; asking you"
        cost = chain_cost(seat)
        cap = settings.max_chain_cost_usd
        if cap and cost is not None and cost >= cap:
            return f"this job of {seat.name} has cost ${cost:.2f} of ${cap:.2f}; asking you"
        since = self._in.clock.now().timestamp() - BREAKER_SECONDS
        if self._in.store.confirmed(seat.name, since) >= BREAKER_HANDOFFS:
            return f"{BREAKER_HANDOFFS} handoffs of {seat.name} in a quarter of an hour; asking you"
        return None

    def _strategy_allows(self, seat: Seat) -> bool:
        match seat.settings.strategy:
            case "compact":
                return False
            case "hybrid":
                return seat.sitting.meter.compactions >= seat.settings.handoff.compactions
            case _:
                return True

    def _cooling(self, seat: Seat) -> bool:
        """A session that was just swapped in, or gone back to, is left alone for a while."""
        assert seat.session is not None
        began = self._in.store.latched(seat.session.id, UNDONE)
        if began is None:
            if seat.session.previous is None:
                return False
            began = seat.session.created
        age = self._in.clock.now().timestamp() - began
        return 0 <= age < seat.settings.handoff.cooldown

    def _born_full(self, seat: Seat) -> bool:
        """A successor whose first reading is past its act mark: another swap would not help."""
        assert seat.session is not None
        if seat.session.previous is None:
            return False
        if self._latched(seat, "born.full"):
            return True
        if seat.sitting.meter.api_calls <= 1 and self._latch(seat, "born.full"):
            self._in.feed.tell(
                "handoff.held_back",
                f"{seat.name} began its session past the act mark; it is not handed off again",
                seat.name,
            )
            return True
        return False

    def rearm(self, seat: Seat, *names: str) -> None:
        """After a compaction everything may be told again; after a cancelled offer, that one."""
        if seat.session is not None:
            chosen = names or tuple(
                f"{kind}.{band.value}" for kind in ("band", "offered") for band in CROSSINGS
            )
            self._in.store.unlatch(seat.session.id, *chosen)

    def _latch(self, seat: Seat, name: str) -> bool:
        assert seat.session is not None
        return self._in.store.latch(seat.session.id, name, self._in.clock.now().timestamp())

    def _latched(self, seat: Seat, name: str) -> bool:
        assert seat.session is not None
        return self._in.store.latched(seat.session.id, name) is not None

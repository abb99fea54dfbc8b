"""When a filling context is told of, and when a handoff starts by itself.

Four things start one: a band, compactions, a limit of the session, a loop. What holds it back is
the business of `guards`, and stands on the row. Latches are on disk, so that nothing alarms
twice, not even after a restart.
"""

from __future__ import annotations

from collections.abc import Callable

from cockpit.core.bands import Band
from cockpit.core.guards import limit_reached
from cockpit.core.plurals import counted
from cockpit.supervisor.engine import Engine
from cockpit.supervisor.guards import BORN_FULL, LET_COMPACT, Guards, Held, Wish, over
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.rows import expects_prompt, finished
from cockpit.supervisor.seat import Seat

CROSSINGS = (Band.NOTICE, Band.WARN, Band.ACT, Band.FORCE)
ACTING = (Band.ACT, Band.FORCE)


class Triggers:
    """Looks at one seat after each news of it, and every few seconds."""

    def __init__(self, instruments: Instruments, engine: Engine) -> None:
        self._in = instruments
        self._engine = engine
        self._guards = Guards(instruments)
        self.ask_hooks: Callable[[Seat], None] = lambda _: None
        """Called when the act mark is newly crossed."""

    async def consider(self, seat: Seat) -> None:
        """Tell of bands newly reached, and begin a handoff if one is due. Twice is as once."""
        if seat.session is None:
            return
        if seat.sitting.gauge.tokens is None:
            self._by_tool_calls(seat)
        else:
            self._tell_crossings(seat)
            self._note_born_full(seat)
        wish = self.wish(seat)
        seat.waits = self._guards.stops(seat, wish) if wish is not None else None
        if wish is not None and seat.waits is None:
            await self._begin(seat, wish)

    def held_back(self, seat: Seat) -> str | None:
        """Why an automatic agent is asked about instead; None when nothing holds it back."""
        held = self._guards.asks(seat)
        return f"{held.words}; asking you" if held else None

    def rearm(self, seat: Seat) -> None:
        """After a compaction everything may be told, and asked, again."""
        if seat.session is not None:
            bands = (f"band.{band.value}" for band in CROSSINGS)
            self._in.store.unlatch(seat.session.id, *bands, LET_COMPACT)

    def let_compact(self, seat: Seat) -> None:
        """The pilot does not want to be asked before the next compaction."""
        self._latch(seat, LET_COMPACT)

    def may_become_due(self, seat: Seat) -> bool:
        """Whether time alone can make a handoff due here, or end what holds one back."""
        if seat.session is None or seat.handoff is not None or seat.settings.mode == "observe":
            return False
        settings = seat.settings
        by_time = bool(settings.limits.session_time) or seat.waits is not None
        return by_time or settings.loop.enabled

    # Telling

    def _by_tool_calls(self, seat: Seat) -> None:
        if seat.band is Band.WARN and self._latch(seat, "band.tool_calls"):
            words = (
                f"{seat.name} made {seat.tool_calls} tool calls and its context cannot be read; "
                "it may be filling up"
            )
            self._in.feed.tell(
                "band.crossed", words, seat.name, band="warn", reached=["warn"], tokens=None
            )

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
            reached=[each.value for each in fresh],
            tokens=reading.tokens,
            window=reading.window,
            confidence=reading.confidence.value,
        )
        if Band.ACT in fresh:
            self.ask_hooks(seat)

    def _note_born_full(self, seat: Seat) -> None:
        """A successor whose first reading is past its act mark: another swap would not help."""
        assert seat.session is not None
        newborn = seat.session.previous is not None and seat.sitting.meter.api_calls <= 1
        if newborn and seat.band in ACTING and self._latch(seat, BORN_FULL):
            self._in.feed.tell(
                "handoff.held_back",
                f"{seat.name} began its session past the act mark; it is not handed off again",
                seat.name,
            )

    # Beginning

    def wish(self, seat: Seat) -> Wish | None:
        """The handoff that is due, whatever may hold it back; None if none is."""
        if seat.handoff is not None or seat.settings.mode == "observe" or not seat.record.wanted:
            return None
        if finished(seat) or seat.deciding:
            return None
        if not seat.alive:
            return self._by_loop(seat)
        return self._by_band(seat) or self._by_limit(seat) or self._by_loop(seat)

    def _by_band(self, seat: Seat) -> Wish | None:
        strategy, allowed = seat.settings.strategy, seat.settings.handoff.compactions
        if strategy == "compact" or seat.sitting.gauge.tokens is None:
            return None
        words = f"{seat.band.value} mark"
        if strategy == "handoff":
            return Wish("band", "threshold", words) if seat.band in ACTING else None
        seen = seat.compactions
        times = counted(seen, "compaction")
        if seen > allowed and over(seat.sitting.conduct):
            return Wish("compactions", "compaction", f"{times} of {allowed}")
        if seen >= allowed and seat.band in ACTING:
            return Wish("band", "compaction", f"{words} after {times}")
        return None

    def _by_limit(self, seat: Seat) -> Wish | None:
        limits = seat.settings.limits
        if not (limits.turns or limits.session_time) or not seat.sitting.replied:
            return None
        age = self._guards.age(seat) if limits.session_time else None
        turns = seat.sitting.meter.api_calls
        words = limit_reached(turns, limits.turns, age, limits.session_time)
        return Wish("limit", "limit", words) if words else None

    def _by_loop(self, seat: Seat) -> Wish | None:
        """A session of a loop that ended, by its turn or by its process, without the marker."""
        assert seat.session is not None
        loop, sitting = seat.settings.loop, seat.sitting
        if not loop.enabled or not sitting.replied or expects_prompt(seat):
            return None
        ended = seat.exit is not None and seat.handoff_failed is None and seat.gave_up is None
        if not (over(sitting.conduct) if seat.alive else ended):
            return None
        if seat.session.number < loop.max_iterations:
            words = f"iteration {seat.session.number} of at most {loop.max_iterations} is over"
            return Wish("loop", "loop", words)
        if not sitting.conduct.cut_short and self._latch(seat, "loop.exhausted"):
            self._in.feed.tell(
                "loop.exhausted",
                f"{seat.name} went round {loop.max_iterations} times without saying "
                f"{loop.completion_marker!a}; the loop ends",
                seat.name,
            )
        return None

    async def _begin(self, seat: Seat, wish: Wish) -> None:
        held = self._guards.asks(seat, wish.starter)
        careful = seat.settings.mode == "prompt" or held is not None
        # Nobody is there to be left alone by a question, when the process has ended.
        ask = careful and seat.alive
        because = self._because(seat, held)
        given, seat.given = seat.given, None
        await self._engine.begin(
            seat,
            wish.reason,
            ask=ask,
            review=careful,
            given=given,
            words=wish.words,
            because=because,
        )

    def _because(self, seat: Seat, held: Held | None) -> dict[str, str] | None:
        """What the question to the pilot is asked for, where the mode alone does not say."""
        if held is None or seat.settings.mode != "auto":
            return None
        return {"kind": held.kind, "words": held.words}

    def _latch(self, seat: Seat, name: str) -> bool:
        assert seat.session is not None
        return self._in.store.latch(seat.session.id, name, self._in.clock.now().timestamp())

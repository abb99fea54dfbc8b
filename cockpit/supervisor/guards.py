"""What holds a handoff back that is due by itself: nothing begins, or the pilot is asked first.

Every answer is a clause or a sentence for the pilot. Elapsed time is counted on clocks that no jump
of the wall clock moves, so that it neither hurries nor delays anything. Only a usage limit's reset
is a time of day.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cockpit.core.bands import Band
from cockpit.core.conduct import Conduct
from cockpit.core.guards import Left, is_stale, not_grown, too_soon
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import Reason
from cockpit.core.reading import Confidence
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.needs import clock_time, usage_limited
from cockpit.supervisor.rows import chain_cost
from cockpit.supervisor.seat import Seat

BREAKER_SECONDS = 900.0
BREAKER_HANDOFFS = 3
"""So many swaps of one agent within so many seconds pause its automatic handoffs."""
UNDONE = "undone"
"""Latch of a session that the pilot reopened: what follows it is the pilot's to say."""
LET_COMPACT = "let.compact"
"""Latch of a session that the pilot lets compact: not asked about again before it did."""
BORN_FULL = "born.full"
COMPACTED = "the context was compacted"
"""Why a handoff was called off that had lost its reason."""

Starter = Literal["band", "compactions", "limit", "loop"]


@dataclass(frozen=True, slots=True)
class Wish:
    """A handoff that is due."""

    starter: Starter
    reason: Reason
    words: str
    """Why, as an event says it."""


@dataclass(frozen=True, slots=True)
class Held:
    """Why an automatic agent is asked about first."""

    kind: Literal["breaker", "handoff"]
    words: str


class Guards:
    """Looks at one seat; remembers nothing itself."""

    def __init__(self, instruments: Instruments) -> None:
        self._in = instruments

    # Nothing begins

    def stops(self, seat: Seat, wish: Wish) -> str | None:
        """Why nothing is begun now; None when it may."""
        for rule in (self._usage, self._interrupted, self._let_compact, self._rest, self._reading):
            if why := rule(seat, wish):
                return why
        return None

    def _usage(self, seat: Seat, _wish: Wish) -> str | None:
        """A successor could not work either; a restart loop would only make it worse."""
        limit = usage_limited(seat)
        if limit is None:
            return None
        if limit.resets is None:
            return "it waits: the account's usage limit is reached"
        if self._now() < limit.resets:
            return f"it waits: the account's usage limit resets at {clock_time(limit.resets)}"
        return None

    def _interrupted(self, seat: Seat, wish: Wish) -> str | None:
        """Who pressed Esc wants to say something; a new round would take the agent away."""
        if wish.starter != "loop" or not seat.sitting.conduct.cut_short:
            return None
        return (
            "its loop waits, since its turn was interrupted: send it a prompt to go on, "
            f"or begin the next round: cockpit handoff {seat.name}"
        )

    def _let_compact(self, seat: Seat, wish: Wish) -> str | None:
        if wish.starter == "band" and self._latched(seat, LET_COMPACT):
            return "you let it compact; asked again after that"
        return None

    def _rest(self, seat: Seat, wish: Wish) -> str | None:
        left = self.left(seat)
        cooldown = seat.settings.handoff.cooldown
        if left is not None and (why := too_soon(left, cooldown)):
            return why
        swapped = seat.session is not None and seat.session.previous is not None
        undone = self._latched(seat, UNDONE)
        rests = wish.starter != "loop" and (swapped or undone)
        if rests and self.age(seat) < cooldown:
            since = "you just went back to it" if undone else "it has just begun"
            return f"{since}; no handoff is begun for {cooldown:.0f} s"
        if left is None:
            return None
        if wish.starter == "loop":
            answered = seat.turns <= left.turns
            return "the last question was answered; asked after the next turn" if answered else None
        window = seat.sitting.gauge.window.tokens
        return not_grown(left, seat.sitting.gauge.tokens, window, forced=seat.band is Band.FORCE)

    def _reading(self, seat: Seat, wish: Wish) -> str | None:
        """What only a handoff by the reading's band has to fear."""
        if wish.starter not in ("band", "compactions"):
            return None
        if self._latched(seat, BORN_FULL):
            return "it began past its act mark: another session would not help"
        if seat.sitting.gauge.reading.confidence is Confidence.ASSUMED:
            return "its window is only assumed: say it with context.window"
        if is_stale(seat.sitting.conduct.turn, self._reading_age(seat)):
            return "its reading is old; waiting for a newer one"
        return None

    def _reading_age(self, seat: Seat) -> float | None:
        at = seat.sitting.gauge.at
        return None if at is None else self._in.clock.steady() - at

    # The pilot is asked

    def asks(self, seat: Seat, starter: Starter = "band") -> Held | None:
        """Why an automatic agent is asked about first; None when nothing speaks against it."""
        settings = seat.settings.handoff
        if self._latched(seat, UNDONE):
            return Held("handoff", f"you went back to this session of {seat.name}")
        most = settings.max_per_job
        if seat.settings.loop.enabled:
            most = max(most, seat.settings.loop.max_iterations)
        if starter != "loop" and seat.handoffs >= most:
            return Held("handoff", f"{seat.name} was handed off {seat.handoffs} times in this job")
        cost, cap = chain_cost(seat), settings.max_chain_cost_usd
        if cap and cost is not None and cost >= cap:
            return Held("handoff", f"this job of {seat.name} has cost ${cost:.2f} of ${cap:.2f}")
        since = self._in.clock.steady() - BREAKER_SECONDS
        swaps = self._in.store.swaps(seat.name, since, but="loop")
        if starter != "loop" and swaps >= BREAKER_HANDOFFS:
            return Held("breaker", f"{swaps} handoffs of {seat.name} in a quarter of an hour")
        return None

    # How things stand

    def age(self, seat: Seat) -> float:
        """Seconds since the session's process was started, or it was cleared."""
        assert seat.session is not None
        began = self._in.store.latched(seat.session.id, began_latch(self._in.clock.boot()))
        if began is not None:
            return max(0.0, self._in.clock.monotonic() - began)
        return max(0.0, self._now() - seat.session.created)

    def left(self, seat: Seat) -> Left | None:
        """How the last handoff of this context ended; None if none did, or it was compacted."""
        assert seat.session is not None
        record = self._in.store.last_ended(seat.session.id)
        if record is None or record.ended is None or record.why == COMPACTED:
            return None
        if (seat.sitting.gauge.compacted_at or 0.0) > record.details.get("closed", record.ended):
            return None  # that was about another context
        held = record.details.get("left") or {"tokens": seat.session.tokens}
        at, same_boot = held.get("at"), record.boot == self._in.clock.boot()
        return Left(
            tokens=held.get("tokens"),
            forced=bool(held.get("forced")),
            turns=int(held.get("turns") or 0),
            elapsed=self._in.clock.monotonic() - at if at is not None and same_boot else None,
        )

    def _latched(self, seat: Seat, name: str) -> bool:
        assert seat.session is not None
        return self._in.store.latched(seat.session.id, name) is not None

    def _now(self) -> float:
        return self._in.clock.now().timestamp()


def began_latch(boot: str) -> str:
    """The name of the latch that holds when a session's process began, in monotonic seconds."""
    return f"began.{boot}"


def leaving(seat: Seat, monotonic: float) -> dict[str, object]:
    """What `Guards.left` is told of a handoff that ends without a swap."""
    # A session that was just reopened has no reading yet; what it had when it was ended counts.
    tokens = seat.sitting.gauge.tokens
    if tokens is None and seat.session is not None:
        tokens = seat.session.tokens
    return {
        "tokens": tokens,
        "forced": seat.band is Band.FORCE,
        "turns": seat.turns,
        "at": monotonic,
    }


def over(conduct: Conduct) -> bool:
    """Whether the agent's turn is over with nothing of it going on."""
    return conduct.turn is Turn.IDLE and not conduct.background and not conduct.subagents

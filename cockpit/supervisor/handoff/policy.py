"""Guards that delay an automatic handoff, or require a question to the user first.

The reasons that guards return are clauses or sentences for the user. Elapsed times use the wall
clock only where no other time is stored.
"""

from __future__ import annotations

from typing import Literal

from cockpit.config.this_user import this_user
from cockpit.core.bands import Band
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.guards import Left, NextTry, is_stale, next_try, too_soon
from cockpit.core.handoff.details import HeldBack, Leaving
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import CONFIRMED, Outcome, Reason
from cockpit.core.reading import Confidence
from cockpit.core.session_activity import SessionActivity
from cockpit.core.timestamps import clock_time
from cockpit.core.token_counts import token_count
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.latches import FULL_AT_START, LET_COMPACT, UNDONE, began
from cockpit.supervisor.agents.predicates import chain_cost, usage_limited
from cockpit.supervisor.dependencies import Dependencies

BREAKER_SECONDS = 900.0
BREAKER_HANDOFFS = 3
"""If an agent had at least this many handoffs in the last `BREAKER_SECONDS`, the user is asked
before the next one. Handoffs of a loop are not counted, and cause no question."""

Starter = Literal["band", "compactions", "limit", "usage", "loop", "hook", "agent"]
"""The cause of a handoff. The guards apply to all causes, but not to a user's request."""


@dataclass(frozen=True, slots=True)
class Due:
    """The cause of an automatic handoff that is due."""

    starter: Starter
    reason: Reason
    words: str
    """Why the handoff is due, for the text of the event."""


class Guards:
    """Decides whether an automatic handoff may begin. Stateless."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies

    # Reasons why no handoff begins

    def reason_to_wait(self, agent: Agent, due: Due) -> str | None:
        """Return why the handoff may not begin now; None if it may."""
        for rule in (
            self._usage,
            self._interrupted,
            self._let_compact,
            self._cooldown,
            self._reading,
        ):
            if why := rule(agent, due):
                return why
        return None

    def _usage(self, agent: Agent, due: Due) -> str | None:
        """Return why the handoff must wait until a usage limit resets; None if it need not.

        A new session would reach the same limit.
        """
        limit = usage_limited(agent)
        if limit is None or due.starter == "usage":
            return None
        if limit.resets is None:
            return "waiting: the account has reached its usage limit"
        if self._now() < limit.resets:
            return f"waiting: the account's usage limit resets at {clock_time(limit.resets)}"
        return None

    def _interrupted(self, agent: Agent, due: Due) -> str | None:
        """Return why a loop must wait after Esc: the user wants to prompt this session."""
        if due.starter != "loop" or not agent.session_state.activity.cut_short:
            return None
        return (
            "the loop is paused, because the turn was interrupted: send a prompt to continue, "
            f"or begin the next iteration: cockpit handoff {agent.name}"
        )

    def _let_compact(self, agent: Agent, due: Due) -> str | None:
        if due.starter in ("band", "hook") and self._latched(agent, LET_COMPACT):
            return "waiting for the next compaction, as you or a hook decided"
        return None

    def _cooldown(self, agent: Agent, due: Due) -> str | None:
        left, cooldown = self.left(agent), agent.settings.handoff.cooldown
        at, tokens = self._next_try(agent, due, left), agent.session_state.gauge.tokens
        if at is not None and tokens is not None and tokens < at.tokens:
            return self._again(agent, due, at)
        # After a refusal, the row has promised to ask at this token count.
        promised = left is not None and left.refused and at is not None and tokens is not None
        if left is not None and not promised and (why := too_soon(left, cooldown)):
            return why
        follows_another = agent.session is not None and agent.session.previous is not None
        undone = self._latched(agent, UNDONE)
        waits = due.starter != "loop" and (follows_another or undone)
        if waits and self.age(agent) < cooldown:
            since = "this session was just reopened" if undone else "the session has just begun"
            return f"{since}; no handoff begins in the first {cooldown:.0f} s"
        if left is not None and due.starter == "loop" and agent.turns <= left.turns:
            return self._again(agent, due, None)
        return None

    def _next_try(self, agent: Agent, due: Due, left: Left | None) -> NextTry | None:
        """Return when the next handoff may begin; None if that does not depend on the tokens."""
        if left is None or due.starter in ("agent", "loop"):
            return None
        force_at = agent.marks.force.tokens if agent.marks is not None else None
        window = agent.session_state.gauge.window.tokens
        return next_try(left, window, force_at, agent.compacts_at)

    def _again(self, agent: Agent, due: Due, at: NextTry | None) -> str:
        """Return how the last handoff ended, and when the next may begin.

        `at` is None if the next handoff may begin after the next turn.
        """
        held = self.reason_to_ask(agent, due.starter) is not None
        asks = held or (agent.settings.mode == "prompt" and due.starter != "hook")
        again = "asking again" if asks else "trying again"
        if at is None:
            again = f"{again} after the next turn"
        elif at.compaction:
            again = f"not {again} before the CLI compacts at {token_count(at.tokens)} tokens"
        else:
            again = f"{again} at {token_count(at.tokens)} tokens"
        assert agent.session is not None
        ended = self._dependencies.store.last_ended(agent.session.id)
        how = how_it_ended(ended) if ended is not None else None
        return f"{how}; {again}" if how else again

    def _reading(self, agent: Agent, due: Due) -> str | None:
        """Return why a handoff that depends on the token count must wait; None if it need not."""
        if due.starter not in ("band", "compactions", "hook"):
            return None
        if self._latched(agent, FULL_AT_START):
            return "the session began above the act threshold; another session would not help"
        if agent.session_state.gauge.reading.confidence is Confidence.ASSUMED:
            return "the context window is an estimate; set context.window"
        if is_stale(agent.session_state.activity.turn, self._reading_age(agent)):
            return "the last token count is old; waiting for a newer count"
        return None

    def _reading_age(self, agent: Agent) -> float | None:
        at = agent.session_state.gauge.at
        return None if at is None else self._dependencies.clock.steady() - at

    # Reasons to ask the user

    def reason_to_ask(self, agent: Agent, starter: Starter = "band") -> HeldBack | None:
        """Return why the user is asked first even in mode auto; None if no question is needed."""
        settings = agent.settings.handoff
        if self._latched(agent, UNDONE):
            return HeldBack("handoff", f"this session of {agent.name} was reopened by an undo")
        most = settings.max_per_job
        if agent.settings.loop.enabled:
            most = max(most, agent.settings.loop.max_iterations)
        if starter != "loop" and agent.handoffs >= most:
            reason = f"{agent.name} was handed off {agent.handoffs} times in this job"
            return HeldBack("handoff", reason)
        cost, cap = chain_cost(agent), settings.max_chain_cost_usd
        if cap and cost is not None and cost >= cap:
            reason = f"this job of {agent.name} has cost ${cost:.2f} of at most ${cap:.2f}"
            return HeldBack("handoff", reason)
        since = self._dependencies.clock.steady() - BREAKER_SECONDS
        swaps = self._dependencies.store.swaps(agent.name, since, but="loop")
        if starter != "loop" and swaps >= BREAKER_HANDOFFS:
            return HeldBack("breaker", f"{swaps} handoffs of {agent.name} in 15 minutes")
        return None

    # The session

    def age(self, agent: Agent) -> float:
        """Return the seconds since the session was last started, cleared or opened in this boot.

        If this time is not stored, the seconds since the session was created.
        """
        assert agent.session is not None
        since = self._dependencies.store.latched(
            agent.session.id, began(self._dependencies.clock.boot())
        )
        if since is not None:
            return max(0.0, self._dependencies.clock.monotonic() - since)
        return max(0.0, self._now() - agent.session.created)

    def left(self, agent: Agent) -> Left | None:
        """Return how the session's last handoff ended; None if there was none, or if the context
        was compacted since then."""
        assert agent.session is not None
        record = self._dependencies.store.last_ended(agent.session.id)
        if record is None or record.ended is None or record.details.compacted:
            return None
        closed = record.details.closed
        if (agent.session_state.gauge.compacted_at or 0.0) > (
            record.ended if closed is None else closed
        ):
            return None  # the context was compacted since then
        left = record.details.left or Leaving(tokens=agent.session.tokens)
        at, same_boot = left.at, record.boot == self._dependencies.clock.boot()
        return Left(
            tokens=left.tokens,
            forced=left.forced,
            turns=left.turns,
            elapsed=self._dependencies.clock.monotonic() - at
            if at is not None and same_boot
            else None,
            refused=record.outcome == Outcome.REFUSED,
        )

    def _latched(self, agent: Agent, name: str) -> bool:
        assert agent.session is not None
        return self._dependencies.store.latched(agent.session.id, name) is not None

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()


def leaving(agent: Agent, monotonic: float) -> Leaving:
    """Return the state of the context when a handoff ends without a new session. Stored for
    `Guards.left`."""
    # A session that was just reopened has no reading yet: use the stored one.
    tokens = agent.session_state.gauge.tokens
    if tokens is None and agent.session is not None:
        tokens = agent.session.tokens
    return Leaving(tokens=tokens, forced=agent.band is Band.FORCE, turns=agent.turns, at=monotonic)


def how_it_ended(record: HandoffRecord) -> str | None:
    """Return how a session's last handoff ended, as a clause.

    None for a completed handoff: the session was reopened by an undo, which its row says.
    """
    if record.outcome in CONFIRMED:
        return None
    if record.outcome == Outcome.REFUSED:
        return f"{name_of(record.details.answered_by)} refused the handoff"
    return "the last handoff did not complete"


def name_of(by: str) -> str:
    """Return how messages name the sender of an answer: "you" for this supervisor's own user."""
    return "you" if by in ("", this_user()) else by


def is_turn_over(activity: SessionActivity) -> bool:
    """Return whether the turn is over and no work continues except shells and monitors."""
    return activity.turn is Turn.IDLE and not activity.works_in_background

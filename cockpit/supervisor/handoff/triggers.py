"""Report a context that fills up, and begin automatic handoffs.

A handoff is due because of a band, compactions, a limit of the session, a usage limit, a loop, or a
hook. The guards in `policy` may delay the handoff; the screen says why. Stored flags prevent a
second record of an event, even after a restart.
"""

from __future__ import annotations

from collections.abc import Callable

from cockpit.core.bands import Band
from cockpit.core.events import BandCrossed, BudgetCrossed, Plain
from cockpit.core.guards import limit_reached
from cockpit.core.handoff.details import HeldBack
from cockpit.core.ids import SessionId
from cockpit.core.plurals import counted
from cockpit.core.request import note_warning
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.latches import FULL_AT_START, LET_COMPACT
from cockpit.supervisor.agents.predicates import (
    awaits_first_prompt,
    chain_cost,
    configured_successor,
    is_job_done,
    is_over_budget,
    usage_limited,
)
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.documents import usage_text
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.options import HandoffOptions
from cockpit.supervisor.handoff.policy import Due, Guards, is_turn_over

CROSSINGS = (Band.NOTICE, Band.WARN, Band.ACT, Band.FORCE)
ACTING = (Band.ACT, Band.FORCE)
MOST_RECORDED = 1_000
"""Maximum number of sessions whose band is remembered."""


class Triggers:
    """Begins automatic handoffs.

    `consider` runs after every change of an agent, and every few seconds while `may_become_due` is
    true.
    """

    def __init__(
        self, dependencies: Dependencies, engine: Engine, ask_hooks: Callable[[Agent], None]
    ) -> None:
        """`ask_hooks` is called when the act threshold is reached."""
        self._dependencies = dependencies
        self._engine = engine
        self._guards = Guards(dependencies)
        self._ask_hooks = ask_hooks
        self._recorded: dict[SessionId, Band] = {}
        """For each session, the highest band whose flags are known to be stored. Saves database
        queries, because most new token counts reach no other band."""

    async def consider(self, agent: Agent) -> None:
        """Record newly reached bands, and begin a handoff if one is due. Idempotent."""
        if agent.session is None:
            return
        self._record_budget(agent)
        if agent.session_state.gauge.tokens is None:
            self._record_tool_calls(agent)
        else:
            self._record_crossings(agent)
            self._record_full_at_start(agent)
        due = self.due(agent)
        agent.progress.waits = self._guards.reason_to_wait(agent, due) if due is not None else None
        if due is not None and agent.progress.waits is None:
            await self._begin(agent, due)

    def held_back(self, agent: Agent) -> str | None:
        """Return why the user would be asked even in mode auto; None if no question is needed."""
        held = self._guards.reason_to_ask(agent)
        return f"{held.words}; asking you" if held else None

    def held_back_from(self, agent: Agent) -> str | None:
        """Return why the handoff that a hook requests cannot begin at once; None if it can."""
        due = self.due(agent)
        if due is None:
            return "a handoff is no longer due"
        stopped = self._guards.reason_to_wait(agent, due)
        held = self._guards.reason_to_ask(agent, due.starter)
        return stopped or (f"{held.words}; asking you" if held else None)

    def rearm(self, agent: Agent) -> None:
        """After a compaction, allow the events, hooks and handoffs of all bands again.

        Idempotent.
        """
        agent.progress.forget_decision()
        if agent.session is not None:
            self._recorded.pop(agent.session.id, None)
            bands = (f"band.{band.value}" for band in CROSSINGS)
            self._dependencies.store.unlatch(agent.session.id, *bands, LET_COMPACT)

    def let_compact(self, agent: Agent) -> None:
        """Prevent handoffs caused by the context size, until the next compaction. Idempotent."""
        self._latch(agent, LET_COMPACT)

    def may_become_due(self, agent: Agent) -> bool:
        """Return whether elapsed time can make a handoff due, or end its delay."""
        if agent.session is None or agent.handoff is not None or agent.settings.mode == "observe":
            return False
        settings = agent.settings
        by_time = bool(settings.limits.session_time) or agent.progress.waits is not None
        return by_time or settings.loop.enabled

    # Events

    def _record_budget(self, agent: Agent) -> None:
        """Record once per job and budget that the job's cost has reached the budget."""
        if not is_over_budget(agent):
            return
        assert agent.session is not None
        budget, cost = agent.settings.limits.cost, chain_cost(agent) or 0.0
        first = agent.chain[0].id if agent.chain else agent.session.id
        now = self._dependencies.clock.now().timestamp()
        if self._dependencies.store.latch(first, f"budget.{budget:g}", now):
            self._dependencies.event_log.record(
                BudgetCrossed(cost_usd=cost, budget_usd=budget),
                f"{agent.name} has cost ${cost:.2f} of its ${budget:.2f} budget, and continues",
                agent.name,
            )

    def _record_tool_calls(self, agent: Agent) -> None:
        if agent.band is Band.WARN and self._latch(agent, "band.tool_calls"):
            text = (
                f"{agent.name} made {agent.tool_calls} tool calls; its context usage is unknown, "
                "but may be high"
            )
            self._dependencies.event_log.record(
                BandCrossed(
                    band="warn", reached=("warn",), tokens=None, window=None, confidence=None
                ),
                text,
                agent.name,
            )

    def _record_crossings(self, agent: Agent) -> None:
        """Record one event for the highest newly reached band, even if bands were skipped."""
        assert agent.session is not None
        session, band = agent.session.id, agent.band
        if band.severity <= self._recorded.get(session, Band.UNKNOWN).severity:
            return
        reached = [crossing for crossing in CROSSINGS if crossing.severity <= band.severity]
        fresh = [crossing for crossing in reached if self._latch(agent, f"band.{crossing.value}")]
        if len(self._recorded) >= MOST_RECORDED:
            self._recorded.clear()
        self._recorded[session] = band
        if not fresh:
            return
        reading = agent.session_state.gauge.reading
        share = f"{reading.used:.0%}" if reading.used is not None else "?"
        self._dependencies.event_log.record(
            BandCrossed(
                band=fresh[-1].value,
                reached=tuple(crossing.value for crossing in fresh),
                tokens=reading.tokens,
                window=reading.window,
                confidence=reading.confidence.value,
            ),
            f"{agent.name} is at {share} of its context ({fresh[-1].value})",
            agent.name,
        )
        if Band.WARN in fresh:
            self._warn_agent(agent)
        if Band.ACT in fresh:
            self._ask_hooks(agent)

    def _warn_agent(self, agent: Agent) -> None:
        """With `on_warning = "tell"`, warn the agent through the hook after its next tool call."""
        if agent.settings.on_warning != "tell" or agent.settings.mode == "observe":
            return
        if agent.handoff is not None or not agent.alive or agent.band in ACTING:
            return  # the handoff request already informs the agent
        if agent.runtime.ask(agent.name, note_warning(usage_text(agent)), None):
            text = f"Telling {agent.name} that its context is filling up"
            self._dependencies.event_log.record(Plain("agent.warned"), text, agent.name)

    def _record_full_at_start(self, agent: Agent) -> None:
        """Record that a new session's first token count is above the act threshold."""
        assert agent.session is not None
        calls = agent.session_state.reading.meter.api_calls
        is_new_successor = agent.session.previous is not None and calls <= 1
        if is_new_successor and agent.band in ACTING and self._latch(agent, FULL_AT_START):
            self._dependencies.event_log.record(
                Plain("handoff.held_back"),
                f"{agent.name} began its session above the act threshold; no handoff begins",
                agent.name,
            )

    # Beginning

    def due(self, agent: Agent) -> Due | None:
        """Return the handoff that is due, without checking the guards; None if none is due.

        Also sets or clears the message that the agent's loop is over (`loop_over`).
        """
        agent.progress.loop_over = None
        if agent.handoff is not None or agent.settings.mode == "observe" or not agent.record.wanted:
            return None
        if is_job_done(agent) or agent.progress.deciding:
            return None
        if not agent.alive:
            # After an interruption, the setting `resume` decides, not the loop.
            return None if agent.troubles.interrupted else self._by_loop(agent)
        if agent.progress.hurried_by is not None:
            return Due("hook", "threshold", f"hook {agent.progress.hurried_by}")
        return (
            self._by_usage(agent)
            or self._by_band(agent)
            or self._by_limit(agent)
            or self._by_loop(agent)
        )

    def _by_band(self, agent: Agent) -> Due | None:
        strategy, allowed = agent.settings.strategy, agent.settings.handoff.compactions
        if strategy == "compact" or agent.session_state.gauge.tokens is None:
            return None
        reason = f"{agent.band.value} threshold"
        if strategy == "handoff":
            return Due("band", "threshold", reason) if agent.band in ACTING else None
        compactions = agent.compactions
        times = counted(compactions, "compaction")
        if compactions > allowed and is_turn_over(agent.session_state.activity):
            return Due("compactions", "compaction", f"{times}, {allowed} allowed")
        if compactions >= allowed and agent.band in ACTING:
            return Due("band", "compaction", f"{reason} after {times}")
        return None

    def _by_usage(self, agent: Agent) -> Due | None:
        """Return a due handoff if a usage limit ended the turn and `successor` names another CLI.

        Only with `on_limit = "hand_over"`.
        """
        if agent.settings.handoff.on_limit != "hand_over" or configured_successor(agent) is None:
            return None
        limit = usage_limited(agent)
        if limit is None or (limit.resets is not None and limit.resets <= self._now()):
            return None
        return Due("usage", "limit", limit.words)

    def _by_limit(self, agent: Agent) -> Due | None:
        limits = agent.settings.limits
        if not (limits.turns or limits.session_time) or not agent.session_state.replied:
            return None
        age = self._guards.age(agent) if limits.session_time else None
        turns = agent.session_state.reading.meter.api_calls
        reason = limit_reached(turns, limits.turns, age, limits.session_time)
        return Due("limit", "limit", reason) if reason else None

    def _by_loop(self, agent: Agent) -> Due | None:
        """Return a due handoff if a loop's session ended without the completion marker.

        A loop's session has ended if its turn or its process has ended.
        """
        assert agent.session is not None
        loop, session_state = agent.settings.loop, agent.session_state
        if not loop.enabled or not session_state.replied or awaits_first_prompt(agent):
            return None
        ended = agent.exit is not None and agent.progress.failed is None and agent.gave_up is None
        if not (is_turn_over(session_state.activity) if agent.alive else ended):
            return None
        if agent.session.number < loop.max_iterations:
            reason = f"iteration {agent.session.number} of at most {loop.max_iterations} is over"
            return Due("loop", "loop", reason)
        if session_state.activity.cut_short:
            return None
        reason = f"the loop ran {loop.max_iterations} times without {loop.completion_marker!a}"
        if self._latch(agent, "loop.exhausted"):
            self._dependencies.event_log.record(
                Plain("loop.exhausted"), f"{agent.name}: {reason}", agent.name
            )
        again = f"cockpit start {agent.name} --resume"
        once = f"For one more iteration: cockpit handoff {agent.name}. " if agent.alive else ""
        again = f"cockpit stop {agent.name}, then {again}" if agent.alive else again
        more = f"For more, raise loop.max_iterations, then: {again}"
        agent.progress.loop_over = f"{reason}. {once}{more}"
        return None

    def objection(self, agent: Agent) -> str | None:
        """Return why a handoff that the agent requests may not begin now; None if it may."""
        return self._guards.reason_to_wait(agent, Due("agent", "agent", "requested by the agent"))

    def question(self, agent: Agent) -> HeldBack | None:
        """Return why the user must allow a handoff that the agent requests, or None."""
        return self._because(agent, self._guards.reason_to_ask(agent, "agent"))

    async def _begin(self, agent: Agent, due: Due) -> None:
        held = self._guards.reason_to_ask(agent, due.starter)
        hurried = held is None and due.starter == "hook"
        review = (agent.settings.mode == "prompt" and not hurried) or held is not None
        # Do not ask if the process has ended: there is no session to keep.
        ask = review and agent.alive
        because = self._because(agent, held)
        given, agent.progress.given = agent.progress.given, None
        agent.progress.hurried_by = None
        options = HandoffOptions(
            reason=due.reason,
            ask=ask,
            review=review,
            now=hurried,
            given=given,
            due=due.words,
            because=because,
        )
        await self._engine.begin(agent, options)

    def _because(self, agent: Agent, held: HeldBack | None) -> HeldBack | None:
        """Return why the user is asked. None if no question is needed, or if the mode requires one
        anyway."""
        if held is None or (agent.settings.mode != "auto" and agent.progress.hurried_by is None):
            return None
        return held

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()

    def _latch(self, agent: Agent, name: str) -> bool:
        assert agent.session is not None
        return self._dependencies.store.latch(
            agent.session.id, name, self._dependencies.clock.now().timestamp()
        )

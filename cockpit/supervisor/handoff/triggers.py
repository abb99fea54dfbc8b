"""When a filling context is told of, and when a handoff starts by itself.

Four things start one: a band, compactions, a limit of the session, a loop. What holds it back is
the business of `guards`, and stands on the row. Latches are on disk, so that nothing alarms
twice, not even after a restart.
"""

from __future__ import annotations

from collections.abc import Callable

from cockpit.core.bands import Band
from cockpit.core.guards import limit_reached
from cockpit.core.handoff.details import HeldBack
from cockpit.core.plurals import counted
from cockpit.core.request import note_warning
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.latches import BORN_FULL, LET_COMPACT
from cockpit.supervisor.agents.predicates import expects_prompt, finished
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.documents import words_of_use
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.policy import Guards, Wish, over

CROSSINGS = (Band.NOTICE, Band.WARN, Band.ACT, Band.FORCE)
ACTING = (Band.ACT, Band.FORCE)


class Triggers:
    """Looks at one agent after each news of it, and every few seconds."""

    def __init__(self, dependencies: Dependencies, engine: Engine) -> None:
        self._dependencies = dependencies
        self._engine = engine
        self._guards = Guards(dependencies)
        self.ask_hooks: Callable[[Agent], None] = lambda _: None
        """Called when the act mark is newly crossed."""

    async def consider(self, agent: Agent) -> None:
        """Tell of bands newly reached, and begin a handoff if one is due. Twice is as once."""
        if agent.session is None:
            return
        if agent.session_state.gauge.tokens is None:
            self._by_tool_calls(agent)
        else:
            self._tell_crossings(agent)
            self._note_born_full(agent)
        wish = self.wish(agent)
        agent.progress.waits = self._guards.stops(agent, wish) if wish is not None else None
        if wish is not None and agent.progress.waits is None:
            await self._begin(agent, wish)

    def held_back(self, agent: Agent) -> str | None:
        """Why an automatic agent is asked about instead; None when nothing holds it back."""
        held = self._guards.asks(agent)
        return f"{held.words}; asking you" if held else None

    def held_back_from(self, agent: Agent) -> str | None:
        """What keeps a hook from having the session swapped at once; None when nothing does."""
        wish = self.wish(agent)
        if wish is None:
            return "no handoff is due any more"
        stopped = self._guards.stops(agent, wish)
        held = self._guards.asks(agent, wish.starter)
        return stopped or (f"{held.words}; asking you" if held else None)

    def rearm(self, agent: Agent) -> None:
        """After a compaction everything may be told, and asked, again."""
        agent.progress.forget_decision()
        if agent.session is not None:
            bands = (f"band.{band.value}" for band in CROSSINGS)
            self._dependencies.store.unlatch(agent.session.id, *bands, LET_COMPACT)

    def let_compact(self, agent: Agent) -> None:
        """The user does not want to be asked before the next compaction."""
        self._latch(agent, LET_COMPACT)

    def may_become_due(self, agent: Agent) -> bool:
        """Whether time alone can make a handoff due here, or end what holds one back."""
        if agent.session is None or agent.handoff is not None or agent.settings.mode == "observe":
            return False
        settings = agent.settings
        by_time = bool(settings.limits.session_time) or agent.progress.waits is not None
        return by_time or settings.loop.enabled

    # Telling

    def _by_tool_calls(self, agent: Agent) -> None:
        if agent.band is Band.WARN and self._latch(agent, "band.tool_calls"):
            words = (
                f"{agent.name} made {agent.tool_calls} tool calls and its context cannot be read; "
                "it may be filling up"
            )
            self._dependencies.event_log.record(
                "band.crossed", words, agent.name, band="warn", reached=["warn"], tokens=None
            )

    def _tell_crossings(self, agent: Agent) -> None:
        """One event for the highest band newly reached, however many were jumped."""
        band = agent.band
        reached = [each for each in CROSSINGS if each.severity <= band.severity]
        fresh = [each for each in reached if self._latch(agent, f"band.{each.value}")]
        if not fresh:
            return
        reading = agent.session_state.gauge.reading
        share = f"{reading.used:.0%}" if reading.used is not None else "?"
        self._dependencies.event_log.record(
            "band.crossed",
            f"{agent.name} is at {share} of its context ({fresh[-1].value})",
            agent.name,
            band=fresh[-1].value,
            reached=[each.value for each in fresh],
            tokens=reading.tokens,
            window=reading.window,
            confidence=reading.confidence.value,
        )
        if Band.WARN in fresh:
            self._tell_agent(agent)
        if Band.ACT in fresh:
            self.ask_hooks(agent)

    def _tell_agent(self, agent: Agent) -> None:
        """With `on_warning = "tell"`: say it to the agent, after its next tool."""
        if agent.settings.on_warning != "tell" or agent.settings.mode == "observe":
            return
        if agent.handoff is not None or not agent.alive or agent.band in ACTING:
            return  # a handoff's own request says more
        if agent.runtime.ask(agent.name, note_warning(words_of_use(agent)), None):
            words = f"{agent.name} is told that its context is filling up"
            self._dependencies.event_log.record("agent.warned", words, agent.name)

    def _note_born_full(self, agent: Agent) -> None:
        """A successor whose first reading is past its act mark: another swap would not help."""
        assert agent.session is not None
        calls = agent.session_state.reading.meter.api_calls
        newborn = agent.session.previous is not None and calls <= 1
        if newborn and agent.band in ACTING and self._latch(agent, BORN_FULL):
            self._dependencies.event_log.record(
                "handoff.held_back",
                f"{agent.name} began its session past the act threshold; no further handoff begins",
                agent.name,
            )

    # Beginning

    def wish(self, agent: Agent) -> Wish | None:
        """The handoff that is due, whatever may hold it back; None if none is."""
        agent.progress.loop_over = None
        if agent.handoff is not None or agent.settings.mode == "observe" or not agent.record.wanted:
            return None
        if finished(agent) or agent.progress.deciding:
            return None
        if not agent.alive:
            # Whether it goes on after a restart is said by `resume`, not by its loop.
            return None if agent.troubles.interrupted else self._by_loop(agent)
        if agent.progress.hurried_by is not None:
            return Wish("hook", "threshold", f"hook {agent.progress.hurried_by}")
        return self._by_band(agent) or self._by_limit(agent) or self._by_loop(agent)

    def _by_band(self, agent: Agent) -> Wish | None:
        strategy, allowed = agent.settings.strategy, agent.settings.handoff.compactions
        if strategy == "compact" or agent.session_state.gauge.tokens is None:
            return None
        words = f"{agent.band.value} mark"
        if strategy == "handoff":
            return Wish("band", "threshold", words) if agent.band in ACTING else None
        seen = agent.compactions
        times = counted(seen, "compaction")
        if seen > allowed and over(agent.session_state.conduct):
            return Wish("compactions", "compaction", f"{times} of {allowed}")
        if seen >= allowed and agent.band in ACTING:
            return Wish("band", "compaction", f"{words} after {times}")
        return None

    def _by_limit(self, agent: Agent) -> Wish | None:
        limits = agent.settings.limits
        if not (limits.turns or limits.session_time) or not agent.session_state.replied:
            return None
        age = self._guards.age(agent) if limits.session_time else None
        turns = agent.session_state.reading.meter.api_calls
        words = limit_reached(turns, limits.turns, age, limits.session_time)
        return Wish("limit", "limit", words) if words else None

    def _by_loop(self, agent: Agent) -> Wish | None:
        """A session of a loop that ended, by its turn or by its process, without the marker."""
        assert agent.session is not None
        loop, session_state = agent.settings.loop, agent.session_state
        if not loop.enabled or not session_state.replied or expects_prompt(agent):
            return None
        ended = agent.exit is not None and agent.progress.failed is None and agent.gave_up is None
        if not (over(session_state.conduct) if agent.alive else ended):
            return None
        if agent.session.number < loop.max_iterations:
            words = f"iteration {agent.session.number} of at most {loop.max_iterations} is over"
            return Wish("loop", "loop", words)
        if session_state.conduct.cut_short:
            return None
        words = f"its loop ran {loop.max_iterations} times without {loop.completion_marker!a}"
        if self._latch(agent, "loop.exhausted"):
            self._dependencies.event_log.record(
                "loop.exhausted", f"{agent.name}: {words}", agent.name
            )
        again = f"cockpit start {agent.name} --resume"
        once = f"For one more round: cockpit handoff {agent.name}. " if agent.alive else ""
        again = f"cockpit stop {agent.name}, then {again}" if agent.alive else again
        more = f"For more, raise loop.max_iterations, then: {again}"
        agent.progress.loop_over = f"{words}. {once}{more}"
        return None

    def objection(self, agent: Agent) -> str | None:
        """Why a handoff that the agent asks for itself may not begin now; None when it may."""
        return self._guards.stops(agent, Wish("agent", "agent", "asked for by the agent"))

    def question(self, agent: Agent) -> HeldBack | None:
        """What the user is asked for before a handoff that the agent asks for itself."""
        return self._because(agent, self._guards.asks(agent, "agent"))

    async def _begin(self, agent: Agent, wish: Wish) -> None:
        held = self._guards.asks(agent, wish.starter)
        hurried = held is None and wish.starter == "hook"
        careful = (agent.settings.mode == "prompt" and not hurried) or held is not None
        # Nobody is there to be left alone by a question, when the process has ended.
        ask = careful and agent.alive
        because = self._because(agent, held)
        given, agent.progress.given = agent.progress.given, None
        agent.progress.hurried_by = None
        await self._engine.begin(
            agent,
            wish.reason,
            ask=ask,
            review=careful,
            now=hurried,
            given=given,
            words=wish.words,
            because=because,
        )

    def _because(self, agent: Agent, held: HeldBack | None) -> HeldBack | None:
        """What the question to the user is asked for, where the mode alone does not say."""
        if held is None or (agent.settings.mode != "auto" and agent.progress.hurried_by is None):
            return None
        return held

    def _latch(self, agent: Agent, name: str) -> bool:
        assert agent.session is not None
        return self._dependencies.store.latch(
            agent.session.id, name, self._dependencies.clock.now().timestamp()
        )

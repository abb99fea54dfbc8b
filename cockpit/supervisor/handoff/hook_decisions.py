"""What hooks of the act mark decide: leave it, hand off as the mode says, or swap at once.

Nothing begins by itself while they run. A hook that fails, or says nothing, leaves everything to
the built-in handoff; one that replaces it and says nothing has done the whole job.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cockpit.config.hooks import Hook
from cockpit.core import document
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.hook_events import Decision, HookResult, Verdict, decision
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.latches import LET_COMPACT
from cockpit.supervisor.agents.ownership import refuse_anothers
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.triggers import Triggers
from cockpit.supervisor.outbound.hooks import Hooks

FALLBACK = Decision(Verdict.HANDOFF)


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of all hooks together."""

    decision: Decision
    by: str = ""
    """The hook that decided; empty where none did."""


class HookDecisions:
    """Asks the hooks of one agent at a time, and does what they say."""

    def __init__(
        self, dependencies: Dependencies, engine: Engine, triggers: Triggers, hooks: Hooks
    ) -> None:
        self._dependencies = dependencies
        self._engine = engine
        self._triggers = triggers
        self._hooks = hooks

    def begin(self, agent: Agent, spawn: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        """The act mark was crossed: ask the hooks beside, if there are any."""
        if agent.settings.hooks.on_context_threshold and not agent.progress.deciding:
            agent.progress.deciding = True
            spawn(self._ask(agent))

    async def _ask(self, agent: Agent) -> None:
        session = agent.record.session
        try:
            decided = await self._decided(agent)
        finally:
            agent.progress.deciding = False
        if agent.session is None or agent.record.session != session:
            return  # whatever was decided was about another session
        try:
            await self._follow(agent, decided)
            await self._triggers.consider(agent)
        except CockpitError as refused:
            self._tell(agent, decided, f"it cannot be done: {refused.title}")

    async def _decided(self, agent: Agent) -> Decided:
        """Ask. A replaced handoff is held back on disk meanwhile, in case we do not come back."""
        assert agent.session is not None
        hooks = agent.settings.hooks.on_context_threshold
        replaced = any(hook.mode == "replace" for hook in hooks)
        store, ident = self._dependencies.store, agent.session.id
        if not replaced or store.latched(ident, LET_COMPACT) is not None:
            return self._together(agent, await self._hooks.at_threshold(agent))
        self._triggers.let_compact(agent)
        decided = self._together(agent, await self._hooks.at_threshold(agent))
        store.unlatch(ident, LET_COMPACT)
        return decided

    def _together(self, agent: Agent, results: list[tuple[Hook, HookResult]]) -> Decided:
        """The first answer counts; without any, a hook that replaces has done it all."""
        replaced = ""
        for hook, result in results:
            try:
                found = decision(result.output) if result.success else None
            except ValueError as wrong:
                self._tell(agent, Decided(FALLBACK, result.name), str(wrong))
                continue
            if found is not None:
                return Decided(found, result.name)
            if hook.mode == "replace" and result.success:
                replaced = replaced or result.name
        return Decided(Decision(Verdict.CONTINUE) if replaced else FALLBACK, replaced)

    async def _follow(self, agent: Agent, decided: Decided) -> None:
        if not decided.by:
            return
        given = self._document(agent, decided)
        verdict = decided.decision.verdict
        if verdict is Verdict.CONTINUE:
            self._triggers.let_compact(agent)
            self._tell(agent, decided, "no handoff begins by itself before the next compaction")
        elif agent.settings.mode == "observe":
            self._tell(agent, decided, "the agent is only observed, so nothing is begun")
        elif verdict is Verdict.ABORT:
            # Begun by the triggers, under the guards of every other handoff that nobody asked for.
            agent.progress.given, agent.progress.hurried_by = given, decided.by
            held = self._triggers.held_back_from(agent)
            self._tell(agent, decided, held or "the session is swapped now, without review")
        else:
            agent.progress.given = given
            self._tell(agent, decided, "a handoff as the mode says")

    def _document(self, agent: Agent, decided: Decided) -> str | None:
        """The document that a hook has written, as an absolute path; None if it is no document."""
        named = decided.decision.document
        if named is None:
            return None
        path = agent.directory / Path(named)
        try:
            text = self._dependencies.documents.read_own(path)
            problems = [each.text for each in document.validate(text) if not each.mends]
            if problems:
                raise BadUsage(f"{path.name} is not a handoff document", problems[0])
            refuse_anothers(text, path.name, agent.name, agent.record.session)
        except CockpitError as wrong:
            words = f"its document is left aside: {wrong.title}. {wrong.detail}"
            self._tell(agent, decided, words)
            return None
        return str(path)

    def _tell(self, agent: Agent, decided: Decided, words: str) -> None:
        verdict = decided.decision.verdict.value
        self._dependencies.event_log.record(
            "hook.decided",
            safe_line(f"Hook {decided.by} of {agent.name} said {verdict}: {words}", 300),
            agent.name,
            hook=decided.by,
            decision=verdict,
            document=decided.decision.document,
        )

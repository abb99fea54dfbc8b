"""Run the hooks at the act threshold. They decide whether and how a handoff begins.

The decisions are: no handoff, a normal handoff, or a handoff at once. No automatic handoff begins
while these hooks run. If a hook fails or does not decide, the built-in handoff begins. If a hook
has `mode = "replace"` and succeeds without a decision, no handoff begins.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from cockpit.adapters.documents.checked_reads import read_own
from cockpit.config.hooks import Hook
from cockpit.core import document
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.events import HookDecided
from cockpit.core.hook_events import Decision, HookResult, Verdict, decision
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.latches import LET_COMPACT
from cockpit.supervisor.agents.ownership import refuse_foreign_document
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.triggers import Triggers
from cockpit.supervisor.outbound.hooks import Hooks

FALLBACK = Decision(Verdict.HANDOFF)


@dataclass(frozen=True, slots=True)
class Decided:
    """The combined decision of all hooks."""

    decision: Decision
    by: str = ""
    """Name of the hook that decided, or replaced the handoff; empty if none did."""


class HookDecisions:
    """Runs the hooks at the act threshold, and follows their decision."""

    def __init__(
        self, dependencies: Dependencies, engine: Engine, triggers: Triggers, hooks: Hooks
    ) -> None:
        self._dependencies = dependencies
        self._engine = engine
        self._triggers = triggers
        self._hooks = hooks

    def begin(self, agent: Agent, spawn: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        """Run the agent's hooks, if any, in a separate task, unless they are running already."""
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
            return  # the decision was about another session
        try:
            await self._follow(agent, decided)
            await self._triggers.consider(agent)
        except CockpitError as refused:
            self._record(agent, decided, f"the handoff did not begin: {refused.title}")

    async def _decided(self, agent: Agent) -> Decided:
        """Run the hooks at the act threshold.

        If one of them has `mode = "replace"`, a stored flag prevents the built-in handoff until the
        hooks end, even after a restart of the supervisor.
        """
        assert agent.session is not None
        hooks = agent.settings.hooks.on_context_threshold
        replaced = any(hook.mode == "replace" for hook in hooks)
        store, ident = self._dependencies.store, agent.session.id
        if not replaced or store.latched(ident, LET_COMPACT) is not None:
            return self._combine(agent, await self._hooks.at_threshold(agent))
        self._triggers.let_compact(agent)
        decided = self._combine(agent, await self._hooks.at_threshold(agent))
        store.unlatch(ident, LET_COMPACT)
        return decided

    def _combine(self, agent: Agent, results: list[tuple[Hook, HookResult]]) -> Decided:
        """Return the first valid decision of a hook. Records the invalid decisions before it.

        If no hook decided, and a replacing hook succeeded, no handoff begins.
        """
        invalid: list[tuple[str, str]] = []
        replaced = ""
        for hook, result in results:
            try:
                decided = decision(result.output) if result.success else None
            except ValueError as wrong:
                invalid.append((result.name, str(wrong)))
                continue
            if decided is not None:
                combined = Decided(decided, result.name)
                break
            if hook.mode == "replace" and result.success:
                replaced = replaced or result.name
        else:
            combined = Decided(Decision(Verdict.CONTINUE) if replaced else FALLBACK, replaced)
        for name, why in invalid:
            self._record_invalid(agent, name, why, combined)
        return combined

    async def _follow(self, agent: Agent, decided: Decided) -> None:
        if not decided.by:
            return
        given = self._document(agent, decided)
        verdict = decided.decision.verdict
        if verdict is Verdict.CONTINUE:
            self._triggers.let_compact(agent)
            self._record(agent, decided, "no handoff for the context until the next compaction")
        elif agent.settings.mode == "observe":
            self._record(agent, decided, "the agent is only observed, so no handoff begins")
        elif verdict is Verdict.ABORT:
            # The triggers begin the handoff, with the same guards as every automatic handoff.
            agent.progress.given, agent.progress.hurried_by = given, decided.by
            held = self._triggers.held_back_from(agent)
            self._record(agent, decided, held or "the handoff begins now, without review")
        else:
            agent.progress.given = given
            self._record(agent, decided, "the handoff follows the agent's mode")

    def _document(self, agent: Agent, decided: Decided) -> str | None:
        """Return the absolute path of a hook's document; None if it is missing or not valid."""
        named = decided.decision.document
        if named is None:
            return None
        path = agent.directory / Path(named)
        try:
            text = read_own(path)
            problems = [problem.text for problem in document.validate(text) if not problem.mends]
            if problems:
                raise BadUsage(f"{path.name} is not a handoff document", problems[0])
            refuse_foreign_document(text, path.name, agent.name, agent.record.session)
        except CockpitError as wrong:
            text = f"its document is ignored: {wrong.title}. {wrong.detail}"
            self._record(agent, decided, text)
            return None
        return str(path)

    def _record(self, agent: Agent, decided: Decided, consequence: str) -> None:
        verdict, document = decided.decision.verdict.value, decided.decision.document
        text = f"Hook {decided.by} of {agent.name} decided {verdict}: {consequence}"
        event = HookDecided(hook=decided.by, decision=verdict, document=document)
        self._dependencies.event_log.record(event, safe_line(text, 300), agent.name)

    def _record_invalid(self, agent: Agent, hook: str, why: str, combined: Decided) -> None:
        """Record that a hook's output is not valid, and what applies instead."""
        instead = (
            f"hook {combined.by} decides"
            if combined.by
            else "the built-in handoff follows the agent's mode"
        )
        text = f"The output of hook {hook} of {agent.name} is not valid ({why}): {instead}"
        verdict = combined.decision.verdict.value
        event = HookDecided(hook=hook, decision=verdict, document=None)
        self._dependencies.event_log.record(event, safe_line(text, 300), agent.name)

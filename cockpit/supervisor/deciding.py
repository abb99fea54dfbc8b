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
from cockpit.supervisor.belonging import refuse_anothers
from cockpit.supervisor.engine import Engine
from cockpit.supervisor.guards import LET_COMPACT
from cockpit.supervisor.hooks import Hooks
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.triggers import Triggers

FALLBACK = Decision(Verdict.HANDOFF)


@dataclass(frozen=True, slots=True)
class Decided:
    """What came of all hooks together."""

    decision: Decision
    by: str = ""
    """The hook that decided; empty where none did."""


class Deciding:
    """Asks the hooks of one seat at a time, and does what they say."""

    def __init__(
        self, instruments: Instruments, engine: Engine, triggers: Triggers, hooks: Hooks
    ) -> None:
        self._in = instruments
        self._engine = engine
        self._triggers = triggers
        self._hooks = hooks

    def begin(self, seat: Seat, spawn: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        """The act mark was crossed: ask the hooks beside, if there are any."""
        if seat.settings.hooks.on_context_threshold and not seat.deciding:
            seat.deciding = True
            spawn(self._ask(seat))

    async def _ask(self, seat: Seat) -> None:
        session = seat.record.session
        try:
            decided = await self._decided(seat)
        finally:
            seat.deciding = False
        if seat.session is None or seat.record.session != session:
            return  # whatever was decided was about another session
        try:
            await self._follow(seat, decided)
            await self._triggers.consider(seat)
        except CockpitError as refused:
            self._tell(seat, decided, f"it cannot be done: {refused.title}")

    async def _decided(self, seat: Seat) -> Decided:
        """Ask. A replaced handoff is held back on disk meanwhile, in case we do not come back."""
        assert seat.session is not None
        hooks = seat.settings.hooks.on_context_threshold
        replaced = any(hook.mode == "replace" for hook in hooks)
        store, ident = self._in.store, seat.session.id
        if not replaced or store.latched(ident, LET_COMPACT) is not None:
            return self._together(seat, await self._hooks.at_threshold(seat))
        self._triggers.let_compact(seat)
        decided = self._together(seat, await self._hooks.at_threshold(seat))
        store.unlatch(ident, LET_COMPACT)
        return decided

    def _together(self, seat: Seat, results: list[tuple[Hook, HookResult]]) -> Decided:
        """The first answer counts; without any, a hook that replaces has done it all."""
        replaced = ""
        for hook, result in results:
            try:
                found = decision(result.output) if result.success else None
            except ValueError as wrong:
                self._tell(seat, Decided(FALLBACK, result.name), str(wrong))
                continue
            if found is not None:
                return Decided(found, result.name)
            if hook.mode == "replace" and result.success:
                replaced = replaced or result.name
        return Decided(Decision(Verdict.CONTINUE) if replaced else FALLBACK, replaced)

    async def _follow(self, seat: Seat, decided: Decided) -> None:
        if not decided.by:
            return
        given = self._document(seat, decided)
        verdict = decided.decision.verdict
        if verdict is Verdict.CONTINUE:
            self._triggers.let_compact(seat)
            self._tell(seat, decided, "no handoff begins by itself before the next compaction")
        elif seat.settings.mode == "observe":
            self._tell(seat, decided, "the agent is only observed, so nothing is begun")
        elif verdict is Verdict.ABORT:
            self._tell(seat, decided, "the session is swapped now, without review")
            await self._engine.begin(
                seat,
                "threshold",
                ask=False,
                review=False,
                now=True,
                given=given,
                words=f"hook {decided.by}",
            )
        else:
            seat.given = given
            self._tell(seat, decided, "a handoff as the mode says")

    def _document(self, seat: Seat, decided: Decided) -> str | None:
        """The document that a hook has written, as an absolute path; None if it is no document."""
        named = decided.decision.document
        if named is None:
            return None
        path = seat.directory / Path(named)
        try:
            text = self._in.documents.read_own(path)
            problems = [each.text for each in document.validate(text) if not each.mends]
            if problems:
                raise BadUsage(f"{path.name} is not a handoff document", problems[0])
            refuse_anothers(text, path.name, seat.name, seat.record.session)
        except CockpitError as wrong:
            words = f"its document is left aside: {wrong.title}. {wrong.detail}"
            self._tell(seat, decided, words)
            return None
        return str(path)

    def _tell(self, seat: Seat, decided: Decided, words: str) -> None:
        verdict = decided.decision.verdict.value
        self._in.feed.tell(
            "hook.decided",
            safe_line(f"Hook {decided.by} of {seat.name} said {verdict}: {words}", 300),
            seat.name,
            hook=decided.by,
            decision=verdict,
            document=decided.decision.document,
        )

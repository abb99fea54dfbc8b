"""Handle compactions by the CLI: save facts before each compaction, and record the compaction.

The hook that announces a compaction waits until the facts are saved. The hook never blocks the
compaction: without a compaction the next request may not fit the window, and Claude Code 2.1.330
then ends the turn. A handoff that the compaction makes unnecessary is cancelled. `supplements`
gives the facts to the session afterwards.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import assert_never

from cockpit.adapters.documents.compaction_facts import CompactionDocuments
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError
from cockpit.core.events import AgentCompacted, CompactionKept, Plain
from cockpit.core.handoff.events import CalledOff
from cockpit.core.handoff.states import (
    Asked,
    Confirming,
    Documenting,
    Ended,
    Handoff,
    Moving,
    Outcome,
    Reviewing,
    Reviving,
    Settling,
    Starting,
    Stopping,
    Waiting,
    is_revocable,
)
from cockpit.core.token_counts import token_count
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.latches import LET_COMPACT
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.documents import DocumentBuilder
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.snapshot import began


class Compactions:
    """Handles the compactions of all agents."""

    def __init__(
        self, dependencies: Dependencies, engine: Engine, document_builder: DocumentBuilder
    ) -> None:
        self._dependencies = dependencies
        self._engine = engine
        self._document_builder = document_builder
        self._documents = CompactionDocuments(compaction_folder(dependencies.places))

    def hold(self, agent: Agent) -> None:
        """Make the session's next compaction wait for `save_facts`. Idempotent.

        Does nothing in the mode `observe`.
        """
        session_state = agent.session_state
        if agent.session is None or not agent.alive or agent.settings.mode == "observe":
            return
        if not session_state.compaction.held and not session_state.catching_up:
            session_state.compaction.held = agent.runtime.hold_compaction(agent.name)

    async def save_facts(self, agent: Agent) -> None:
        """Save facts of the session before an announced compaction, then let the CLI compact.

        On an error, records an event and lets the CLI compact all the same, because the session
        cannot continue without a compaction.
        """
        session, session_state = agent.session, agent.session_state
        if session is None or not session_state.compaction.held:
            return
        try:
            facts = await self._document_builder.preview(agent, None)
            path = await asyncio.to_thread(self._documents.keep, session.id, self._now(), facts)
        except (CockpitError, OSError) as refused:
            text = f"Cannot save the facts of {agent.name} before its compaction: {refused}"
            self._dependencies.event_log.record(Plain("compaction.not_kept"), text, agent.name)
        else:
            session_state.compaction.kept_before = str(path)
            text = f"Saved the facts of {agent.name} before its compaction: {path}"
            self._dependencies.event_log.record(
                CompactionKept(document=str(path)), text, agent.name
            )
        finally:
            agent.runtime.release_compaction(agent.name)
            session_state.compaction.held = False

    def record_compaction(self, agent: Agent) -> None:
        """Record a compaction. The screen shows a compaction that came too late for a handoff.

        If the trigger is unknown, the user may have wanted the compaction: then neither the screen
        nor the event calls it too late. They do not in the mode `observe` either, in which no
        handoff begins.
        """
        kept = agent.session_state.compaction.kept_before
        late = ""
        before, marks = agent.session_state.gauge.before_compaction, agent.marks
        if before is not None and marks is not None and before > marks.act.tokens:
            late = f"{token_count(before - marks.act.tokens)} tokens above the act threshold"
        trigger = agent.session_state.compaction.last_trigger
        by_hand = trigger == "manual"
        wanted = by_hand or agent.settings.strategy == "compact" or self._refused(agent)
        how = {"manual": " at your request", "auto": " automatically"}.get(trigger, "")
        text = f"{agent.name} compacted its context{how}"
        if agent.handoff is not None:
            text += handoff_clause(agent.handoff)
        elif late and not wanted:
            text += f", {late}"
            if trigger and agent.settings.mode != "observe":
                agent.session_state.compaction.too_late = late
                text += ": too late for a handoff"
        if kept:
            text += f". Facts saved before that: {kept}"
        self._dependencies.event_log.record(
            AgentCompacted(
                compactions=agent.session_state.reading.meter.compactions,
                tokens=before,
                document=kept,
            ),
            text,
            agent.name,
        )

    def _refused(self, agent: Agent) -> bool:
        """Return whether the user refused a handoff of this session, or let the CLI compact."""
        store = self._dependencies.store
        if agent.session is None:
            return False
        if store.latched(agent.session.id, LET_COMPACT) is not None:
            return True
        last = store.last_ended(agent.session.id)
        return last is not None and last.outcome == Outcome.REFUSED

    async def cancel_outdated(self, agent: Agent) -> None:
        """Cancel the handoff if another session was opened in the pane. Idempotent.

        A handoff because of the context's size is also cancelled if the context was compacted
        before the agent began the document.
        """
        if agent.handoff is None or agent.handoff_record is None or agent.session is None:
            return
        if agent.session.id != agent.handoff_record.old_session and is_revocable(agent.handoff):
            await self._engine.apply(agent, CalledOff("another session was opened in its pane"))
            return
        compacted, plan = agent.session_state.gauge.compacted_at, agent.handoff.plan
        if compacted is None or compacted <= began(agent.handoff_record):
            return
        untouched = isinstance(agent.handoff.state, Asked | Waiting)
        if untouched and plan.reason in {"threshold", "compaction"}:
            await self._engine.apply(agent, CalledOff("the context was compacted", compacted=True))

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()


def compaction_folder(places: Places) -> Path:
    """Return the folder for facts that are saved before compactions."""
    return places.state / "compactions"


def handoff_clause(handoff: Handoff) -> str:
    """Return a clause that says in which phase of the handoff a compaction came.

    Empty if the handoff has ended, or if the old session is being reopened.
    """
    match handoff.state:
        case Asked():
            return " before you decided on the handoff"
        case Reviewing():
            return "; its handoff document was written before that and is waiting for your approval"
        case Waiting() | Documenting():
            return " before its handoff document was written"
        case Settling() | Moving() | Stopping() | Starting() | Confirming():
            return "; the handoff continues, because its document was already approved"
        case Reviving() | Ended():
            return ""
        case _:
            assert_never(handoff.state)

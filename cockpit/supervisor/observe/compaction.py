"""What a compaction by the CLI itself means: facts are kept on the disk before it, and it is told.

The hook that announces a compaction waits until they are. It never refuses: where a request no
longer fits the window, Claude Code 2.1.330 breaks off the turn and puts text into the composer.
A handoff whose reason it has taken away is called off. What the session is told again afterwards
is the business of `supplements`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from cockpit.adapters.documents.compaction_facts import CompactionDocuments
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError
from cockpit.core.handoff.events import CalledOff
from cockpit.core.handoff.states import (
    Asked,
    Documenting,
    Handoff,
    Reviewing,
    Waiting,
    is_revocable,
)
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.documents import DocumentBuilder
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.policy import COMPACTED
from cockpit.supervisor.handoff.snapshot import began


class Compactions:
    """Looks at one agent's handoff and its compactions."""

    def __init__(
        self, dependencies: Dependencies, engine: Engine, document_builder: DocumentBuilder
    ) -> None:
        self._dependencies = dependencies
        self._engine = engine
        self._document_builder = document_builder
        self._documents = CompactionDocuments(compaction_folder(dependencies.places))

    def hold(self, agent: Agent) -> None:
        """Have the session's next compaction wait for `seal`. Idempotent."""
        session_state = agent.session_state
        if agent.session is None or not agent.alive or agent.settings.mode == "observe":
            return
        if not session_state.compaction.held and not session_state.catching_up:
            session_state.compaction.held = agent.runtime.hold_compaction(agent.name)

    async def seal(self, agent: Agent) -> None:
        """A compaction is announced: put facts of the session on the disk, then let it go on.

        A record that says nothing yet is worth no file. What goes wrong is told; the compaction
        goes on all the same, because the session cannot without it.
        """
        session, session_state = agent.session, agent.session_state
        if session is None or not session_state.compaction.held:
            return
        try:
            text = await self._document_builder.preview(agent, None)
            path = await asyncio.to_thread(self._documents.keep, session.id, self._now(), text)
        except (CockpitError, OSError) as refused:
            words = f"The facts of {agent.name} could not be kept before its compaction: {refused}"
            self._dependencies.event_log.record("compaction.not_kept", words, agent.name)
        else:
            session_state.compaction.kept_before = str(path)
            words = f"The facts of {agent.name} before its compaction are in {path}"
            self._dependencies.event_log.record(
                "compaction.kept", words, agent.name, document=str(path)
            )
        finally:
            agent.runtime.release_compaction(agent.name)
            session_state.compaction.held = False

    def took_place(self, agent: Agent) -> None:
        """The CLI compacted: counted, told with how late that was, and kept for the row."""
        kept = agent.session_state.compaction.kept_before
        late = ""
        before, marks = agent.session_state.gauge.before_compaction, agent.marks
        if before is not None and marks is not None and before > marks.act.tokens:
            late = f"{(before - marks.act.tokens) // 1000}k past the act mark"
        by_hand = agent.session_state.compaction.last_trigger == "manual"
        wanted = by_hand or agent.settings.strategy == "compact"
        how = "because you asked it to" if by_hand else "by itself"
        words = f"{agent.name} compacted its context {how}"
        if agent.handoff is not None:
            words += _meanwhile(agent.handoff)
        elif late and not wanted:
            agent.session_state.compaction.too_late = late
            words += f": too late for a handoff by {late.split()[0]}"
        if kept:
            words += f". The facts before it are in {kept}"
        self._dependencies.event_log.record(
            "agent.compacted",
            words,
            agent.name,
            compactions=agent.session_state.reading.meter.compactions,
            tokens=before,
            document=kept,
        )

    async def settle(self, agent: Agent) -> None:
        """Call off a handoff of a context which is no longer there. Twice is as once."""
        if agent.handoff is None or agent.handoff_record is None or agent.session is None:
            return
        if agent.session.id != agent.handoff_record.old_session and is_revocable(agent.handoff):
            await self._engine.apply(agent, CalledOff("the session was cleared by hand"))
            return
        compacted, plan = agent.session_state.gauge.compacted_at, agent.handoff.plan
        if compacted is None or compacted <= began(agent.handoff_record):
            return
        untouched = isinstance(agent.handoff.state, Asked | Waiting)
        if untouched and plan.reason in {"threshold", "compaction"}:
            await self._engine.apply(agent, CalledOff(COMPACTED))

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()


def compaction_folder(places: Places) -> Path:
    """Where facts are kept that were written right before a compaction."""
    return places.state / "compactions"


def _meanwhile(handoff: Handoff) -> str:
    """What a compaction means for a handoff that is under way."""
    match handoff.state:
        case Asked():
            return " before you said whether to hand off"
        case Reviewing():
            return "; its handoff document was written before that and waits for your approval"
        case Waiting() | Documenting():
            return " before its handoff document was written"
        case _:
            return "; its handoff document was agreed before that, and the handoff goes on"

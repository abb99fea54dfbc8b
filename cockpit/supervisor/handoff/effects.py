"""Perform the commands of a handoff. The only place where a handoff ends and starts processes.

Every command is idempotent, because a restarted supervisor repeats the last command. `core.handoff`
decides which commands are performed, and in which order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from cockpit.core.document import Problem
from cockpit.core.errors import CockpitError, OsProblem
from cockpit.core.events import AgentEnded, HandoffDocument, Plain, WriterFailed
from cockpit.core.handoff.commands import (
    AskAgain,
    AskToEnd,
    Command,
    Compose,
    EndPredecessor,
    Interrupt,
    Prepare,
    Refresh,
    Request,
    RevivePredecessor,
    StartSuccessor,
    Withdraw,
)
from cockpit.core.handoff.details import HandoffDetails
from cockpit.core.handoff.events import (
    DocumentFailed,
    DocumentSealed,
    Event,
    PredecessorGone,
    PredecessorSurvived,
    Started,
    StartFailed,
    Turn,
)
from cockpit.core.handoff.states import Document, Reviving, Stopping, Successor
from cockpit.core.request import Occasion, ask_again, ask_to_end, request
from cockpit.ports.panes import PaneOccupied, PanesSilent
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.background_work import task_text
from cockpit.supervisor.agents.submit import paste, refuse_first_dialog, submit
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.documents import DocumentBuilder, is_for_context, usage_text
from cockpit.supervisor.handoff.first_turns import with_predecessor
from cockpit.supervisor.handoff.integrity import ensure_approved
from cockpit.supervisor.handoff.snapshot import draft_path
from cockpit.supervisor.handoff.target import Targets
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.permission_modes import JobModes
from cockpit.supervisor.sessions.reattach import reattach

BACK_OFF = (1.0, 4.0)
"""Seconds before the second and the third attempt to start a session, in case the error is
temporary."""

BETWEEN_ESCAPES = 0.2
"""Seconds between two Escape keys. A CLI treats two Escape keys in one read as another key, and
Copilot forgets the first one after less than 0.5 seconds."""
ESCAPE_ROUNDS = 3
"""Attempts to interrupt a CLI that needs several Escape keys; a busy one may read a key too
late."""
LOOKS = 10
"""Number of checks whether the turn has ended, before the Escape keys are pressed again."""
FOR_NOW = (OsProblem, PanesSilent, PaneOccupied)
"""Temporary errors of the machine or tmux, after which the command is repeated."""


class Effects:
    """Performs the commands of handoffs.

    Raises `FOR_NOW` and `OSError` for temporary errors: the state is then unchanged, and the engine
    repeats the command.
    """

    def __init__(
        self,
        dependencies: Dependencies,
        sessions: Sessions,
        document_builder: DocumentBuilder,
        targets: Targets,
        save: Callable[[Agent, HandoffDetails], None],
    ) -> None:
        """`save` stores the handoff's details, then sets them in memory. Raises `OsProblem`, and
        then changes nothing."""
        self._dependencies = dependencies
        self._targets = targets
        self._sessions = sessions
        self._document_builder = document_builder
        self._save = save

    async def perform(self, agent: Agent, command: Command) -> Event | None:
        """Perform one command. Return the command's result as an event, if the handoff waits for an
        event."""
        match command:
            case Prepare():
                draft = await self._document_builder.draft_of_facts(agent)
                self._save(agent, replace(agent.progress.details, draft_facts=draft))
            case Request():
                await self._request(agent)
            case AskAgain(problems=problems):
                await self._ask_again(agent, problems)
            case AskToEnd():
                agent.runtime.ask(agent.name, ask_to_end(), None)
            case Withdraw():
                agent.runtime.withdraw_ask(agent.name)
            case Interrupt():
                await self._press_escape(agent)
            case Compose(writer=writer):
                return await self._compose(agent, writer)
            case Refresh(document=document):
                return await self._refresh(agent, document)
            case EndPredecessor():
                return await self._end_predecessor(agent)
            case StartSuccessor(attempt=attempt):
                return await self._start_successor(agent, attempt)
            case RevivePredecessor():
                return await self._revive(agent)
            case _:
                assert_never(command)
        return None

    async def _request(self, agent: Agent) -> None:
        """Request the document: in the next hook of a working agent, else by pasting a prompt."""
        reminder = await self._document_builder.reminder(agent)

        def asked(occasion: Occasion) -> str:
            return request(
                str(draft_path(agent)),
                occasion,
                used=usage_text(agent),
                filling=is_for_context(agent),
                running=[task_text(task) for task in agent.session_state.background],
                tools=agent.runtime.tools,
                told=reminder,
            )

        self._permit(agent)
        if agent.session_state.activity.turn is Turn.WORKING and agent.runtime.ask(
            agent.name, asked("tool"), asked("stop")
        ):
            return
        await self._type(agent, asked("prompt"))

    def _permit(self, agent: Agent) -> None:
        if (draft := draft_path(agent)) is not None:
            agent.runtime.permit_writing(agent.name, draft)

    async def _ask_again(self, agent: Agent, problems: tuple[str, ...]) -> None:
        self._permit(agent)
        again = [Problem("asked-again", text) for text in problems]
        await self._type(agent, ask_again(str(draft_path(agent)), again, agent.runtime.tools))

    async def _type(self, agent: Agent, text: str) -> None:
        """Paste the text into the prompt box, then press Enter as a separate key."""
        if agent.record.pane is None:
            return
        try:
            await refuse_first_dialog(self._dependencies, agent, agent.record.pane)
        except CockpitError as refused:
            self._record_unasked(agent, refused)
            return
        self._save(agent, replace(agent.progress.details, typing=True))
        try:
            await paste(self._dependencies, agent, agent.record.pane, text)
            await submit(self._dependencies, agent, agent.record.pane)
        except CockpitError as refused:
            self._record_unasked(agent, refused)
            return
        self._save(agent, replace(agent.progress.details, typing=False))

    def _record_unasked(self, agent: Agent, refused: CockpitError) -> None:
        self._dependencies.event_log.record(
            Plain("handoff.request_failed"),
            f"Cannot ask {agent.name} for its handoff document: {refused.title}",
            agent.name,
        )

    async def _press_escape(self, agent: Agent) -> None:
        self._dependencies.event_log.record(
            Plain("handoff.interrupted"), f"Interrupted {agent.name} for its handoff", agent.name
        )
        if agent.runtime.capabilities.escapes == 1:
            await self._press_once(agent)
            return
        for _ in range(ESCAPE_ROUNDS):
            for _ in range(agent.runtime.capabilities.escapes):
                await self._press_once(agent)
                await asyncio.sleep(BETWEEN_ESCAPES)
                if not _is_working(agent):
                    return  # in an idle CLI, Escape may open a dialog
            for _ in range(LOOKS):
                await asyncio.sleep(BETWEEN_ESCAPES)
                if not _is_working(agent):
                    return

    async def _press_once(self, agent: Agent) -> None:
        if agent.record.pane is not None and agent.alive:
            await self._dependencies.panes.press(agent.record.pane, "Escape")

    async def _compose(self, agent: Agent, writer: str) -> Event:
        try:
            document = await self._document_builder.seal(agent, writer)
        except FOR_NOW:
            raise
        except CockpitError as wrong:
            self._dependencies.event_log.record(
                WriterFailed(writer),
                f"The writer {writer} wrote no handoff document for {agent.name}: {wrong.title}",
                agent.name,
            )
            return DocumentFailed(self._dependencies.clock.monotonic(), wrong.title)
        _note_calls(agent)
        self._dependencies.event_log.record(
            HandoffDocument(document=document.path, writer=document.writer),
            f"The handoff document of {agent.name} was written ({document.writer})",
            agent.name,
        )
        return DocumentSealed(self._dependencies.clock.monotonic(), document)

    async def _refresh(self, agent: Agent, sealed: Document) -> Event:
        try:
            document = await self._document_builder.refresh(agent, sealed)
        except FOR_NOW:
            raise
        except CockpitError as wrong:
            return DocumentFailed(self._dependencies.clock.monotonic(), str(wrong))
        _note_calls(agent)
        return DocumentSealed(self._dependencies.clock.monotonic(), document)

    async def _end_predecessor(self, agent: Agent) -> Event:
        """End the old session's processes. A new session may start only after all have ended."""
        assert agent.handoff is not None
        assert agent.handoff_record is not None
        assert isinstance(agent.handoff.state, Stopping)
        if agent.session_state.permission_mode:
            mode = agent.session_state.permission_mode
            self._save(agent, replace(agent.progress.details, permission_mode=mode))
        try:
            await self._check_successor(agent)
            await ensure_approved(self._dependencies, agent, agent.handoff.state.document)
        except FOR_NOW:
            raise
        except CockpitError as wrong:
            return PredecessorSurvived(f"{wrong.title}; nothing was ended")
        self._save(
            agent,
            await with_predecessor(self._dependencies, agent, agent.handoff.state.document),
        )
        # An error must be raised here, while the old session is still running.
        await self._dependencies.panes.prepare()
        agent.runtime.withdraw_ask(agent.name)
        ending = await self._sessions.end(agent)
        if not ending.gone:
            pids = ", ".join(str(pid) for pid in ending.survivors)
            return PredecessorSurvived(f"cannot end processes of the old session: {pids}")
        self._dependencies.event_log.record(
            AgentEnded(killed=ending.killed, stragglers=ending.stragglers),
            f"The old session of {agent.name} has ended",
            agent.name,
        )
        return PredecessorGone()

    async def _check_successor(self, agent: Agent) -> None:
        """Raise if the new session's CLI cannot start; called before the old session is ended."""
        assert agent.handoff is not None
        if agent.handoff.plan.move_to or agent.handoff.plan.runtime in ("", agent.runtime.name):
            return
        session = self._next_session(agent, agent.handoff.plan.successors[0])
        order = self._sessions.orders.of(agent, session, None)
        runtime = self._sessions.orders.runtime_of(agent, session)
        await self._sessions.prepare(agent, order, runtime)

    async def _start_successor(self, agent: Agent, attempt: int) -> Event:
        assert agent.handoff is not None
        successor = agent.handoff.successor(attempt)
        if agent.record.run == successor.run and await reattach(
            self._dependencies, self._sessions, agent
        ):
            return Started(self._dependencies.clock.monotonic())
        if agent.record.session in {
            successor.session for successor in agent.handoff.plan.successors
        }:
            ending = await self._sessions.end(agent)
            if not ending.gone:
                pids = ", ".join(str(pid) for pid in ending.survivors)
                return StartFailed(f"cannot end processes of an earlier start: {pids}")
        if attempt > 1:
            await self._dependencies.clock.sleep(BACK_OFF[min(attempt - 2, len(BACK_OFF) - 1)])
        try:
            await self._sessions.open(
                agent, self._next_session(agent, successor), self._continuation(agent)
            )
        except FOR_NOW:
            raise
        except CockpitError as refused:
            return StartFailed(str(refused))
        return Started(self._dependencies.clock.monotonic())

    def _next_session(self, agent: Agent, successor: Successor) -> SessionRecord:
        assert agent.handoff is not None
        assert agent.handoff_record is not None
        old = self._dependencies.store.session(agent.handoff_record.old_session)
        assert old is not None
        assert agent.handoff.document is not None
        plan = agent.handoff.plan
        runtime = plan.runtime or self._sessions.orders.runtime_of(agent, old).name
        same = runtime == old.runtime
        new = SessionRecord(
            id=successor.session,
            runtime=runtime,
            model=plan.model or (old.model if same else ""),
            agent=agent.name,
            job=old.job,
            number=self._sessions.next_number(old.job, agent.handoff.plan),
            previous=old.id,
            run=successor.run,
            created=self._now(),
            document=agent.handoff.document.path,
        )
        return self._frozen_modes(agent, old).save_in(new)

    def _frozen_modes(self, agent: Agent, old: SessionRecord) -> JobModes:
        """Return the permission modes of the next session; see `Targets.modes`."""
        assert agent.handoff_record is not None
        observed = agent.handoff_record.details.permission_mode
        return self._targets.modes(agent, old, observed)

    def _continuation(self, agent: Agent) -> str:
        assert agent.handoff is not None
        assert agent.handoff.document is not None
        return self._document_builder.continuation(agent, agent.handoff.document)

    async def _revive(self, agent: Agent) -> Event:
        """Reopen the old session, and write a notice about the document."""
        assert agent.handoff is not None
        assert agent.handoff_record is not None
        assert isinstance(agent.handoff.state, Reviving)
        old = self._dependencies.store.session(agent.handoff_record.old_session)
        assert old is not None
        if agent.record.session == old.id and await reattach(
            self._dependencies, self._sessions, agent
        ):
            return Started(self._dependencies.clock.monotonic())
        ending = await self._sessions.end(agent)
        if not ending.gone:
            pids = ", ".join(str(pid) for pid in ending.survivors)
            return StartFailed(f"cannot end processes of the new session: {pids}")
        await self._document_builder.leave_notice(agent, agent.handoff.state.document)
        _, run = self._sessions.mint(agent)
        modes = self._frozen_modes(agent, old)
        again = modes.save_in(replace(old, run=run, state="live", ended=None))
        try:
            await self._sessions.open(agent, again, None, resume=True)
        except FOR_NOW:
            raise
        except CockpitError as refused:
            return StartFailed(str(refused))
        return Started(self._dependencies.clock.monotonic())

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()


def _is_working(agent: Agent) -> bool:
    return agent.session_state.activity.turn is Turn.WORKING


def _note_calls(agent: Agent) -> None:
    """Note in the handoff's details how many API requests came before the document was sealed."""
    calls = agent.session_state.reading.meter.api_calls
    agent.progress.note(replace(agent.progress.details, sealed_calls=calls))

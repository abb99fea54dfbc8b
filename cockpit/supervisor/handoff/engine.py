"""Drives handoffs: what happens goes into `core.handoff`, what it asks for goes to `acts`.

The order is the safety: a step is written down before anything of it is done, and every command
may be done twice. Every step is done under the agent's lock. Ends and starts nothing itself.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from uuid import uuid4

from cockpit.core.errors import CockpitError, NotNow
from cockpit.core.facts import Facts
from cockpit.core.guards import queued
from cockpit.core.handoff import advance as rules
from cockpit.core.handoff.commands import Command
from cockpit.core.handoff.details import HandoffDetails, HeldBack
from cockpit.core.handoff.events import Abandoned, Approved, DocumentSealed, Event
from cockpit.core.handoff.record import from_record, to_record
from cockpit.core.handoff.states import (
    PHASES,
    Asked,
    Ended,
    Handoff,
    Plan,
    Reason,
    Reviewing,
    Successor,
    Writer,
)
from cockpit.core.ids import HandoffId
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.blocked import stalled, words
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.events import rfc3339
from cockpit.supervisor.handoff import announcements as told
from cockpit.supervisor.handoff.documents import DocumentBuilder, fills
from cockpit.supervisor.handoff.effects import Effects
from cockpit.supervisor.handoff.integrity import edited
from cockpit.supervisor.handoff.outcome import Outcomes
from cockpit.supervisor.handoff.queue import is_ahead, is_under_way
from cockpit.supervisor.handoff.snapshot import Observer
from cockpit.supervisor.sessions.lifecycle import Sessions

_log = logging.getLogger(__name__)

STARTS = 3
"""Successors that are tried before the old session is reopened."""


class Engine:
    """Drives the handoffs of all agents."""

    def __init__(
        self,
        dependencies: Dependencies,
        sessions: Sessions,
        agents: Callable[[], Iterable[Agent]],
        changed: Callable[[Agent], None],
    ) -> None:
        self._dependencies = dependencies
        self._sessions = sessions
        self._agents = agents
        self._changed = changed
        self._document_builder = DocumentBuilder(dependencies, sessions)
        self._effects = Effects(dependencies, sessions, self._document_builder, self._write)
        self._closing = Outcomes(dependencies, sessions, self._document_builder)
        self._observer = Observer(dependencies)
        self._locks = sessions.locks

    # Beginning

    async def begin(
        self,
        agent: Agent,
        reason: Reason,
        *,
        ask: bool,
        review: bool,
        now: bool = False,
        given: str | None = None,
        words: str = "",
        because: HeldBack | None = None,
    ) -> HandoffRecord:
        """Begin a handoff of this agent's session. Raises `NotNow` when one is under way.

        `words` say why it is due; `because` is what the user is asked for, if not for the mode.
        """
        async with self._lock(agent):
            if agent.handoff is not None:
                raise NotNow(
                    f"A handoff of {agent.name} is under way already",
                    f"It is in the phase {PHASES.get(type(agent.handoff.state), 'ended')}.",
                    f"See: cockpit status {agent.name}",
                )
            if agent.session is None or agent.job is None:
                raise NotNow(
                    f"{agent.name} has no session to hand off",
                    "It was never started, or its session is not known.",
                    f"Start it: cockpit start {agent.name}",
                )
            plan = self._plan(agent, reason, ask=ask, review=review, now=now, given=given)
            handoff, commands = rules.begin(plan, self._dependencies.clock.monotonic())
            session = agent.session.id
            record = await self._first_record(agent, handoff, reason)
            if agent.session.id != session or not (agent.alive or reason == "loop"):
                raise NotNow(
                    f"{agent.name} changed while its handoff was prepared",
                    "Its session ended or another one began; nothing was asked of it.",
                    f"Look again: cockpit status {agent.name}",
                )
            details = replace(record.details, due=words, because=because)
            record = replace(record, details=details)
            self._dependencies.store.save_handoff(record)
            agent.progress.take(handoff, record)
            if because is not None:
                words_held = f"{because.words}; asking you"
                self._dependencies.event_log.record("handoff.held_back", words_held, agent.name)
            self._changed(agent)
            told.begun(self._dependencies.event_log, agent, plan, words)
            await self._unless_stalled(agent, self._run(agent, commands))
            return record

    def writers(self, agent: Agent) -> tuple[Writer, ...]:
        """Who would write this agent's document, in turn; the agent stands first or not at all."""
        known = agent.settings.handoff.writers
        if not agent.runtime.has_readings:
            known = ("facts",)
        return tuple(sorted(known, key=lambda writer: writer != "agent"))

    async def preview(self, agent: Agent, given: str | None) -> str:
        """The document that facts alone would give, now; nothing is begun or written."""
        return await self._document_builder.preview(agent, given)

    def continuation(self, agent: Agent) -> str:
        """What a new session would be told now. Raises `NotNow` while there is no document."""
        if agent.handoff is None or agent.handoff.document is None:
            raise NotNow(
                f"There is no document that a new session of {agent.name} could read",
                "The handoff has no document yet." if agent.handoff else "None is under way.",
            )
        return self._document_builder.continuation(agent, agent.handoff.document)

    def facts(self, agent: Agent) -> Facts:
        """What the session's record says, the papers of handoffs aside."""
        return self._document_builder.facts(agent)

    def _plan(
        self, agent: Agent, reason: Reason, *, ask: bool, review: bool, now: bool, given: str | None
    ) -> Plan:
        settings = agent.settings.handoff
        successors = (self._sessions.mint(agent) for _ in range(STARTS))
        plan = Plan(
            reason=reason,
            ask=ask,
            review=review,
            successors=tuple(Successor(session, run) for session, run in successors),
            now=now,
            writers=self.writers(agent),
            given=given,
            deadline=settings.deadline,
        )
        return replace(plan, grace=agent.settings.limits.grace) if reason == "limit" else plan

    async def _first_record(self, agent: Agent, handoff: Handoff, reason: Reason) -> HandoffRecord:
        assert agent.job is not None
        assert agent.session is not None
        ident = HandoffId(str(uuid4()))
        created = self._now()
        draft = await self._document_builder.draft_place(agent, ident)
        return HandoffRecord(
            id=ident,
            agent=agent.name,
            job=agent.job.id,
            old_session=agent.session.id,
            reason=reason,
            created=created,
            boot=self._dependencies.clock.boot(),
            record=to_record(handoff),
            details=HandoffDetails(
                draft=str(draft),
                began=self._dependencies.clock.steady(),
                phase_since=rfc3339(created),
                filling=fills(agent, reason),
            ),
        )

    # Driving

    async def look(self, agent: Agent) -> None:
        """Let the handoff see the world once; does nothing while another task has the agent."""
        if agent.handoff is None or self._locks.is_held_elsewhere(agent.name):
            return
        async with self._lock(agent):
            now = self._dependencies.clock.monotonic()
            blocked = agent.progress.blocked
            if agent.handoff is not None and (blocked is None or now >= blocked.again):
                await self._unless_stalled(agent, self._look(agent))

    async def _look(self, agent: Agent) -> None:
        if agent.progress.blocked is not None:
            await self._again(agent)
        if agent.handoff is not None:
            seen = await self._observer.see(agent, agent.handoff, None)
            # Others may have moved up while this one was looked at.
            await self._advance(agent, replace(seen, queue=self._queue(agent)))
        agent.progress.blocked = None

    async def abandon(self, agent: Agent, why: str) -> None:
        """End the handoff wherever it stands, because all agents are being ended.

        Waits for the step in hand. Who then lives in the agent is the caller's to end.
        """
        async with self._lock(agent):
            await self._advance(agent, Abandoned(why))

    async def tell(self, agent: Agent, event: Event) -> None:
        """Something happened to the agent's handoff. Raises only when it changed nothing."""
        async with self._lock(agent):
            before = agent.handoff
            try:
                await self._advance(agent, event)
            except Exception as wrong:
                if agent.handoff is before:
                    raise
                self._blocked(agent, wrong)

    # What cannot be done now

    async def _unless_stalled(self, agent: Agent, work: Awaitable[None]) -> None:
        """Do it; if it cannot be done, the row says why, and it is done again in a while."""
        try:
            await work
        except Exception as wrong:  # noqa: BLE001 - one handoff's trouble, told on its row
            self._blocked(agent, wrong)

    def _blocked(self, agent: Agent, wrong: Exception) -> None:
        if not isinstance(wrong, CockpitError | OSError):
            _log.error("the handoff of %s failed in a step", agent.name, exc_info=wrong)
        if agent.progress.blocked is None:
            self._dependencies.event_log.record(
                "handoff.stalled", f"{agent.name}: {words(wrong)}", agent.name
            )
        now = self._dependencies.clock.monotonic()
        agent.progress.blocked = stalled(agent.progress.blocked, wrong, now)
        self._changed(agent)

    async def _again(self, agent: Agent) -> None:
        """What a supervisor does that comes back: the state's commands are given once more."""
        assert agent.handoff is not None
        agent.progress.handoff = rules.taken_up(agent.handoff)
        await self._run(agent, rules.entry(agent.handoff))

    async def approve(self, agent: Agent, seen: str | None, *, straight: bool) -> None:
        """Answer the question that stands with yes, and go on at once.

        Takes up what the user changed in the document; see `_take_edit` for `seen`. Raises `NotNow`
        where that left no question to answer; nothing is approved then.
        """
        async with self._lock(agent):
            await self._take_edit(agent, seen)
            asked = agent.handoff
            if asked is None or not isinstance(asked.state, Asked | Reviewing):
                raise NotNow(
                    f"{agent.name} is not waiting for you any more",
                    "Its handoff moved on while your answer was taken; nothing was approved.",
                    f"See: cockpit status {agent.name}",
                )
            now = self._dependencies.clock.monotonic()
            await self.tell(agent, Approved(now, straight=straight))
            await self.look(agent)

    async def _take_edit(self, agent: Agent, seen: str | None) -> bool:
        """Seal what was changed in the document under review; False if nothing was.

        Raises `NotNow` unless `seen` is the SHA-256 of the text as it is now.
        """
        async with self._lock(agent):
            if agent.handoff is None or not isinstance(agent.handoff.state, Reviewing):
                return False
            document = await edited(self._dependencies, agent, agent.handoff.state.document, seen)
            if document is None:
                return False
            agent.progress.note(replace(agent.progress.details, edited=True))
            await self._advance(
                agent, DocumentSealed(self._dependencies.clock.monotonic(), document)
            )
            self._dependencies.event_log.record(
                "handoff.edited", f"You changed the handoff document of {agent.name}", agent.name
            )
            return True

    def recall(self, agent: Agent, record: HandoffRecord) -> None:
        """Put a handoff that an earlier supervisor left back on its agent; nothing is done yet.

        Raises `ValueError` for a record that cannot be understood.
        """
        handoff = from_record(record.record)
        if record.boot != self._dependencies.clock.boot():
            handoff = rules.rebased(handoff, self._dependencies.clock.monotonic())
        agent.progress.take(handoff, record)

    async def resume(self, agent: Agent) -> None:
        """Do again what the state of a recalled handoff asks for, unless it was ended by now."""
        async with self._lock(agent):
            if agent.handoff is not None:
                await self._unless_stalled(agent, self._again(agent))

    def is_driving(self, agent: Agent) -> bool:
        """Whether something is being done for this agent right now."""
        return self._locks.is_held(agent.name)

    def _lock(self, agent: Agent) -> AbstractAsyncContextManager[None]:
        return self._locks.hold(agent.name, "at a step of its handoff")

    def _queue(self, agent: Agent) -> str | None:
        """Why this agent's handoff must wait for others: the queue, in words."""
        others = [each for each in self._agents() if each is not agent]
        busy = [each.name for each in others if is_under_way(each)]
        ahead = [each.name for each in others if is_ahead(each, agent)]
        return queued(busy, ahead, agent.settings.handoff.concurrent)

    async def _advance(self, agent: Agent, event: Event) -> None:
        if agent.handoff is None:
            return
        before = agent.handoff
        after, commands = rules.advance(before, event)
        if after != before:
            # Memory follows the disk: where this raises, nothing has happened.
            self._write(agent, after, self._details(agent, before, after))
            told.changed(self._dependencies.event_log, agent, before, after)
        await self._run(agent, commands)
        if agent.handoff is not None and isinstance(agent.handoff.state, Ended):
            await self._close(agent, agent.handoff.state)

    async def _run(self, agent: Agent, commands: Iterable[Command]) -> None:
        for command in commands:
            answer = await self._effects.perform(agent, command)
            if answer is not None:
                await self._advance(agent, answer)

    def _details(self, agent: Agent, before: Handoff, after: Handoff) -> HandoffDetails:
        details = agent.progress.details
        if failed := told.passed_over(before, after):
            details = replace(details, writers_failed=(*details.writers_failed, failed))
        if type(after.state) is not type(before.state) and type(after.state) in PHASES:
            details = replace(details, phase_since=rfc3339(self._now()))
        return details

    def _write(
        self,
        agent: Agent,
        handoff: Handoff | None = None,
        details: HandoffDetails | None = None,
    ) -> None:
        """The intent, durable, before anything of it is done; then it holds in memory too.

        Raises `Hindered`, and then nothing has changed.
        """
        handoff = handoff or agent.handoff
        held = agent.handoff_record
        assert handoff is not None
        assert held is not None
        document = handoff.document
        record = replace(
            held,
            record=to_record(handoff),
            boot=self._dependencies.clock.boot(),
            document=document.path if document else held.document,
            sha256=document.sha256 if document else held.sha256,
            writer=document.writer if document else held.writer,
            details=held.details if details is None else details,
        )
        self._dependencies.store.save_handoff(record)
        agent.progress.handoff, agent.progress.record = handoff, record
        self._changed(agent)

    async def _close(self, agent: Agent, ended: Ended) -> None:
        assert agent.handoff_record is not None
        self._observer.forget(agent.handoff_record.id)
        await self._closing.close(agent, ended)
        self._changed(agent)

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()

"""Run handoffs: pass events to `core.handoff`, and the resulting commands to `effects`.

A state is saved before its commands are performed, and every command is idempotent, so that a
supervisor can be killed at any point. Each step holds the agent's lock.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from uuid import uuid4

from cockpit.core.errors import CockpitError, NotNow
from cockpit.core.events import Plain
from cockpit.core.facts import Facts
from cockpit.core.guards import queued
from cockpit.core.handoff import advance as rules
from cockpit.core.handoff.commands import Command
from cockpit.core.handoff.details import HandoffDetails, HeldBack
from cockpit.core.handoff.events import (
    Abandoned,
    Approved,
    DocumentSealed,
    Event,
    Resumed,
    Retargeted,
)
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
from cockpit.core.timestamps import rfc3339
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.blocked import blocked_after, reason_of
from cockpit.supervisor.agents.predicates import usage_limited
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff import announcements
from cockpit.supervisor.handoff.documents import DocumentBuilder, would_be_for_context
from cockpit.supervisor.handoff.effects import Effects
from cockpit.supervisor.handoff.integrity import edited
from cockpit.supervisor.handoff.options import HandoffOptions
from cockpit.supervisor.handoff.outcome import Outcomes
from cockpit.supervisor.handoff.queue import is_ahead, is_under_way
from cockpit.supervisor.handoff.snapshot import Observer
from cockpit.supervisor.handoff.target import Target, Targets
from cockpit.supervisor.sessions.lifecycle import Sessions

_log = logging.getLogger(__name__)

STARTS = 3
"""Attempts to start a new session before the old one is reopened."""


class Engine:
    """Runs the handoffs of all agents."""

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
        self.targets = Targets(dependencies, sessions)
        self._effects = Effects(
            dependencies, sessions, self._document_builder, self.targets, self._save_details
        )
        self._outcomes = Outcomes(dependencies, sessions, self._document_builder)
        self._observer = Observer(dependencies)
        self._locks = sessions.locks

    # Beginning

    async def begin(self, agent: Agent, options: HandoffOptions) -> HandoffRecord:
        """Begin a handoff of this agent's session.

        Raises `NotNow` if a handoff is in progress, or if the session has ended or changed.

        The user is asked first if the new session's CLI lacks the permission mode of this session,
        unless the job moves to another machine, which has modes of its own.
        """
        async with self._lock(agent):
            if agent.handoff is not None:
                raise NotNow(
                    f"A handoff of {agent.name} is already in progress",
                    f"Current phase: {PHASES.get(type(agent.handoff.state), 'ended')}.",
                    f"See: cockpit status {agent.name}",
                )
            if agent.session is None or agent.job is None:
                raise NotNow(
                    f"{agent.name} has no session to hand off",
                    "The agent was never started, or its session is unknown.",
                    f"Start the agent: cockpit start {agent.name}",
                )
            target = options.to or await self.targets.configured(agent)
            asks_mode = options.because is None and not options.move_to
            if asks_mode and (question := self.targets.mode_question(agent, target)):
                because = HeldBack("handoff", question)
                options = replace(options, because=because, ask=agent.alive, review=True)
            plan = self._plan(agent, options, target)
            handoff, commands = rules.begin(plan, self._dependencies.clock.monotonic())
            session = agent.session.id
            record = await self._first_record(agent, handoff, options.reason)
            if agent.session.id != session or not (agent.alive or options.reason == "loop"):
                raise NotNow(
                    f"{agent.name} changed while its handoff was prepared",
                    "The session ended, or another session began. The handoff was not started.",
                    f"Check the agent again: cockpit status {agent.name}",
                )
            details = replace(record.details, due=options.due, because=options.because)
            record = replace(record, details=details)
            self._dependencies.store.save_handoff(record)
            agent.progress.take(handoff, record)
            if options.because is not None:
                text = f"{options.because.words}; asking you"
                self._dependencies.event_log.record(Plain("handoff.held_back"), text, agent.name)
            self._changed(agent)
            announcements.begun(self._dependencies.event_log, agent, plan, options.due)
            await self._or_block(agent, self._run(agent, commands))
            return record

    def writers(self, agent: Agent) -> tuple[Writer, ...]:
        """Return the writers of this agent's document, in the order in which they are tried.

        The writer `agent` is first or missing.
        """
        known = agent.settings.handoff.writers
        if not agent.has_readings or self._is_limited(agent):
            known = ("facts",)
        if not agent.runtime.capabilities.prompts:
            known = tuple(writer for writer in known if writer != "agent") or ("facts",)
        return tuple(sorted(known, key=lambda writer: writer != "agent"))

    def _is_limited(self, agent: Agent) -> bool:
        """Return whether a usage limit keeps the session and its copies from writing."""
        limit = usage_limited(agent)
        return limit is not None and (limit.resets is None or limit.resets > self._now())

    async def preview(self, agent: Agent, given: str | None, *, by_agent: bool = False) -> str:
        """Return the document that a handoff would seal now. Starts nothing; saves no document."""
        return await self._document_builder.preview(agent, given, by_agent=by_agent)

    def continuation(self, agent: Agent) -> str:
        """Return the first prompt of a new session. Raises `NotNow` if there is no document."""
        if agent.handoff is None or agent.handoff.document is None:
            raise NotNow(
                f"There is no document for a new session of {agent.name}",
                "The handoff has no document yet."
                if agent.handoff
                else "No handoff is in progress.",
                hint=f"Check the handoff: cockpit status {agent.name}"
                if agent.handoff
                else f"Begin a handoff: cockpit handoff {agent.name}",
            )
        return self._document_builder.continuation(agent, agent.handoff.document)

    def facts(self, agent: Agent) -> Facts:
        """Return the facts of the transcript; see `DocumentBuilder.facts`."""
        return self._document_builder.facts(agent)

    def _plan(self, agent: Agent, options: HandoffOptions, target: Target) -> Plan:
        settings = agent.settings.handoff
        successors = (self._sessions.mint(agent) for _ in range(STARTS))
        plan = Plan(
            reason=options.reason,
            ask=options.ask,
            review=options.review,
            successors=tuple(Successor(session, run) for session, run in successors),
            now=options.now,
            writers=self.writers(agent),
            given=options.given,
            deadline=settings.deadline,
            runtime=target.runtime,
            model=target.model,
            move_to=options.move_to,
        )
        limited = options.reason == "limit"
        return replace(plan, grace=agent.settings.limits.grace) if limited else plan

    async def _first_record(self, agent: Agent, handoff: Handoff, reason: Reason) -> HandoffRecord:
        assert agent.job is not None
        assert agent.session is not None
        ident = HandoffId(str(uuid4()))
        created = self._now()
        draft = await self._document_builder.prepare_draft_path(agent, ident)
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
                filling=would_be_for_context(agent, reason),
            ),
        )

    # Driving

    async def look(self, agent: Agent) -> None:
        """Observe the agent and advance its handoff, unless another task holds the agent's lock."""
        if agent.handoff is None or self._locks.is_held_elsewhere(agent.name):
            return
        async with self._lock(agent):
            now = self._dependencies.clock.monotonic()
            blocked = agent.progress.blocked
            if agent.handoff is not None and (blocked is None or now >= blocked.again):
                await self._or_block(agent, self._look(agent))

    async def _look(self, agent: Agent) -> None:
        if agent.progress.blocked is not None:
            await self._advance(agent, Resumed())
        if agent.handoff is not None:
            seen = await self._observer.observe(agent, agent.handoff, None)
            # The queue may have changed during the observation.
            await self._advance(agent, replace(seen, queue=self._queue(agent)))
        agent.progress.blocked = None

    async def abandon(self, agent: Agent, why: str) -> None:
        """End the handoff in any phase, because all agents are being ended.

        Waits for the current step. Afterwards the caller must end the agent's process.
        """
        async with self._lock(agent):
            await self._advance(agent, Abandoned(why))

    async def apply(self, agent: Agent, event: Event) -> None:
        """Advance the handoff by an event. Raises only if nothing was changed."""
        async with self._lock(agent):
            before = agent.handoff
            try:
                await self._advance(agent, event)
            except Exception as wrong:
                if agent.handoff is before:
                    raise
                self._block(agent, wrong)

    # Errors

    async def _or_block(self, agent: Agent, work: Awaitable[None]) -> None:
        """Await the work. If it raises, mark the handoff as blocked; `look` then retries the
        handoff."""
        try:
            await work
        except Exception as wrong:  # noqa: BLE001 - an error of one handoff is shown on the agent's row
            self._block(agent, wrong)

    def _block(self, agent: Agent, wrong: Exception) -> None:
        if not isinstance(wrong, CockpitError | OSError):
            _log.error("the handoff of %s failed in a step", agent.name, exc_info=wrong)
        if agent.progress.blocked is None:
            self._dependencies.event_log.record(
                Plain("handoff.stalled"),
                f"The handoff of {agent.name} is blocked, and will be retried: {reason_of(wrong)}",
                agent.name,
            )
        now = self._dependencies.clock.monotonic()
        agent.progress.blocked = blocked_after(agent.progress.blocked, wrong, now)
        self._changed(agent)

    async def approve(self, agent: Agent, seen: str | None, *, straight: bool) -> None:
        """Approve the open question, and continue at once.

        Seals the user's changes to the document; see `_take_edit` for `seen`. Raises `NotNow`,
        without approving, if no question is open.
        """
        async with self._lock(agent):
            await self._take_edit(agent, seen)
            handoff = agent.handoff
            if handoff is None or not isinstance(handoff.state, Asked | Reviewing):
                raise NotNow(
                    f"{agent.name} is no longer waiting for you",
                    "The handoff changed while your answer was processed; nothing was approved.",
                    f"See: cockpit status {agent.name}",
                )
            now = self._dependencies.clock.monotonic()
            await self.apply(agent, Approved(now, straight=straight))
            await self.look(agent)

    async def retarget(self, agent: Agent, target: Target) -> str | None:
        """Choose another CLI or model for the new session, while the first question is open.

        Returns an additional question to the user if that CLI lacks the session's permission mode,
        else None. Raises `NotNow` after the approval: the document is written for one CLI.
        """
        async with self._lock(agent):
            if agent.handoff is None or not isinstance(agent.handoff.state, Asked):
                raise NotNow(
                    f"The handoff of {agent.name} has begun",
                    "The document is written for the CLI chosen earlier.",
                    f"Refuse the handoff, then choose again: cockpit refuse {agent.name}",
                )
            await self._advance(agent, Retargeted(target.runtime, target.model))
            question = self.targets.mode_question(agent, target)
            if question is not None:
                because = HeldBack("handoff", question)
                self._save_details(agent, replace(agent.progress.details, because=because))
            return question

    async def _take_edit(self, agent: Agent, seen: str | None) -> bool:
        """Seal the changed document under review; return False if there is no change to seal.

        Raises `NotNow` for a change unless `seen` is the SHA-256 of the current text.
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
                Plain("handoff.edited"),
                f"You changed the handoff document of {agent.name}",
                agent.name,
            )
            return True

    def recall(self, agent: Agent, record: HandoffRecord) -> None:
        """Restore a handoff of an earlier supervisor. Does not continue it; see `resume`.

        Raises `ValueError` for a record that cannot be read.
        """
        handoff = from_record(record.record)
        if record.boot != self._dependencies.clock.boot():
            handoff = rules.rebased(handoff, self._dependencies.clock.monotonic())
        agent.progress.take(handoff, record)

    async def resume(self, agent: Agent) -> None:
        """Repeat the commands of a restored handoff, unless it has ended."""
        async with self._lock(agent):
            if agent.handoff is not None:
                await self._or_block(agent, self._advance(agent, Resumed()))

    def is_driving(self, agent: Agent) -> bool:
        """Return whether any task holds the agent's lock."""
        return self._locks.is_held(agent.name)

    def _lock(self, agent: Agent) -> AbstractAsyncContextManager[None]:
        return self._locks.hold(agent.name, "in the middle of a handoff step")

    def _queue(self, agent: Agent) -> str | None:
        """Return why this agent's handoff must wait for other handoffs; None if it may continue."""
        others = [other for other in self._agents() if other is not agent]
        busy = [other.name for other in others if is_under_way(other)]
        ahead = [other.name for other in others if is_ahead(other, agent)]
        return queued(busy, ahead, agent.settings.handoff.concurrent)

    async def _advance(self, agent: Agent, event: Event) -> None:
        if agent.handoff is None:
            return
        before = agent.handoff
        after, commands = rules.advance(before, event)
        if after != before:
            # Save first: if saving raises, nothing has changed.
            self._write(agent, after, self._details(agent, before, after))
            announcements.changed(self._dependencies.event_log, agent, before, after)
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
        if failed := announcements.passed_over(before, after):
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
        """Save the state durably, then set it in memory.

        Raises `OsProblem` on a disk error, without changing anything.
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

    def _save_details(self, agent: Agent, details: HandoffDetails) -> None:
        self._write(agent, details=details)

    async def _close(self, agent: Agent, ended: Ended) -> None:
        assert agent.handoff_record is not None
        self._observer.forget(agent.handoff_record.id)
        await self._outcomes.close(agent, ended)
        self._changed(agent)

    def _now(self) -> float:
        return self._dependencies.clock.now().timestamp()

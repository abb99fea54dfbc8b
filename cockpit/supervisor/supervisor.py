"""The supervisor: builds its components, restores the state of the previous one, and runs.

This file builds the components and starts them in order. Each component is
described in its own file.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit import __version__
from cockpit.adapters.hooks.spool import Spool
from cockpit.config.hooks import Notifications
from cockpit.core.errors import CockpitError, Hindered
from cockpit.core.events import Plain
from cockpit.core.ids import AgentName, PaneId
from cockpit.core.safetext import safe_line
from cockpit.core.timestamps import rfc3339
from cockpit.ports.panes import Pane, PanesSilent
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import EventRecord, HandoffRecord
from cockpit.supervisor.agents.agent import Agent, Exit
from cockpit.supervisor.agents.compaction_points import CompactionPoints
from cockpit.supervisor.agents.dialogs import Dialogs
from cockpit.supervisor.agents.exit_reason import without_panes
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.api.callers import Callers
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff import draft_permission
from cockpit.supervisor.handoff.documents import DocumentBuilder
from cockpit.supervisor.handoff.elsewhere_document import ElsewhereDocuments
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.hook_decisions import HookDecisions
from cockpit.supervisor.handoff.triggers import Triggers
from cockpit.supervisor.history.chains import History
from cockpit.supervisor.history.commit_refs import CommitRefs
from cockpit.supervisor.history.context_history import ContextHistory
from cockpit.supervisor.history.lookups import Lookups
from cockpit.supervisor.history.rebuild import rebuild
from cockpit.supervisor.history.retention import Retention
from cockpit.supervisor.history.search_index import SearchIndex
from cockpit.supervisor.lifetime import Lifetime
from cockpit.supervisor.loops import Loops
from cockpit.supervisor.observe.attention import Attention
from cockpit.supervisor.observe.compaction import Compactions
from cockpit.supervisor.observe.disk_monitor import DiskMonitor
from cockpit.supervisor.observe.elsewhere import ElsewhereWatch
from cockpit.supervisor.observe.supplements import Supplements
from cockpit.supervisor.observe.watch import Watch
from cockpit.supervisor.observe.worktree_monitor import WorktreeMonitor
from cockpit.supervisor.outbound.hooks import Hooks
from cockpit.supervisor.outbound.notifications import NotificationSender
from cockpit.supervisor.outbound.outbox import Outbox
from cockpit.supervisor.outbound.publication import Publication
from cockpit.supervisor.sessions.adopt import adopt, adopt_unknown, note_lost_settings
from cockpit.supervisor.sessions.adopt_elsewhere import Adoption
from cockpit.supervisor.sessions.continuation import Continuation
from cockpit.supervisor.sessions.elsewhere import OtherSessions
from cockpit.supervisor.sessions.interruptions import (
    ended_with_server,
    find_interrupted,
    note_interrupted,
    note_shutdown,
)
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.plan import Planner
from cockpit.supervisor.sessions.reattach import find_process
from cockpit.supervisor.sessions.reopen import Reopening
from cockpit.supervisor.sessions.repair import Repair
from cockpit.supervisor.sessions.resume import Resumer
from cockpit.supervisor.sessions.setup import WorktreeSetup
from cockpit.supervisor.sessions.start import Starter
from cockpit.supervisor.sessions.stop import Stopper
from cockpit.supervisor.sessions.undo import Undo
from cockpit.supervisor.sessions.worktrees import AgentWorktrees
from cockpit.supervisor.view.elsewhere import ElsewhereRows
from cockpit.supervisor.view.publisher import RowPublisher
from cockpit.wire.status import HeldSetting, Status, SupervisorStatus

HANDOFFS_LOOK = 0.25
"""Seconds between two observations of a handoff, unless something changes earlier."""
DUE_LOOK = 2.0
"""Seconds between two checks whether a handoff is due because of elapsed time."""
SAVE_READINGS = 30.0
"""Seconds between two saves of tokens and cost."""
RESTORE_SECONDS = 10.0
"""Seconds for reading transcripts at the start; the rest is read while requests are served."""
HANGUP_SECONDS = 2.0
"""Seconds in which a process ends whose terminal was closed; one that ignores it goes on."""
LAST_LOOK_SECONDS = 5.0
"""Seconds for reading the rest of the transcript after an agent's process ended."""
ASKS, ASK_AGAIN = 4, 0.5
"""Attempts to list tmux's panes at the start, and seconds between two attempts."""

_log = logging.getLogger(__name__)


class Supervisor:
    """The supervisor of one state folder. Ends agents only on request."""

    def __init__(self, dependencies: Dependencies, spool: Spool) -> None:
        self.dependencies = dependencies
        self.event_log = dependencies.event_log
        self.fleet = Fleet(dependencies)
        self.callers = Callers(dependencies, self.fleet)
        self.publisher = RowPublisher(dependencies.clock, self.event_log, lambda: list(self.fleet))
        self.sessions = Sessions(dependencies, lambda: self.fleet, self._process_ended)
        self.locks = self.sessions.locks
        self.fleet.is_busy = self.locks.is_held_elsewhere
        self.engine = Engine(dependencies, self.sessions, lambda: self.fleet, self._handoff_changed)
        self.triggers = Triggers(dependencies, self.engine)
        self.points = CompactionPoints(dependencies.store)
        document_builder = DocumentBuilder(dependencies, self.sessions)
        self.compactions = Compactions(dependencies, self.engine, document_builder)
        self.supplements = Supplements(dependencies, document_builder)
        self.watch = Watch(
            dependencies,
            self.sessions,
            lambda: self.fleet,
            spool.take,
            self._on_change,
            self._compacted,
        )
        self.watch.compacts = lambda agent: self.spawn(self.compactions.save_facts(agent))
        self.search_index = SearchIndex(dependencies)
        self.dialogs = Dialogs(dependencies.store)
        self.worktree_monitor = WorktreeMonitor(dependencies, self.fleet, self.publisher.changed)
        self.disk_monitor = DiskMonitor(dependencies, self.fleet, self.publisher.changed)
        self.retention = Retention(dependencies, self.fleet)
        self.context_history = ContextHistory(dependencies)
        self._spool = spool
        self._damaged_reported = 0
        self._started = dependencies.clock.now().timestamp()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.loops = Loops()
        self.setup = WorktreeSetup(
            dependencies, self.publisher.changed, self.sessions.environment, self.locks
        )
        self._build_outbound()
        self.life = Lifetime()
        self.history = History(dependencies, self.fleet, self.search_index, self.engine.facts)
        self.lookups = Lookups(dependencies, self.context_history)
        self._build_sessions()

    def _build_sessions(self) -> None:
        """Build the components that start, end and undo sessions for the user."""
        parts, fleet, sessions = self.dependencies, self.fleet, self.sessions
        changed = self.publisher.changed
        self.worktrees = AgentWorktrees(parts, fleet, self.locks, changed, self.publisher.state_of)
        reopening = Reopening(parts, fleet, sessions)
        self.starter = Starter(
            dependencies=parts,
            fleet=fleet,
            sessions=sessions,
            setup=self.setup,
            reopening=reopening,
            removal_above=self.worktrees.removal_above,
            changed=changed,
        )
        self.planner = Planner(parts, fleet, self.starter)
        self.continuation = Continuation(parts, fleet, self.locks, self.starter)
        others = OtherSessions(parts, fleet)
        self.adoption = Adoption(parts, fleet, sessions, self.starter, others)
        self.elsewhere_watch = ElsewhereWatch(parts, fleet, others)
        self.elsewhere_documents = ElsewhereDocuments(parts, fleet, sessions, others)
        self.elsewhere = ElsewhereRows(parts, fleet, others, self.elsewhere_watch.is_watched)
        self.resumer = Resumer(parts, fleet, sessions, self.starter, changed)
        self.stopper = Stopper(parts, fleet, sessions)
        self.undo = Undo(parts, fleet, sessions, reopening, changed)
        self.repair = Repair(parts, fleet, sessions, self.undo)

    def _build_outbound(self) -> None:
        """Build hooks and notifications, which react to events."""
        parts, find = self.dependencies, self.fleet.find
        self.outbox = Outbox(parts, find, self._notice_urls, self.spawn)
        self.hooks = Hooks(parts, find, self.publisher.changed, self.spawn, self.outbox.post)
        self.hook_decisions = HookDecisions(parts, self.engine, self.triggers, self.hooks)
        self.attention = Attention(parts, lambda: self.fleet)
        self.publication = Publication(parts, self.publisher.changed, self.spawn)
        self.commit_refs = CommitRefs(parts, self.spawn)
        self.notifications = NotificationSender(parts, self.outbox, find, self._notifications)
        self.sessions.prologue = self.hooks.before_session
        self.triggers.ask_hooks = lambda agent: self.hook_decisions.begin(agent, self.spawn)
        self.event_log.also = self._dispatch

    def _notifications(self) -> Notifications | None:
        loaded = self.fleet.loaded
        return loaded.settings.notifications if loaded is not None else None

    def _notice_urls(self) -> tuple[str, ...]:
        wanted = self._notifications()
        return wanted.urls if wanted is not None else ()

    def _dispatch(self, record: EventRecord) -> None:
        """Pass an event to hooks and notifications; an error there must not lose the event."""
        find = self.fleet.find
        try:
            self.hooks.handle(record)
            self.notifications.handle(record)
            self.publication.handle(record, find(record.agent or ""))
            self.commit_refs.handle(record, find(record.agent or ""))
        except Hindered:
            raise
        except Exception:  # noqa: BLE001 - around everything that follows from an event
            _log.exception("hooks and notifications failed for %s", record.kind)

    # Life

    async def restore(self, config: Path | None, *, named: bool, again: bool = False) -> None:
        """Restore the state that an earlier supervisor left, and read the configuration.

        With `again`, the user specified the configuration for that supervisor, not for this one.
        Raises `BadConfig` for an invalid configuration, before anything is changed.
        """
        await self.hooks.sweep()
        self.fleet.remember()
        await self.fleet.reload(config, named=named, again=again)
        panes = {str(key): pane for key, pane in (await self._panes()).items()}
        unknown = adopt_unknown(self.dependencies, self.fleet, panes.values())
        await rebuild(self.dependencies, self.fleet.folders())
        handing_off = {record.agent for record in self.dependencies.store.open_handoffs()}
        for agent in self.fleet:
            with self._isolated(agent):
                found = await find_process(self.dependencies, self.sessions, agent, panes)
                self.dialogs.recall(agent)
                handed_off = agent.name in handing_off
                missing = not found and (not handed_off or agent.record.session is None)
                if missing and adopt(self.dependencies, self.sessions, agent, panes.values()):
                    if agent in unknown:
                        note_lost_settings(self.dependencies, agent)
                    continue
                self._record_found(agent, found, handing_off=handed_off)
        self.watch.hear_once()
        clock = self.dependencies.clock
        until = clock.monotonic() + RESTORE_SECONDS
        for agent in self.fleet:
            with self._isolated(agent):
                await self.watch.read_to_end(agent, until - clock.monotonic())
        has_panes = any(self.fleet.find(pane.label) for pane in panes.values())
        find_interrupted(self.dependencies, self.fleet, panes=has_panes)
        self._drop_prompts(handing_off)
        self._resume_handoffs()
        self._report_damaged()

    @contextlib.contextmanager
    def _isolated(self, agent: Agent) -> Iterator[None]:
        """Show an error with one agent on its row and in the log; the others are restored.

        Errors of the machine (disk, tmux) pass: they concern all agents.
        """
        try:
            yield
        except (CockpitError, OSError):
            raise
        except Exception as bug:  # noqa: BLE001 - one agent must not stop the start
            _log.exception("restoring %s failed", agent.name)
            agent.troubles.failed["restore"] = f"restoring it failed: {bug!r}; see the log"

    def _drop_prompts(self, handing_off: set[AgentName]) -> None:
        """Remove the stored prompts of ended sessions and of cancelled starts."""
        kept: set[str] = set()
        for agent in self.fleet:
            if agent.record.run and (agent.alive or agent.name in handing_off):
                kept.add(agent.record.run)
            if agent.record.job and self.setup.should_repeat(agent) is not None:
                kept.add(agent.record.job)
        self.dependencies.prompts.sweep(kept)

    async def _panes(self) -> dict[PaneId, Pane]:
        """Return every pane. Retries if tmux does not answer, then raises `PanesSilent`."""
        panes = self.dependencies.panes
        for _ in range(ASKS - 1):
            with contextlib.suppress(PanesSilent, Hindered, OSError):
                await panes.start_server()
                return await panes.look()
            await asyncio.sleep(ASK_AGAIN)
        await panes.start_server()
        return await panes.look()

    def _record_found(self, agent: Agent, found: bool, *, handing_off: bool) -> None:
        if found:
            self.event_log.record(
                Plain("agent.found"), f"{agent.name} is still running", agent.name
            )
        elif agent.record.wanted and agent.record.session is not None:
            over = agent.session.ended if agent.session else None
            if not handing_off and agent.record.ending is None and over is None:
                self.sessions.record_exit(agent, None)
            agent.exit = Exit(over or self._now(), recorded=agent.record.ending)

    def _named_by(self, ident: str) -> Agent | None:
        """Return the agent with this job or session id in its record; None if there is none."""
        held = (agent for agent in self.fleet if ident in (agent.record.job, agent.record.session))
        return next(held, None)

    def _report_damaged(self) -> None:
        """Report damaged database rows, on the row of their agent too."""
        store = self.dependencies.store
        for damaged in store.rows_put_aside[self._damaged_reported :]:
            self._damaged_reported += 1
            agent = self.fleet.find(damaged.agent) or self._named_by(damaged.id)
            text = (
                f"one of its database rows was damaged and moved to another table ({damaged.table} "
                f"{damaged.id[:8]}, {damaged.why}); the rest is kept. Check the disk of "
                f"{self.dependencies.places.database}"
            )
            self.event_log.record(
                Plain("store.row_put_aside"),
                safe_line(f"{damaged.agent or 'cockpit'}: {text}", 400),
                agent.name if agent is not None else None,
            )
            if agent is not None:
                store.save_agent(agent.change(gave_up=safe_line(text, 300)))
                self.publisher.changed(agent)

    def _resume_handoffs(self) -> None:
        """Restore open handoffs, and continue each in a task of its own.

        Ending an unresponsive agent takes seconds, and an error in one handoff must not stop the
        supervisor's start. All handoffs are restored before requests are served.
        """
        found = self.dependencies.store.open_handoffs()
        for agent in self.fleet:
            if agent.name not in {record.agent for record in found}:
                draft_permission.update(agent)
        for record in found:
            held = self.fleet.find(record.agent)
            if held is not None and self._restore_handoff(held, record):
                self.spawn(self._resume_handoff(held))

    def _restore_handoff(self, agent: Agent, record: HandoffRecord) -> bool:
        try:
            self.engine.recall(agent, record)
        except ValueError as wrong:
            self.event_log.record(
                Plain("handoff.not_understood"),
                f"Cannot restore a handoff of {agent.name}: {wrong}",
                agent.name,
            )
            ended = replace(record, ended=self._now(), outcome="failed", why=str(wrong))
            self.dependencies.store.save_handoff(ended)
            return False
        return True

    async def _resume_handoff(self, agent: Agent) -> None:
        try:
            await self.engine.resume(agent)
        except (CockpitError, OSError) as refused:
            agent.troubles.failed["handoff"] = str(refused)
            self.publisher.changed(agent)

    def run(self) -> None:
        """Start all tasks. Must be called on the event loop that serves requests."""
        stop_watching = self._spool.on_change(self.watch.reported)
        self._closing = contextlib.ExitStack()
        self._closing.callback(stop_watching)
        for name, loop in {
            "sending rows": self.publisher.run,
            "reading hooks": self.watch.hear,
            "reading transcripts": self.watch.read,
            "reading the CLIs' status files": self.watch.note,
            "driving handoffs": self._drive_handoffs,
            "checking for due handoffs": self._look_for_due,
            "saving counts": self._save_counts,
            "checking which agents need you": self.attention.run,
            "sending messages": self.outbox.run,
            "keeping transcripts": self.retention.run,
            "checking worktrees": self.worktree_monitor.run,
            "checking disks": self.disk_monitor.run,
            "watching sessions elsewhere": self.elsewhere_watch.run,
        }.items():
            self.spawn(self.loops.run(name, loop))
        self.publication.resume(self.fleet)
        self.spawn(self._consider_all())
        self.spawn(self.search_index.run())
        self.watch.reported()

    async def _consider_all(self) -> None:
        """Check every running agent once at the start: a handoff of an idle one may be due."""
        for agent in self.fleet:
            if agent.alive:
                await self.watch.consider(agent)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work in a task. Logs an exception in the task, which affects nothing else."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._spawned_ended)

    def _spawned_ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (bug := task.exception()) is not None:
            _log.error("a task of the supervisor failed", exc_info=bug)

    async def close(self) -> None:
        """Stop all tasks. Agents keep running."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.setup.close()
        await self.hooks.close()
        await self.outbox.close()
        for agent in self.fleet:
            self.sessions.unwatch(agent)
            with contextlib.suppress(Hindered):  # the transcript has the same data
                self.sessions.save_counts(agent)
        with contextlib.suppress(Hindered):
            note_shutdown(self.dependencies, self.fleet)
        self._closing.close()
        self.event_log.close()
        self.publisher.close()

    # Reactions

    async def _on_change(self, agent: Agent) -> None:
        """React to a change of the agent; later, if another task has the agent's lock."""
        agent.must_reconsider = True
        if self.locks.is_held_elsewhere(agent.name):
            self.publisher.changed(agent)
            return
        async with self.locks.hold(agent.name, "being checked"):
            # A change after this line is considered again.
            agent.must_reconsider = False
            try:
                await self._consider(agent)
            except BaseException:
                agent.must_reconsider = True
                raise
        self.publisher.changed(agent)

    async def _consider(self, agent: Agent) -> None:
        self.dialogs.save(agent)
        self.compactions.hold(agent)
        self.points.consider(agent)
        await self.compactions.cancel_outdated(agent)
        await self.supplements.consider(agent)
        if agent.handoff is not None:
            await self.engine.look(agent)
        agent.troubles.failed.pop("handoff", None)
        await self.triggers.consider(agent)

    def _compacted(self, agent: Agent) -> None:
        """Record a compaction, and allow the events of all bands again."""
        self.compactions.record_compaction(agent)
        self.triggers.rearm(agent)

    def _handoff_changed(self, agent: Agent) -> None:
        with contextlib.suppress(Hindered, OSError):  # retried with the next change
            draft_permission.update(agent)
        self.publisher.changed(agent)

    def _process_ended(self, agent: Agent, process: ProcessId | None) -> None:
        """Handle the end of a process; `process` is None if it ended before it was identified."""
        self.spawn(self._handle_end(agent, process, agent.record.run))

    async def _handle_end(self, agent: Agent, process: ProcessId | None, run: str | None) -> None:
        """Record how the agent's process ended, and let its handoff react."""
        if agent.process != process or agent.record.run != run:
            return
        handing_off = agent.handoff is not None
        agent.exit = Exit(self._now())
        async with self.locks.hold(agent.name, "ended, and its end is being recorded"):
            if agent.process == process and agent.record.run == run:
                await self._record_end(agent, handing_off=handing_off)
        await self._forget_lost_panes()
        if agent.handoff is not None:
            await self.engine.look(agent)

    async def _record_end(self, agent: Agent, *, handing_off: bool) -> None:
        """Save how the agent's process ended. The caller holds the agent's lock."""
        known = await self.sessions.find_exit(agent)
        for other in self.watch.hear_once():
            if other is not agent:
                self.spawn(self._on_change(other))
        await self.watch.read_to_end(agent, LAST_LOOK_SECONDS)
        agent.exit = known
        self.dialogs.save(agent)
        if agent.record.wanted and ended_with_server(known):
            note_interrupted(self.dependencies, agent, "terminal")
        if not handing_off and agent.handoff is None:
            self.sessions.record_exit(agent, known)
        self.publisher.changed(agent)

    async def _forget_lost_panes(self) -> None:
        """Remove missing panes from the rows."""
        for agent in await without_panes(self.dependencies, self.fleet):
            if self.locks.is_held(agent.name):
                continue  # the agent may be getting another pane; checked again at the next end
            process, pane = agent.process if agent.alive else None, agent.record.pane
            if process is not None and not await self._outlives_its_pane(process):
                continue  # the process has ended too, which will be detected next
            if agent.record.pane != pane:
                continue
            with contextlib.suppress(Hindered):  # checked again at the next end
                self.dependencies.store.save_agent(agent.change(pane=None))
            self.publisher.changed(agent)

    async def _outlives_its_pane(self, process: ProcessId) -> bool:
        """Return whether the process still runs `HANGUP_SECONDS` after its pane is missing.

        A pane that closes hangs up its process. The end of the process needs the recorded pane to
        tell that the tmux server exited.
        """
        clock = self.dependencies.clock
        until = clock.monotonic() + HANGUP_SECONDS
        while self.dependencies.processes.alive(process):
            if clock.monotonic() > until:
                return True
            await clock.sleep(0.05)
        return False

    async def _look_for_due(self) -> None:
        """Check conditions that depend on time: cooldowns, limits, and free disk space."""
        while True:
            await asyncio.sleep(DUE_LOOK)
            self.stopper.write_late()
            for agent in self.fleet:
                if self.triggers.may_become_due(agent) and not self.engine.is_driving(agent):
                    self.spawn(self.watch.consider(agent))

    async def _drive_handoffs(self) -> None:
        while True:
            await asyncio.sleep(HANDOFFS_LOOK)
            for agent in self.fleet:
                if self.locks.is_held(agent.name):
                    continue
                if agent.must_reconsider and (agent.alive or agent.handoff is not None):
                    self.spawn(self.watch.consider(agent))
                elif agent.handoff is not None:
                    self.spawn(self._drive(agent))

    async def _drive(self, agent: Agent) -> None:
        await self.engine.look(agent)

    async def _save_counts(self) -> None:
        while True:
            await asyncio.sleep(SAVE_READINGS)
            with contextlib.suppress(Hindered):  # reported the next time
                self._report_damaged()
            for agent in self.fleet:
                if agent.alive:
                    with contextlib.suppress(Hindered):  # saved the next time
                        self.sessions.save_counts(agent)

    # Status

    def status(self) -> Status:
        """Return the current status of the supervisor and all agents."""
        config, named = self.fleet.read_last
        return Status(
            supervisor=SupervisorStatus(
                pid=os.getpid(),
                started_at=rfc3339(self._started),
                version=__version__,
                config=str(config) if config else None,
                config_named=named,
                trouble=self.disk_monitor.trouble or self.loops.trouble,
            ),
            agents=self.publisher.rows(),
            held=self._held(),
        )

    def _held(self) -> list[HeldSetting]:
        loaded = self.fleet.loaded
        return [
            HeldSetting(
                file=str(one.file), line=one.line, key=one.key, reason=one.reason, agent=one.agent
            )
            for one in (loaded.held if loaded else ())
        ]

    def _now(self) -> float:
        return self.dependencies.clock.now().timestamp()

"""The supervisor: builds and starts its components, and restores the earlier state.

Each component is described in its own file.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from cockpit import __version__
from cockpit.adapters.hooks.spool import Spool
from cockpit.config.hooks import Notifications
from cockpit.core.errors import OsProblem
from cockpit.core.timestamps import rfc3339
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import EventRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.compaction_points import CompactionPoints
from cockpit.supervisor.agents.daily_costs import DailyCosts
from cockpit.supervisor.agents.damaged_rows import DamagedRows
from cockpit.supervisor.agents.dialogs import Dialogs
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.api.callers import Callers
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff import draft_permission
from cockpit.supervisor.handoff.documents import DocumentBuilder
from cockpit.supervisor.handoff.elsewhere_document import ElsewhereDocuments
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.handoff.first_turns import FirstTurnsCheck
from cockpit.supervisor.handoff.hook_decisions import HookDecisions
from cockpit.supervisor.handoff.open_handoffs import OpenHandoffs
from cockpit.supervisor.handoff.triggers import Triggers
from cockpit.supervisor.history.chains import History
from cockpit.supervisor.history.commit_refs import CommitRefs
from cockpit.supervisor.history.context_history import ContextHistory
from cockpit.supervisor.history.lookups import Lookups
from cockpit.supervisor.history.retention import Retention
from cockpit.supervisor.history.search_index import SearchIndex
from cockpit.supervisor.history.session_facts import SessionFacts
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
from cockpit.supervisor.process_ends import ProcessEnds
from cockpit.supervisor.reactions import Reactions
from cockpit.supervisor.restoration import Restoration
from cockpit.supervisor.sessions.adopt_elsewhere import Adoption
from cockpit.supervisor.sessions.automatic_starts import AutomaticStarts
from cockpit.supervisor.sessions.continuation import Continuation
from cockpit.supervisor.sessions.elsewhere import OtherSessions
from cockpit.supervisor.sessions.first_prompts import FirstPrompts
from cockpit.supervisor.sessions.interruptions import note_shutdown
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.neighbours import Neighbours
from cockpit.supervisor.sessions.plan import Planner
from cockpit.supervisor.sessions.reopen import Reopening
from cockpit.supervisor.sessions.repair import Repair
from cockpit.supervisor.sessions.resume import Resumer
from cockpit.supervisor.sessions.setup import WorktreeSetup
from cockpit.supervisor.sessions.start import Starter
from cockpit.supervisor.sessions.stop import Stopper
from cockpit.supervisor.sessions.undo import Undo
from cockpit.supervisor.sessions.worktrees import AgentWorktrees
from cockpit.supervisor.view.elsewhere import ElsewhereRows
from cockpit.supervisor.view.kept_rows import KeptRows
from cockpit.supervisor.view.publisher import RowPublisher
from cockpit.wire.status import HeldSetting, Status, SupervisorStatus

HANDOFFS_LOOK = 0.25
"""Seconds between two observations of a handoff, unless something changes earlier."""
DUE_LOOK = 2.0
"""Seconds between two checks whether a handoff is due because of elapsed time."""
SAVE_READINGS = 30.0
"""Seconds between two saves of tokens and cost."""

_log = logging.getLogger(__name__)

QUIET_BEFORE_COMPACTION = 0.3
"""Seconds without a change of the transcript, after which the facts are saved before a compaction.
The CLI delays the compaction meanwhile."""
LONGEST_READ = 1.5
"""Maximum seconds for reading the transcript before a compaction."""


class Supervisor:
    """The supervisor of one state folder. Agents keep running after `close`."""

    def __init__(self, dependencies: Dependencies, spool: Spool) -> None:
        self.dependencies = dependencies
        self.event_log = dependencies.event_log
        self.fleet = Fleet(dependencies, lambda name: self.locks.is_held_elsewhere(name))
        self.callers = Callers(dependencies, self.fleet)
        self.publisher = RowPublisher(
            dependencies.clock,
            self.event_log,
            lambda: list(self.fleet),
            dependencies.own_runtimes.successors,
        )
        self.daily_costs = DailyCosts(dependencies, self._day_budget)
        self.sessions = Sessions(
            dependencies,
            lambda: self.fleet,
            self._process_ended,
            daily_costs=self.daily_costs,
            prologue=lambda *session: self.hooks.before_session(*session),
            transcript_begins=lambda: self.watch.transcripts.wake(),
        )
        self._kept_rows = KeptRows(dependencies.places.last_rows, dependencies.clock)
        self.locks = self.sessions.locks
        self.engine = Engine(dependencies, self.sessions, lambda: self.fleet, self._handoff_changed)
        self.triggers = Triggers(
            dependencies,
            self.engine,
            lambda agent: self.hook_decisions.begin(agent, self.spawn),
        )
        document_builder = DocumentBuilder(dependencies, self.sessions)
        self.compactions = Compactions(dependencies, self.engine, document_builder)
        self.supplements = Supplements(dependencies, document_builder)
        self.dialogs = Dialogs(dependencies.store)
        self.reactions = Reactions(
            locks=self.locks,
            publisher=self.publisher,
            dialogs=self.dialogs,
            compactions=self.compactions,
            points=CompactionPoints(dependencies.store),
            first_turns=FirstTurnsCheck(dependencies),
            daily_costs=self.daily_costs,
            supplements=self.supplements,
            engine=self.engine,
            triggers=self.triggers,
        )
        self.watch = Watch(
            dependencies,
            self.sessions,
            lambda: self.fleet,
            spool.take,
            self.reactions.on_change,
            compacts=lambda agent: self.spawn(self._save_facts(agent)),
            compacted=self._compacted,
        )
        self.search_index = SearchIndex(dependencies)
        self.worktree_monitor = WorktreeMonitor(dependencies, self.fleet, self.publisher.changed)
        self.disk_monitor = DiskMonitor(dependencies, self.fleet, self.publisher.changed)
        self.retention = Retention(dependencies, self.fleet)
        self.context_history = ContextHistory(dependencies)
        self._spool = spool
        self._started = dependencies.clock.now().timestamp()
        self._instance = secrets.token_hex(16)
        self._tasks: set[asyncio.Task[Any]] = set()
        self.loops = Loops()
        self.setup = WorktreeSetup(
            dependencies, self.publisher.changed, self.sessions.orders.environment, self.locks
        )
        self._build_outbound()
        self.life = Lifetime()
        self.history = History(dependencies, self.fleet, self.search_index)
        self.session_facts = SessionFacts(dependencies, self.engine.facts)
        self.lookups = Lookups(dependencies, self.context_history)
        self._build_sessions()
        self._damaged_rows = DamagedRows(dependencies, self.fleet, self.publisher.changed)
        self._process_ends = ProcessEnds(
            dependencies=dependencies,
            fleet=self.fleet,
            sessions=self.sessions,
            watch=self.watch,
            dialogs=self.dialogs,
            engine=self.engine,
            reconsider=lambda agent: self.spawn(self.reactions.on_change(agent)),
            changed=self.publisher.changed,
        )
        open_handoffs = OpenHandoffs(
            dependencies, self.fleet, self.engine, self.publisher.changed, self.spawn
        )
        self._restoration = Restoration(
            dependencies=dependencies,
            fleet=self.fleet,
            sessions=self.sessions,
            setup=self.setup,
            watch=self.watch,
            dialogs=self.dialogs,
            open_handoffs=open_handoffs,
            damaged_rows=self._damaged_rows,
        )

    def _build_sessions(self) -> None:
        """Build the components that start, adopt, reopen and end sessions, and undo handoffs."""
        parts, fleet, sessions = self.dependencies, self.fleet, self.sessions
        changed = self.publisher.changed
        self.worktrees = AgentWorktrees(parts, fleet, self.locks, changed, self.publisher.state_of)
        reopening = Reopening(parts, fleet, sessions)
        self.neighbours = Neighbours(parts, fleet, sessions.leases, self.worktrees.being_removed)
        self.starter = Starter(
            dependencies=parts,
            fleet=fleet,
            sessions=sessions,
            setup=self.setup,
            reopening=reopening,
            neighbours=self.neighbours,
        )
        self.automatic_starts = AutomaticStarts(
            parts, fleet, sessions, self.setup, self.starter, changed
        )
        self.first_prompts = FirstPrompts(parts, lambda: self.fleet, self.locks, changed)
        self.planner = Planner(parts, fleet, self.starter, self.neighbours)
        self.continuation = Continuation(parts, fleet, self.locks, self.starter)
        others = OtherSessions(parts, fleet)
        self.adoption = Adoption(parts, fleet, sessions, self.starter, self.neighbours, others)
        self.elsewhere_watch = ElsewhereWatch(parts, fleet, others)
        self.elsewhere_documents = ElsewhereDocuments(parts, fleet, sessions, others)
        self.elsewhere = ElsewhereRows(parts, fleet, others, self.elsewhere_watch.is_watched)
        self.resumer = Resumer(parts, fleet, sessions, self.starter, changed)
        self.stopper = Stopper(parts, fleet, sessions)
        self.undo = Undo(parts, fleet, sessions, reopening, changed)
        self.repair = Repair(parts, fleet, sessions, self.undo)

    def _build_outbound(self) -> None:
        """Build the components that react to events, such as hooks and notifications."""
        parts, find = self.dependencies, self.fleet.find
        self.outbox = Outbox(parts, find, self._notice_urls, self.spawn)
        self.hooks = Hooks(parts, find, self.publisher.changed, self.spawn, self.outbox.post)
        self.hook_decisions = HookDecisions(parts, self.engine, self.triggers, self.hooks)
        self.attention = Attention(parts, lambda: self.fleet)
        self.publication = Publication(parts, self.publisher.changed, self.spawn)
        self.commit_refs = CommitRefs(parts, self.spawn)
        self.notifications = NotificationSender(parts, self.outbox, find, self._notifications)
        self.event_log.also = self._dispatch

    def _notifications(self) -> Notifications | None:
        loaded = self.fleet.loaded
        return loaded.settings.notifications if loaded is not None else None

    def _day_budget(self) -> float:
        loaded = self.fleet.loaded
        return loaded.settings.limits.cost_per_day if loaded is not None else 0.0

    def _notice_urls(self) -> tuple[str, ...]:
        wanted = self._notifications()
        return wanted.urls if wanted is not None else ()

    def _dispatch(self, record: EventRecord) -> None:
        """Pass an event to the components that react to events.

        An error in a component is only logged, so that the event is still stored. Raises
        `OsProblem` on a disk error: then the event is not stored.
        """
        find = self.fleet.find
        try:
            self.hooks.handle(record)
            self.notifications.handle(record)
            self.publication.handle(record, find(record.agent or ""))
            self.commit_refs.handle(record, find(record.agent or ""))
        except OsProblem:
            raise
        except Exception:  # noqa: BLE001 - the event must not be lost
            _log.exception("reacting to the event %s failed", record.kind)

    # Start and shutdown

    async def restore(self, config: Path | None, *, named: bool, again: bool = False) -> None:
        """Restore what the previous supervisor left, and read the configuration.

        With `again`, the user named the file for the previous supervisor, not for this one. Raises
        `BadConfig` for an invalid configuration, before any agent is changed.
        """
        await self.hooks.sweep()
        self.fleet.remember()
        await self.fleet.reload(config, named=named, again=again)
        await self._restoration.restore()

    def run(self) -> None:
        """Start all tasks. Must be called on the event loop that serves requests."""
        stop_watching = self._spool.on_change(self.watch.reports.reported)
        self._closing = contextlib.ExitStack()
        self._closing.callback(stop_watching)
        for name, loop in {
            "sending rows": self.publisher.run,
            "reading hooks": self.watch.reports.follow,
            "reading transcripts": self.watch.transcripts.follow,
            "reading the CLIs' status files": self.watch.status_files.follow,
            "pasting first prompts": self.first_prompts.run,
            "driving handoffs": self._advance_handoffs,
            "checking for due handoffs": self._check_timed,
            "saving counts": self._save_counts,
            "checking which agents need you": self.attention.run,
            "sending messages": self.outbox.run,
            "keeping transcripts": self.retention.run,
            "checking worktrees": self.worktree_monitor.run,
            "checking disks": self.disk_monitor.run,
            "watching sessions elsewhere": self.elsewhere_watch.run,
            "indexing documents": self.search_index.run,
        }.items():
            self.spawn(self.loops.run(name, loop))
        self.publication.resume(self.fleet)
        self.spawn(self._consider_all())
        self.watch.reports.reported()

    async def _consider_all(self) -> None:
        """Check every running agent once at the start: an idle agent's handoff may be due."""
        for agent in self.fleet:
            if agent.alive:
                await self.watch.consider(agent)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work in a task. An exception in the task is only logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._spawned_ended)

    def _spawned_ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (bug := task.exception()) is not None:
            _log.error("a task of the supervisor failed", exc_info=bug)

    async def close(self) -> None:
        """Stop all tasks, and save the counts and the rows. Agents keep running."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.setup.close()
        await self.hooks.close()
        await self.outbox.close()
        for agent in self.fleet:
            self.sessions.unwatch(agent)
            with contextlib.suppress(OsProblem):  # the transcript has the same data
                self.sessions.save_counts(agent)
        with contextlib.suppress(OsProblem):
            note_shutdown(self.dependencies, self.fleet)
        self._kept_rows.keep(self.publisher.rows())
        self._closing.close()
        self.event_log.close()
        self.publisher.close()

    # Reactions

    async def _save_facts(self, agent: Agent) -> None:
        """Save the facts of a session, including its last reply, before an announced compaction."""
        if agent.session_state.compaction.held:
            await self.watch.transcripts.read_until_quiet(
                agent, QUIET_BEFORE_COMPACTION, LONGEST_READ
            )
        await self.compactions.save_facts(agent)

    def _compacted(self, agent: Agent) -> None:
        """Record a compaction, and allow the events, hooks and handoffs of all bands again."""
        self.compactions.record_compaction(agent)
        self.triggers.rearm(agent)

    def _handoff_changed(self, agent: Agent) -> None:
        with contextlib.suppress(OsProblem, OSError):  # retried at the next change
            draft_permission.update(agent)
        self.publisher.changed(agent)

    def _process_ended(self, agent: Agent, process: ProcessId | None) -> None:
        """Handle the end of a process; `process` is None if it ended before it was identified."""
        self.spawn(self._process_ends.handle(agent, process, agent.record.run))

    async def _check_timed(self) -> None:
        """Check whether elapsed time makes a handoff due, and save stops that are not saved yet."""
        while True:
            await asyncio.sleep(DUE_LOOK)
            self.stopper.write_late()
            for agent in self.fleet:
                if self.triggers.may_become_due(agent) and not self.engine.is_driving(agent):
                    self.spawn(self.watch.consider(agent))

    async def _advance_handoffs(self) -> None:
        while True:
            await asyncio.sleep(HANDOFFS_LOOK)
            for agent in self.fleet:
                if self.locks.is_held(agent.name):
                    continue
                if agent.must_reconsider and (agent.alive or agent.handoff is not None):
                    self.spawn(self.watch.consider(agent))
                elif agent.handoff is not None:
                    self.spawn(self.engine.look(agent))

    async def _save_counts(self) -> None:
        while True:
            await asyncio.sleep(SAVE_READINGS)
            with contextlib.suppress(OsProblem):  # reported at the next check
                self._damaged_rows.report()
                self.daily_costs.check()  # the budget may have been lowered
            for agent in self.fleet:
                if agent.alive:
                    with contextlib.suppress(OsProblem):  # saved at the next call
                        self.sessions.save_counts(agent)
            self._kept_rows.keep(self.publisher.rows())

    # Status

    def status(self) -> Status:
        """Return the current status of the supervisor and all agents."""
        config, named = self.fleet.read_last
        return Status(
            supervisor=SupervisorStatus(
                pid=os.getpid(),
                started_at=rfc3339(self._started),
                version=__version__,
                instance=self._instance,
                config=str(config) if config else None,
                config_named=named,
                trouble=self.disk_monitor.trouble or self.loops.trouble,
                spent_today_usd=self.daily_costs.today,
                budget_today_usd=self.daily_costs.budget,
            ),
            agents=self.publisher.rows(),
            held=self._held(),
        )

    def _held(self) -> list[HeldSetting]:
        loaded = self.fleet.loaded
        return [
            HeldSetting(
                file=str(setting.file),
                line=setting.line,
                key=setting.key,
                reason=setting.reason,
                agent=setting.agent,
            )
            for setting in (loaded.held if loaded else ())
        ]

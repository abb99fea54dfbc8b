"""The supervisor itself: its parts put together, taken up where the last one left off, and run.

Reads as a table of contents. What a part does is in the part; what starts the parts and in which
order is here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit import __version__
from cockpit.adapters.hooks.spool import Spool
from cockpit.config.hooks import Notifications
from cockpit.core.errors import CockpitError, Hindered
from cockpit.core.ids import AgentName, PaneId
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Pane, PanesSilent
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import EventRecord, HandoffRecord
from cockpit.supervisor.agents.agent import Agent, Exit
from cockpit.supervisor.agents.compaction_points import CompactionPoints
from cockpit.supervisor.agents.dialogs import Dialogs
from cockpit.supervisor.agents.exit_reason import without_panes
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.agents.predicates import finished
from cockpit.supervisor.api.callers import Callers
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.events import rfc3339
from cockpit.supervisor.handoff import draft_permission
from cockpit.supervisor.handoff.documents import DocumentBuilder
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
from cockpit.supervisor.observe.attention import Attention
from cockpit.supervisor.observe.compaction import Compactions
from cockpit.supervisor.observe.disk_monitor import DiskMonitor
from cockpit.supervisor.observe.supplements import Supplements
from cockpit.supervisor.observe.watch import Watch
from cockpit.supervisor.observe.worktree_monitor import WorktreeMonitor
from cockpit.supervisor.outbound.hooks import Hooks
from cockpit.supervisor.outbound.notifications import NotificationSender
from cockpit.supervisor.outbound.outbox import Outbox
from cockpit.supervisor.outbound.publication import Publication
from cockpit.supervisor.sessions.adopt import adopt_unknown, regain, say_unknown
from cockpit.supervisor.sessions.continuation import Continuation
from cockpit.supervisor.sessions.interruptions import (
    ended_with_server,
    find_interrupted,
    note_interrupted,
    note_shutdown,
)
from cockpit.supervisor.sessions.lifecycle import Sessions
from cockpit.supervisor.sessions.plan import Planner
from cockpit.supervisor.sessions.reattach import find
from cockpit.supervisor.sessions.reopen import Reopening
from cockpit.supervisor.sessions.repair import Repair
from cockpit.supervisor.sessions.resume import Resumer
from cockpit.supervisor.sessions.setup import WorktreeSetup
from cockpit.supervisor.sessions.start import Starter
from cockpit.supervisor.sessions.stop import Stopper
from cockpit.supervisor.sessions.undo import Undo
from cockpit.supervisor.sessions.worktrees import AgentWorktrees
from cockpit.supervisor.view.publisher import RowPublisher
from cockpit.wire.status import HeldSetting, Status, SupervisorStatus

HANDOFFS_LOOK = 0.25
"""Seconds between two looks of a handoff at the world, when nothing calls it earlier."""
DUE_LOOK = 2.0
"""Seconds between two looks at whether a handoff has become due by time alone."""
SAVE_READINGS = 30.0
TAKE_UP_SECONDS = 10.0
"""Given to the records of all agents at the start; what is left is read while others are served."""
LAST_LOOK_SECONDS = 5.0
"""Given to the end of the record of an agent that ended."""
ASKS, ASK_AGAIN = 4, 0.5
"""How often tmux is asked for its panes at the start, and seconds between."""

_log = logging.getLogger(__name__)


class Supervisor:
    """One for each state folder; ends agents only when told to."""

    def __init__(self, dependencies: Dependencies, spool: Spool) -> None:
        self.dependencies = dependencies
        self.event_log = dependencies.event_log
        self.fleet = Fleet(dependencies)
        self.callers = Callers(dependencies, self.fleet)
        self.publisher = RowPublisher(dependencies.clock, self.event_log, lambda: list(self.fleet))
        self.sessions = Sessions(dependencies, self._process_ended)
        self.locks = self.sessions.locks
        self.fleet.is_busy = self.locks.is_held_elsewhere
        self.engine = Engine(dependencies, self.sessions, lambda: self.fleet, self._handoff_changed)
        self.triggers = Triggers(dependencies, self.engine)
        self.points = CompactionPoints(dependencies.store)
        document_builder = DocumentBuilder(dependencies, self.sessions)
        self.compactions = Compactions(dependencies, self.engine, document_builder)
        self.supplements = Supplements(dependencies, document_builder)
        self.watch = Watch(
            dependencies, self.sessions, lambda: self.fleet, spool.take, self._news, self._compacted
        )
        self.watch.compacts = lambda agent: self.spawn(self.compactions.seal(agent))
        self.search_index = SearchIndex(dependencies)
        self.dialogs = Dialogs(dependencies.store)
        self.worktree_monitor = WorktreeMonitor(dependencies, self.fleet, self.publisher.changed)
        self.disk_monitor = DiskMonitor(dependencies, self.fleet, self.publisher.changed)
        self.retention = Retention(dependencies, self.fleet)
        self.context_history = ContextHistory(dependencies)
        self._spool = spool
        self._damaged_told = 0
        self._started = dependencies.clock.now().timestamp()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.preparing = WorktreeSetup(
            dependencies, self.publisher.changed, self.sessions.environment, self.locks
        )
        self._listen_for_hooks()
        self.life = Lifetime()
        self.history = History(dependencies, self.fleet, self.search_index, self.engine.facts)
        self.lookups = Lookups(dependencies, self.context_history)
        self._build_sessions()

    def _build_sessions(self) -> None:
        """What starts, ends and takes back sessions for a user."""
        parts, fleet, sessions = self.dependencies, self.fleet, self.sessions
        changed = self.publisher.changed
        self.worktrees = AgentWorktrees(parts, fleet, self.locks, changed, self.publisher.state_of)
        reopening = Reopening(parts, fleet, sessions)
        self.starter = Starter(
            dependencies=parts,
            fleet=fleet,
            sessions=sessions,
            setup=self.preparing,
            reopening=reopening,
            removal_above=self.worktrees.removal_above,
            changed=changed,
        )
        self.planner = Planner(parts, fleet, self.starter)
        self.continuation = Continuation(parts, fleet, self.locks, self.starter)
        self.resumer = Resumer(parts, fleet, sessions, self.starter, changed)
        self.stopper = Stopper(parts, fleet, sessions, self.attention.has_told_of_end)
        self.undo = Undo(parts, fleet, sessions, reopening, changed)
        self.repair = Repair(parts, fleet, sessions, self.undo)

    def _listen_for_hooks(self) -> None:
        """What is to be run and sent hangs on the events, and in three places before them."""
        parts, find = self.dependencies, self.fleet.find
        self.outbox = Outbox(parts, find, self._notice_urls, self.spawn)
        self.hooks = Hooks(parts, find, self.publisher.changed, self.spawn, self.outbox.post)
        self.deciding = HookDecisions(parts, self.engine, self.triggers, self.hooks)
        self.attention = Attention(parts, lambda: self.fleet)
        self.publication = Publication(parts, self.publisher.changed, self.spawn)
        self.keeping = CommitRefs(parts, self.spawn)
        self.notices = NotificationSender(parts, self.outbox, find, self._notifications)
        self.sessions.prologue = self.hooks.before_session
        self.triggers.ask_hooks = lambda agent: self.deciding.begin(agent, self.spawn)
        self.event_log.also = self._heard

    def _notifications(self) -> Notifications | None:
        loaded = self.fleet.loaded
        return loaded.settings.notifications if loaded is not None else None

    def _notice_urls(self) -> tuple[str, ...]:
        wanted = self._notifications()
        return wanted.urls if wanted is not None else ()

    def _heard(self, record: EventRecord) -> None:
        """An event is being written down; no trouble of a hook may keep it from being so."""
        find = self.fleet.find
        try:
            self.hooks.heard(record)
            self.notices.heard(record)
            self.publication.heard(record, find(record.agent or ""))
            self.keeping.heard(record, find(record.agent or ""))
        except Hindered:
            raise
        except Exception:  # noqa: BLE001 - the one place around what hooks are told
            _log.exception("hooks did not hear of %s", record.kind)

    # Life

    async def take_up(self, config: Path | None, *, named: bool, again: bool = False) -> None:
        """Come back to what an earlier supervisor left, then read the configuration.

        With `again` the configuration was named to that supervisor, and not to this one.

        Configuration that does not read is refused (`BadConfig`) before anything is touched.
        """
        await self.hooks.sweep()
        self.fleet.remember()
        await self.fleet.reload(config, named=named, again=again)
        panes = {str(key): pane for key, pane in (await self._panes()).items()}
        unknown = adopt_unknown(self.dependencies, self.fleet, panes.values())
        await rebuild(self.dependencies, self.fleet.folders())
        swapping = {record.agent for record in self.dependencies.store.open_handoffs()}
        for agent in self.fleet:
            found = await find(self.dependencies, self.sessions, agent, panes)
            self.dialogs.recall(agent)
            astray = not found and (agent.name not in swapping or agent.record.session is None)
            if astray and regain(self.dependencies, self.sessions, agent, panes.values()):
                if agent in unknown:
                    say_unknown(self.dependencies, agent)
                continue
            self._tell_found(agent, found, swapping=agent.name in swapping)
        self.watch.hear_once()
        clock = self.dependencies.clock
        until = clock.monotonic() + TAKE_UP_SECONDS
        for agent in self.fleet:
            await self.watch.read_to_end(agent, until - clock.monotonic())
        flown = any(self.fleet.find(pane.label) for pane in panes.values())
        find_interrupted(self.dependencies, self.fleet, panes=flown)
        self._drop_prompts(swapping)
        self._resume_handoffs()
        self._tell_damaged()

    def _drop_prompts(self, swapping: set[AgentName]) -> None:
        """Remove the prompts of sessions that ended, and of starts that were called off."""
        kept: set[str] = set()
        for agent in self.fleet:
            if agent.record.run and (agent.alive or agent.name in swapping):
                kept.add(agent.record.run)
            if agent.record.job and self.preparing.cut_off(agent) is not None:
                kept.add(agent.record.job)
        self.dependencies.prompts.sweep(kept)

    async def _panes(self) -> dict[PaneId, Pane]:
        """Every pane. A multiplexer that is silent is asked again, then raises `PanesSilent`."""
        panes = self.dependencies.panes
        for _ in range(ASKS - 1):
            with contextlib.suppress(PanesSilent, Hindered, OSError):
                await panes.start_server()
                return await panes.look()
            await asyncio.sleep(ASK_AGAIN)
        await panes.start_server()
        return await panes.look()

    def _tell_found(self, agent: Agent, found: bool, *, swapping: bool) -> None:
        if found:
            self.event_log.record("agent.found", f"{agent.name} is still running", agent.name)
        elif agent.record.wanted and agent.record.session is not None:
            over = agent.session.ended if agent.session else None
            agent.exit = Exit(over or self._now(), recorded=agent.record.ending)
            if not swapping and agent.record.ending is None:
                self.sessions.finish(agent)
                self.event_log.record(
                    "agent.exited",
                    f"{agent.name} ended while no supervisor was running",
                    agent.name,
                )

    def _named_by(self, ident: str) -> Agent | None:
        """The agent whose row names this job or session."""
        held = (agent for agent in self.fleet if ident in (agent.record.job, agent.record.session))
        return next(held, None)

    def _tell_damaged(self) -> None:
        """Say which stored rows could not be read; on the row of whose they were, too."""
        store = self.dependencies.store
        for damaged in store.rows_put_aside[self._damaged_told :]:
            self._damaged_told += 1
            agent = self.fleet.find(damaged.agent) or self._named_by(damaged.id)
            words = (
                f"a record of it was damaged on disk and put aside ({damaged.table} "
                f"{damaged.id[:8]}, {damaged.why}); the rest is kept. Check the disk of "
                f"{self.dependencies.places.database}"
            )
            self.event_log.record(
                "store.row_put_aside",
                safe_line(f"{damaged.agent or 'cockpit'}: {words}", 400),
                agent.name if agent is not None else None,
            )
            if agent is not None:
                store.save_agent(agent.change(gave_up=safe_line(words, 300)))
                self.publisher.changed(agent)

    def _resume_handoffs(self) -> None:
        """Put open handoffs back on their agents, and go on with them beside.

        Beside, because ending a deaf agent takes seconds; no trouble of one stops the start. They
        are on their agents before anybody is answered, so that no request overlooks them.
        """
        found = self.dependencies.store.open_handoffs()
        for agent in self.fleet:
            if agent.name not in {record.agent for record in found}:
                draft_permission.settle(agent)
        for record in found:
            held = self.fleet.find(record.agent)
            if held is not None and self._recalled(held, record):
                self.spawn(self._resume_handoff(held))

    def _recalled(self, agent: Agent, record: HandoffRecord) -> bool:
        try:
            self.engine.recall(agent, record)
        except ValueError as wrong:
            self.event_log.record(
                "handoff.not_understood",
                f"A handoff of {agent.name} cannot be taken up: {wrong}",
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
            agent.troubles.watching = str(refused)
            self.publisher.changed(agent)

    def run(self) -> None:
        """Start watching. Must be called on the event loop that serves."""
        stop_watching = self._spool.on_change(self.watch.reported)
        self._closing = contextlib.ExitStack()
        self._closing.callback(stop_watching)
        for work in (
            self.publisher.run(),
            self.watch.hear(),
            self.watch.read(),
            self.watch.note(),
            self._drive_handoffs(),
            self._look_for_due(),
            self._keep_readings(),
            self.attention.run(),
            self.outbox.run(),
            self.retention.run(),
            self.worktree_monitor.run(),
            self.disk_monitor.run(),
        ):
            self.spawn(work)
        self.publication.take_up(self.fleet)
        self.spawn(self._consider_everybody())
        self.spawn(self.search_index.run())
        self.watch.reported()

    async def _consider_everybody(self) -> None:
        """Once, at the start: an idle agent gives no news, and something may be due even so."""
        for agent in self.fleet:
            if agent.alive:
                await self.watch.consider(agent)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside; a bug in it is logged, and ends nothing else."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._spawned_ended)

    def _spawned_ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (bug := task.exception()) is not None:
            _log.error("a task of the supervisor failed", exc_info=bug)

    async def close(self) -> None:
        """Stop watching; every agent goes on."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.preparing.close()
        await self.hooks.close()
        await self.outbox.close()
        for agent in self.fleet:
            self.sessions.unwatch(agent)
            with contextlib.suppress(Hindered):  # its record has the same
                self.sessions.keep(agent)
        with contextlib.suppress(Hindered):
            note_shutdown(self.dependencies, self.fleet)
        self._closing.close()
        self.event_log.close()
        self.publisher.close()

    # What follows from what is seen

    async def _news(self, agent: Agent) -> None:
        """Something about this agent is new; looked at later where another task has the agent."""
        agent.must_reconsider = True
        if self.locks.is_held_elsewhere(agent.name):
            self.publisher.changed(agent)
            return
        async with self.locks.hold(agent.name, "being looked at"):
            # What becomes known from here on is looked at once more.
            agent.must_reconsider = False
            try:
                await self._consider(agent)
            except BaseException:
                agent.must_reconsider = True
                raise
        self.publisher.changed(agent)

    async def _consider(self, agent: Agent) -> None:
        self.dialogs.settle(agent)
        self.compactions.hold(agent)
        self.points.consider(agent)
        await self.compactions.settle(agent)
        await self.supplements.consider(agent)
        if agent.handoff is not None:
            await self.engine.look(agent)
        await self.triggers.consider(agent)

    def _compacted(self, agent: Agent) -> None:
        """The CLI compacted first: told, and everything may alarm again."""
        self.compactions.took_place(agent)
        self.triggers.rearm(agent)

    def _handoff_changed(self, agent: Agent) -> None:
        with contextlib.suppress(Hindered, OSError):  # tried again with the next change
            draft_permission.settle(agent)
        self.publisher.changed(agent)

    def _process_ended(self, agent: Agent, process: ProcessId | None) -> None:
        """`process` is None for one that ended before it was identified."""
        self.spawn(self._take_end(agent, process, agent.record.run))

    async def _take_end(self, agent: Agent, process: ProcessId | None, run: str | None) -> None:
        """An agent's process is gone: learn how, and record it; a handoff sees it by itself."""
        if agent.process != process or agent.record.run != run:
            return
        swapping = agent.handoff is not None
        agent.exit = Exit(self._now())
        async with self.locks.hold(agent.name, "ended, and its end is being recorded"):
            if agent.process == process and agent.record.run == run:
                await self._record_end(agent, swapping=swapping)
        await self._forget_lost_panes()
        if agent.handoff is not None:
            await self.engine.look(agent)

    async def _record_end(self, agent: Agent, *, swapping: bool) -> None:
        """Write down how the agent's process ended; the caller holds the agent's lock."""
        known = await self.sessions.find_exit(agent)
        for other in self.watch.hear_once():
            if other is not agent:
                self.spawn(self._news(other))
        await self.watch.read_to_end(agent, LAST_LOOK_SECONDS)
        agent.exit = known
        self.dialogs.settle(agent)
        if agent.record.wanted and ended_with_server(known):
            note_interrupted(self.dependencies, agent, "terminal")
        if not swapping and agent.handoff is None:
            self.sessions.finish(agent)
            ending = f"{known}. {known.last_lines}".strip()
            failed = (
                known.abnormal and not agent.session_state.replied and agent.runtime.has_readings
            )
            gave_up = f"it {ending} Try again: cockpit start {agent.name}" if failed else None
            self.dependencies.store.save_agent(agent.change(ending=ending, gave_up=gave_up))
            self.event_log.record(
                "agent.exited",
                f"{agent.name} {known}. {known.last_lines}",
                agent.name,
                status=known.status,
                signal=known.signal,
                completed=finished(agent) or not agent.runtime.has_readings,
                told=self.attention.has_told_of_end(agent),
            )
        self.publisher.changed(agent)

    async def _forget_lost_panes(self) -> None:
        """A row names no pane that is not there."""
        for agent in await without_panes(self.dependencies, self.fleet):
            if self.locks.is_held(agent.name):
                continue  # it may be given another pane now; looked at when the next one ends
            with contextlib.suppress(Hindered):  # looked at again when the next one ends
                self.dependencies.store.save_agent(agent.change(pane=None))
            self.publisher.changed(agent)

    async def _look_for_due(self) -> None:
        """Rests and limits run out, and a disk has room again, without any news of the agent."""
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

    async def _keep_readings(self) -> None:
        while True:
            await asyncio.sleep(SAVE_READINGS)
            with contextlib.suppress(Hindered):  # told the next time
                self._tell_damaged()
            for agent in self.fleet:
                if agent.alive:
                    with contextlib.suppress(Hindered):  # kept the next time
                        self.sessions.keep(agent)

    # What is told

    def status(self) -> Status:
        """Everything, now."""
        config, named = self.fleet.read_last
        return Status(
            supervisor=SupervisorStatus(
                pid=os.getpid(),
                started_at=rfc3339(self._started),
                version=__version__,
                config=str(config) if config else None,
                config_named=named,
                trouble=self.disk_monitor.trouble,
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

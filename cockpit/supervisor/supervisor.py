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
from cockpit.adapters.spool import Spool
from cockpit.config.hooks import Notifications
from cockpit.core.errors import CockpitError, Hindered
from cockpit.core.ids import PaneId
from cockpit.ports.panes import Pane, PanesSilent
from cockpit.ports.processes import ProcessId
from cockpit.ports.records import EventRecord, HandoffRecord
from cockpit.supervisor.attention import Attention
from cockpit.supervisor.board import Board
from cockpit.supervisor.compactions import Compactions
from cockpit.supervisor.courses import Courses
from cockpit.supervisor.deciding import Deciding
from cockpit.supervisor.dialogs import Dialogs
from cockpit.supervisor.endings import without_panes
from cockpit.supervisor.engine import Engine
from cockpit.supervisor.feed import rfc3339
from cockpit.supervisor.finding import find
from cockpit.supervisor.fleet import Fleet
from cockpit.supervisor.hooks import Hooks
from cockpit.supervisor.indexing import Indexing
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.keeping import Keeping
from cockpit.supervisor.notices import Notices
from cockpit.supervisor.outbox import Outbox
from cockpit.supervisor.paperwork import Paperwork
from cockpit.supervisor.preparing import Preparing
from cockpit.supervisor.publishing import Publishing
from cockpit.supervisor.rebuilding import rebuild
from cockpit.supervisor.regaining import regain, say_unknown, seat_unknown
from cockpit.supervisor.retention import Retention
from cockpit.supervisor.rows import finished
from cockpit.supervisor.seat import Exit, Seat
from cockpit.supervisor.sessions import Sessions
from cockpit.supervisor.supplements import Supplements
from cockpit.supervisor.triggers import Triggers
from cockpit.supervisor.vanishing import Vanishing
from cockpit.supervisor.watch import Watch
from cockpit.wire.status import HeldSetting, Status, SupervisorStatus

HANDOFFS_LOOK = 0.25
"""Seconds between two looks of a handoff at the world, when nothing calls it earlier."""
DUE_LOOK = 2.0
"""Seconds between two looks at whether a handoff has become due by time alone."""
SAVE_READINGS = 30.0
ASKS, ASK_AGAIN = 4, 0.5
"""How often tmux is asked for its panes at the start, and seconds between."""

_log = logging.getLogger(__name__)


class Supervisor:
    """One for each state folder; ends agents only when told to."""

    def __init__(self, instruments: Instruments, spool: Spool) -> None:
        self.instruments = instruments
        self.feed = instruments.feed
        self.fleet = Fleet(instruments)
        self.board = Board(instruments.clock, self.feed, lambda: list(self.fleet))
        self.sessions = Sessions(instruments, self._process_ended)
        self.engine = Engine(instruments, self.sessions, lambda: self.fleet, self._handoff_changed)
        self.triggers = Triggers(instruments, self.engine)
        self.compactions = Compactions(instruments, self.engine)
        self.supplements = Supplements(instruments, Paperwork(instruments, self.sessions))
        self.watch = Watch(
            instruments, self.sessions, lambda: self.fleet, spool.take, self._news, self._compacted
        )
        self.indexing = Indexing(instruments)
        self.dialogs = Dialogs(instruments.store)
        self.vanishing = Vanishing(instruments, self.fleet, self.board.changed)
        self.retention = Retention(instruments, self.fleet)
        self.courses = Courses(instruments)
        self._spool = spool
        self._started = instruments.clock.now().timestamp()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.preparing = Preparing(instruments, self.board.changed, self.sessions.environment)
        self._listen_for_hooks()
        self.ended = asyncio.Event()
        """Set when the supervisor was told to end."""

    def _listen_for_hooks(self) -> None:
        """What is to be run and sent hangs on the events, and in three places before them."""
        parts, find = self.instruments, self.fleet.find
        self.outbox = Outbox(parts, find, self._notice_urls, self.spawn)
        self.hooks = Hooks(parts, find, self.board.changed, self.spawn, self.outbox.post)
        self.deciding = Deciding(parts, self.engine, self.triggers, self.hooks)
        self.attention = Attention(parts, lambda: self.fleet)
        self.publishing = Publishing(parts, self.board.changed, self.spawn)
        self.keeping = Keeping(parts, self.spawn)
        self.notices = Notices(parts, self.outbox, find, self._notifications)
        self.sessions.prologue = self.hooks.before_session
        self.triggers.ask_hooks = lambda seat: self.deciding.begin(seat, self.spawn)
        self.feed.also = self._heard

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
            self.publishing.heard(record, find(record.agent or ""))
            self.keeping.heard(record, find(record.agent or ""))
        except Hindered:
            raise
        except Exception:  # noqa: BLE001 - the one place around what hooks are told
            _log.exception("hooks did not hear of %s", record.kind)

    # Life

    async def take_up(self, config: Path | None, *, named: bool) -> None:
        """Come back to what an earlier supervisor left, then read the configuration.

        Configuration that does not read is refused (`BadConfig`) before anything is touched.
        """
        await self.hooks.sweep()
        self.fleet.remember()
        self.fleet.load(config, named=named)
        panes = {str(key): pane for key, pane in (await self._panes()).items()}
        unknown = seat_unknown(self.instruments, self.fleet, panes.values())
        await rebuild(self.instruments, self.fleet.folders())
        swapping = {record.agent for record in self.instruments.store.open_handoffs()}
        for seat in self.fleet:
            found = await find(self.instruments, self.sessions, seat, panes)
            self.dialogs.recall(seat)
            if not found and regain(self.instruments, self.sessions, seat, panes.values()):
                if seat in unknown:
                    say_unknown(self.instruments, seat)
                continue
            self._tell_found(seat, found, swapping=seat.name in swapping)
        self.watch.hear_once()
        for seat in self.fleet:
            while seat.sitting.tail is not None and self.watch.read_once(seat):
                pass
        self._resume_handoffs()

    async def _panes(self) -> dict[PaneId, Pane]:
        """Every pane. A multiplexer that is silent is asked again, then raises `PanesSilent`."""
        panes = self.instruments.panes
        for _ in range(ASKS - 1):
            with contextlib.suppress(PanesSilent, Hindered, OSError):
                await panes.start_server()
                return await panes.look()
            await asyncio.sleep(ASK_AGAIN)
        await panes.start_server()
        return await panes.look()

    def _tell_found(self, seat: Seat, found: bool, *, swapping: bool) -> None:
        if found:
            self.feed.tell("agent.found", f"{seat.name} is alive and watched again", seat.name)
        elif seat.record.wanted and seat.record.session is not None:
            over = seat.session.ended if seat.session else None
            seat.exit = Exit(over or self._now(), told=seat.record.ending)
            if not swapping and seat.record.ending is None:
                self.sessions.finish(seat)
                self.feed.tell("agent.exited", f"{seat.name} ended while nobody watched", seat.name)

    def _resume_handoffs(self) -> None:
        """Beside, because ending a deaf agent takes seconds; no trouble of one stops the start."""
        found = self.instruments.store.open_handoffs()
        for seat in self.fleet:
            if seat.name not in {record.agent for record in found}:
                self.compactions.hold(seat)
        for record in found:
            if (open_one := self.fleet.find(record.agent)) is not None:
                self.spawn(self._resume_handoff(open_one, record))

    async def _resume_handoff(self, seat: Seat, record: HandoffRecord) -> None:
        try:
            await self.engine.resume(seat, record)
        except ValueError as wrong:
            self.feed.tell(
                "handoff.not_understood",
                f"A handoff of {seat.name} cannot be taken up: {wrong}",
                seat.name,
            )
            ended = replace(record, ended=self._now(), outcome="failed", why=str(wrong))
            self.instruments.store.save_handoff(ended)
        except (CockpitError, OSError) as refused:
            seat.trouble = str(refused)
            self.board.changed(seat)

    def run(self) -> None:
        """Start watching. Must be called on the event loop that serves."""
        stop_watching = self._spool.on_change(self.watch.reported)
        self._closing = contextlib.ExitStack()
        self._closing.callback(stop_watching)
        for work in (
            self.board.run(),
            self.watch.hear(),
            self.watch.read(),
            self.watch.note(),
            self._drive_handoffs(),
            self._look_for_due(),
            self._keep_readings(),
            self.attention.run(),
            self.outbox.run(),
            self.retention.run(),
            self.vanishing.run(),
        ):
            self.spawn(work)
        self.publishing.take_up(self.fleet)
        self.spawn(self._consider_everybody())
        self.spawn(self.indexing.run())
        self.watch.reported()

    async def _consider_everybody(self) -> None:
        """Once, at the start: an idle agent gives no news, and something may be due even so."""
        for seat in self.fleet:
            if seat.alive:
                await self.watch.consider(seat)

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
        for seat in self.fleet:
            self.sessions.unwatch(seat)
            self.sessions.keep(seat)
        self._closing.close()
        self.feed.close()
        self.board.close()

    # What follows from what is seen

    async def _news(self, seat: Seat) -> None:
        """Something about this seat is new."""
        seat.unconsidered = True
        self.dialogs.settle(seat)
        await self.compactions.settle(seat)
        await self.supplements.consider(seat)
        if seat.handoff is not None:
            await self.engine.look(seat)
        await self.triggers.consider(seat)
        seat.unconsidered = False
        self.board.changed(seat)

    def _compacted(self, seat: Seat) -> None:
        """The CLI compacted first: told, and everything may alarm again."""
        self.compactions.took_place(seat)
        self.triggers.rearm(seat)

    def _handoff_changed(self, seat: Seat) -> None:
        with contextlib.suppress(Hindered, OSError):  # tried again with the next change
            self.compactions.hold(seat)
        self.board.changed(seat)

    def _process_ended(self, seat: Seat, process: ProcessId) -> None:
        self.spawn(self._take_end(seat, process))

    async def _take_end(self, seat: Seat, process: ProcessId) -> None:
        """An agent's process is gone: learn how, and tell; a handoff sees it by itself."""
        if seat.process != process:
            return
        swapping = seat.handoff is not None
        seat.exit = Exit(self._now())
        known = await self.sessions.how_it_ended(seat)
        for other in self.watch.hear_once():
            if other is not seat:
                self.spawn(self._news(other))
        self.watch.read_once(seat)
        if seat.process != process:
            return  # another one was started in the meantime
        seat.exit = known
        self.dialogs.settle(seat)
        if not swapping:
            self.sessions.finish(seat)
            ending = f"{known}. {known.words}".strip()
            failed = known.abnormal and not seat.sitting.replied and seat.runtime.has_readings
            gave_up = f"it {ending} Try again: cockpit start {seat.name}" if failed else None
            self.instruments.store.save_seat(seat.change(ending=ending, gave_up=gave_up))
            self.feed.tell(
                "agent.exited",
                f"{seat.name} {known}. {known.words}",
                seat.name,
                status=known.status,
                signal=known.signal,
                completed=finished(seat) or not seat.runtime.has_readings,
                told=self.attention.has_told_of_end(seat),
            )
        self.board.changed(seat)
        await self._forget_lost_panes()
        if seat.handoff is not None:
            await self.engine.look(seat)

    async def _forget_lost_panes(self) -> None:
        """A row names no pane that is not there."""
        for seat in await without_panes(self.instruments, self.fleet):
            with contextlib.suppress(Hindered):  # looked at again when the next one ends
                self.instruments.store.save_seat(seat.change(pane=None))
            self.board.changed(seat)

    async def _look_for_due(self) -> None:
        """Rests and limits run out without any news of the agent."""
        while True:
            await asyncio.sleep(DUE_LOOK)
            for seat in self.fleet:
                if self.triggers.may_become_due(seat) and not self.engine.is_driving(seat):
                    self.spawn(self.watch.consider(seat))

    async def _drive_handoffs(self) -> None:
        while True:
            await asyncio.sleep(HANDOFFS_LOOK)
            for seat in self.fleet:
                if seat.handoff is not None and not self.engine.is_driving(seat):
                    self.spawn(self._drive(seat))
                elif seat.unconsidered and seat.alive and not self.engine.is_driving(seat):
                    self.spawn(self.watch.consider(seat))

    async def _drive(self, seat: Seat) -> None:
        await self.engine.look(seat)

    async def _keep_readings(self) -> None:
        while True:
            await asyncio.sleep(SAVE_READINGS)
            for seat in self.fleet:
                if seat.alive:
                    with contextlib.suppress(Hindered):  # kept the next time
                        self.sessions.keep(seat)

    # What is told

    def status(self) -> Status:
        """Everything, now."""
        return Status(
            supervisor=SupervisorStatus(
                pid=os.getpid(), started_at=rfc3339(self._started), version=__version__
            ),
            agents=self.board.rows(),
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
        return self.instruments.clock.now().timestamp()

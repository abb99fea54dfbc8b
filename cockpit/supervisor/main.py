"""The supervisor's process: one per state folder, in the foreground.

Takes the lock, builds the dependencies, restores the state, and serves requests on the socket.
Agents run in the tmux server and keep running when this process ends.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import logging.handlers
import os
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from io import TextIOWrapper
from pathlib import Path

import uvicorn

from cockpit.adapters.agents import runtime
from cockpit.adapters.agents.joined_sessions import JoinedSessions
from cockpit.adapters.agents.live_readers import live_readers
from cockpit.adapters.agents.own.definitions import KEPT, Definitions
from cockpit.adapters.clock import SystemClock
from cockpit.adapters.documents.files import Documents
from cockpit.adapters.git.scratch import prune_scratch
from cockpit.adapters.git.worktrees import Git
from cockpit.adapters.hooks.spool import Spool
from cockpit.adapters.process.daemon_threads import DaemonThreads
from cockpit.adapters.process.descriptors import raise_limit
from cockpit.adapters.process.processes import LocalProcesses
from cockpit.adapters.store.store import Store
from cockpit.adapters.tmux.panes import Tmux
from cockpit.config.paths import Places
from cockpit.core.errors import NotNow
from cockpit.core.events import Plain
from cockpit.supervisor.agents.continuation_settings import continuation_settings
from cockpit.supervisor.agents.environment import agent_environment
from cockpit.supervisor.api.listener import log_once
from cockpit.supervisor.api.routes import application
from cockpit.supervisor.api.server import server
from cockpit.supervisor.api.socket import SocketWatch
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.events import EventLog
from cockpit.supervisor.serving import performers, served
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.verbs import Down

_log = logging.getLogger(__name__)

SCREEN_SECONDS = 0.25
"""Maximum seconds to wait for a screen to connect, before agents are started."""
LOG_BYTES = 2_000_000
LOGS_KEPT = 3


def run(
    places: Places,
    config: Path | None,
    world: Callable[[Places], Dependencies] | None = None,
    *,
    named: bool = True,
    again: bool = False,
) -> int:
    """Run the supervisor until it is stopped. Return the exit code.

    Raises `NotNow` if another supervisor has the lock of the state folder. Raises `BadConfig`
    before any agent is changed. `named`: the user named the file `config`; otherwise cockpit found
    it. `again`: the user named the file for an earlier supervisor. Without `named`, or with
    `again`, only the trusted part of the file is used. `world` builds different dependencies, to
    inject faults in tests.
    """
    places.make()
    with take_lock(places.lease):
        _log_to(places.logs / "supervisor.log")
        raise_limit()
        return asyncio.run(_serve(places, config, (world or dependencies)(places), named, again))


def end_agents(places: Places) -> str:
    """End every agent and the tmux server while no supervisor is running. Return a message.

    Finds agents as a restarted supervisor does. Raises `NotNow` if a supervisor is running, and
    `Failed` if an agent's process cannot be ended.
    """
    places.make()
    with take_lock(places.lease):
        _log_to(places.logs / "supervisor.log")
        return asyncio.run(_end_agents(places))


async def _end_agents(places: Places) -> str:
    parts = dependencies(places)
    supervisor = Supervisor(parts, Spool(places.spool))
    try:
        await supervisor.restore(None, named=False)
        supervisor.run()
        try:
            return (await performers(supervisor)[Down](Down(agents=True))).message
        finally:
            await supervisor.close()
    finally:
        parts.store.close()


def take_lock(path: Path) -> ExitStack:
    """Hold the supervisor's lock until the stack is closed or the process ends.

    Locks both the file and its folder: if only the file were locked and somebody deleted it,
    another supervisor could create and lock a new file. Raises `NotNow` with the holder's pid.
    """
    with ExitStack() as held:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        held.callback(os.close, folder)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            held.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotNow(
                f"A supervisor is already running (pid {_holder(path)})",
                f"Only one supervisor can use a state folder: {path.parent}",
                "To check the supervisor: cockpit status. To stop the supervisor: cockpit down",
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, b"%d\n" % os.getpid(), 0)
        return held.pop_all()


def _holder(path: Path) -> str:
    """Return the pid in the lock file, or `unknown`."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.read(handle, 20).decode("ascii", "replace").strip() or "unknown"
        finally:
            os.close(handle)
    return "unknown"


def dependencies(places: Places) -> Dependencies:
    """Open the database, and return the supervisor's dependencies.

    Deletes the temporary folders that git calls of a killed supervisor left.
    """
    clock = SystemClock()
    parts = assembled(places, clock)
    parts.store.open()
    clock.epoch = parts.store.boot_epoch(clock.boot(), clock.epoch)
    prune_scratch(places.runtime / "git")
    return parts


def assembled(places: Places, clock: SystemClock) -> Dependencies:
    """Return the supervisor's dependencies. Reads and writes no files."""
    environment = agent_environment(os.environ)
    processes = LocalProcesses()
    store = Store(places.database)
    own = Definitions(places.state / KEPT)
    return Dependencies(
        places=places,
        store=store,
        event_log=EventLog(store, clock),
        clock=clock,
        panes=Tmux(places.tmux_socket, places.tmux_config, environment, processes=processes),
        processes=processes,
        worktrees=Git(environment, clock=clock, private=places.runtime / "git"),
        documents=Documents(places.handoffs),
        runtimes=lambda name: runtime(name, places.state, own),
        own_runtimes=own,
        environment=environment,
        live_sessions=JoinedSessions(lambda: live_readers(environment, places.state)),
    )


async def _serve(
    places: Places, config: Path | None, parts: Dependencies, named: bool, again: bool
) -> int:
    loop = asyncio.get_running_loop()
    loop.set_default_executor(DaemonThreads())
    loop.set_exception_handler(log_once)
    supervisor = Supervisor(parts, Spool(places.spool))
    if parts.store.put_aside is not None:
        parts.event_log.record(
            Plain("store.put_aside"),
            f"Cannot read the database; it was moved to {parts.store.put_aside}",
        )
    try:
        await supervisor.restore(config, named=named and config is not None, again=again)
        await supervisor.repair.reconcile()
        for agent in supervisor.fleet:
            _log.info("%s", continuation_settings(agent.settings))
        serving = server(application(served(supervisor)))
        watch = SocketWatch(
            places, supervisor.event_log, serving, supervisor.disk_monitor.set_unreachable
        )
        listener = watch.bind()
        try:
            await _answer(supervisor, serving, listener, watch)
        finally:
            watch.close()
    finally:
        parts.store.close()
    return 0


async def _answer(
    supervisor: Supervisor, serving: uvicorn.Server, listener: socket.socket, watch: SocketWatch
) -> None:
    """Watch agents and serve requests until a verb or a signal ends the supervisor."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, supervisor.life.ended.set)
    supervisor.run()
    task = loop.create_task(serving._serve(sockets=[listener]))
    # Starting an agent loads libtmux and runs git. A screen that was started together with this
    # process is waiting for its first rows, so send these rows first.
    await supervisor.publisher.followed(within=SCREEN_SECONDS)
    await supervisor.automatic_starts.run()
    await supervisor.resumer.resume_automatic()
    supervisor.spawn(supervisor.loops.run("watching the socket", watch.run))
    ended = loop.create_task(supervisor.life.ended.wait())
    await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
    await supervisor.close()
    serving.should_exit = True
    await task


class PrivateLog(logging.handlers.RotatingFileHandler):
    """A log file of mode 0600, independent of the umask."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore errors of the log file: the screen shows when the disk is full."""

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.fdopen(os.open(self.baseFilename, flags, 0o600), "a", encoding="utf-8")


def _record(text: str) -> logging.LogRecord:
    return logging.LogRecord(__name__, logging.WARNING, __file__, 0, text, None, None)


def _log_to(path: Path) -> None:
    handler: logging.Handler
    try:
        handler = PrivateLog(path, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8")
    except OSError as refused:
        handler = logging.StreamHandler()
        handler.emit(_record(f"Cannot write {path}: {refused.strerror}"))
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)

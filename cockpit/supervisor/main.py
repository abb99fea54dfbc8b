"""The supervisor's process: one for each state folder, in the foreground until told to end.

Takes the lock, builds the world, comes back to what was, and answers on the socket. Agents are
never ended here: they live in the tmux server, and go on when this process does not.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import logging.handlers
import os
import signal
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path

from cockpit.adapters.agents import runtime
from cockpit.adapters.clock import SystemClock
from cockpit.adapters.documents import Documents
from cockpit.adapters.git import Git
from cockpit.adapters.processes import LocalProcesses
from cockpit.adapters.spool import Spool
from cockpit.adapters.store.store import Store
from cockpit.adapters.tmux import Tmux
from cockpit.config.paths import Places
from cockpit.core.errors import NotNow
from cockpit.supervisor import starting
from cockpit.supervisor.environment import supervisors_own
from cockpit.supervisor.feed import Feed
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.server import application, bind, server
from cockpit.supervisor.supervisor import Supervisor
from cockpit.supervisor.undoing import finish_undos

LOG_BYTES = 2_000_000
LOGS_KEPT = 3


def run(
    places: Places,
    config: Path | None,
    world: Callable[[Places], Instruments] | None = None,
    *,
    named: bool = True,
) -> int:
    """Be the supervisor until told to end; answers the exit code.

    Raises `NotNow` when another one holds the state folder, and `BadConfig` before anything was
    touched. A `config` that was found and not `named` counts as far as it is trusted. `world` puts
    another world together than the real one; `make faults` has one that breaks.
    """
    places.make()
    lock = take_lock(places.lease)
    try:
        _log_to(places.logs / "supervisor.log")
        return asyncio.run(_serve(places, config, named, (world or instruments)(places)))
    finally:
        os.close(lock)


def take_lock(path: Path) -> int:
    """Hold the supervisor's lock for as long as the descriptor is open; the kernel frees it.

    Raises `NotNow` with the holder's pid.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(handle)
        raise NotNow(
            f"A supervisor is running already (pid {holder})",
            f"It holds {path}; one state folder has one supervisor.",
            "Use it: cockpit status. Or end it: cockpit down",
        ) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, b"%d\n" % os.getpid(), 0)
    return handle


def instruments(places: Places) -> Instruments:
    """The real world, put together."""
    environment = supervisors_own(os.environ)
    clock = SystemClock()
    processes = LocalProcesses()
    store = Store(places.database)
    clock.epoch = store.boot_epoch(clock.boot(), clock.epoch)
    return Instruments(
        places=places,
        store=store,
        feed=Feed(store, clock),
        clock=clock,
        panes=Tmux(places.tmux_socket, places.tmux_config, environment, processes=processes),
        processes=processes,
        worktrees=Git(environment, clock=clock),
        documents=Documents(places.handoffs),
        runtimes=lambda name: runtime(name, places.state),
        environment=environment,
    )


async def _serve(places: Places, config: Path | None, named: bool, parts: Instruments) -> int:
    supervisor = Supervisor(parts, Spool(places.spool))
    if parts.store.put_aside is not None:
        parts.feed.tell(
            "store.put_aside",
            f"The database could not be read; it was moved to {parts.store.put_aside}",
        )
    try:
        await supervisor.take_up(config, named=named and config is not None)
        await finish_undos(supervisor)
        listener = bind(places.socket)
        try:
            await _answer(supervisor, listener)
        finally:
            listener.close()
            places.socket.unlink(missing_ok=True)
    finally:
        parts.store.close()
    return 0


async def _answer(supervisor: Supervisor, listener: object) -> None:
    """Watch and serve until a verb or a signal says that it is over."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, supervisor.ended.set)
    supervisor.run()
    serving = server(application(supervisor))
    task = loop.create_task(serving._serve(sockets=[listener]))  # type: ignore[list-item]
    await starting.start_automatic(supervisor)
    ended = loop.create_task(supervisor.ended.wait())
    await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
    await supervisor.close()
    serving.should_exit = True
    await task


class PrivateLog(logging.handlers.RotatingFileHandler):
    """A log of mode 0600 whatever the umask: that one is the agents', and stays the pilot's."""

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.fdopen(os.open(self.baseFilename, flags, 0o600), "a", encoding="utf-8")


def _log_to(path: Path) -> None:
    handler = PrivateLog(path, maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)

"""Start, find and end the private tmux server.

The server's pid and identity are in a file beside the socket. If the socket is lost while the
server is running, the server is asked to create the socket again.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cockpit.adapters.files.private_file import write_private
from cockpit.adapters.process.processes import LocalProcesses
from cockpit.adapters.tmux.command import NoSession, ServerGone, TmuxCommand, check_version
from cockpit.adapters.tmux.config import SESSION, write_configuration
from cockpit.adapters.tmux.return_keys import KEYS_OPTION, bindings, store
from cockpit.adapters.tmux.window_options import HOME_WINDOW
from cockpit.core.errors import CockpitError, Failed, OsProblem
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import PanesSilent
from cockpit.ports.processes import ProcessId

if TYPE_CHECKING:
    from cockpit.adapters.tmux.lifecycle import Lifecycle

T = TypeVar("T")

HOME_OPTION = "@cockpit_home"
EMPTY, OPEN = "empty", "open"
"""Values of `HOME_OPTION`: whether a screen was ever started in the home window. The first process
in the window is a placeholder that exits immediately. Until tmux notices this, the window looks as
if a screen is running in it."""

PID = ["display-message", "-p", "#{pid}"]
NEW_SESSION = (
    ["new-session", "-d", "-s", SESSION, "-n", SESSION, "--", "true"],
    ["set-option", "-p", "-t", f"={SESSION}:{HOME_WINDOW}", HOME_OPTION, EMPTY],
)
"""The commands that create the session and its home window. The window's placeholder process exits
at once."""


class TmuxServer:
    """The private tmux server on one socket."""

    def __init__(self, command: TmuxCommand, processes: LocalProcesses) -> None:
        self.command = command
        self.processes = processes
        self.record = command.socket.with_name(command.socket.name + ".pid")
        self._starting = asyncio.Lock()
        self._loading = asyncio.Lock()
        self._lifecycle: Lifecycle | None = None

    async def start(self) -> tuple[int, bool]:
        """Start the server and create the session if they do not exist. Return the server's pid,
        and whether this call started the server."""
        async with self._starting:
            known = await self.pid()
            if known is not None:
                await self._ensure_session()
                return known, False
            return await self._start(), True

    async def pid(self) -> int | None:
        """Return the server's pid; None if the server has ended. Raises `PanesSilent`."""
        try:
            lines = await self.ask(PID)
        except ServerGone:
            return None
        return int(lines[0])

    async def ask(self, *commands: list[str], stdin: bytes = b"") -> list[str]:
        """Run commands in sequence. If the server is running without its socket, the server creates
        a new socket first.

        Raises `ServerGone` only if no process is listening and the recorded process has ended.
        """
        return await self._with_socket(lambda: self.command.run(*commands, stdin=stdin))

    async def act(self, step: Callable[[Lifecycle], T]) -> T:
        """Run a `Lifecycle` operation on a thread. Raises as `ask` and `lifecycle` do."""
        lifecycle = await self.lifecycle()
        return await self._with_socket(lambda: asyncio.to_thread(step, lifecycle))

    async def lifecycle(self) -> Lifecycle:
        """Return the `Lifecycle` of this server; loads it at the first call.

        Raises `OsProblem` if libtmux cannot be loaded, for example after cockpit was removed or
        updated while the supervisor is running.
        """
        async with self._loading:
            if self._lifecycle is None:
                self._lifecycle = await asyncio.to_thread(self._load)
        return self._lifecycle

    def _load(self) -> Lifecycle:
        try:
            from cockpit.adapters.tmux.lifecycle import Lifecycle
        except Exception as error:  # an installation that is being updated fails in many ways
            raise OsProblem(
                "Cannot load libtmux",
                safe_line(str(error), 300),
                "Install cockpit again, then restart the supervisor: cockpit restart",
            ) from error
        return Lifecycle(self.command)

    async def _with_socket(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            return await call()
        except ServerGone:
            if not await self._socket_recreated():
                raise
        return await call()

    async def bind_return_keys(self, keys: Sequence[str]) -> None:
        """Bind the keys that go back from a pane, now and for servers that start later.

        `keys` are canonical names. Raises `PanesSilent`, and `OSError` if they cannot be stored.
        """
        await asyncio.to_thread(store, self.command.config, keys)
        try:
            bound = await self.ask(["show-options", "-gqv", KEYS_OPTION])
            text = bindings(keys, " ".join(bound).split() or ["F12", "C-F12"])
            await self.ask(["source-file", "-"], stdin=text.encode())
        except ServerGone:
            return  # a server that starts later reads the stored keys

    async def collect(self, server: int | None = None) -> None:
        """Make the server reap ended children: tmux up to 3.5 misses up to 65% of them."""
        identity = self._recorded()
        if identity is None and server is not None:
            identity = self.processes.identify(server)
        if identity is not None:
            self.processes.signal(identity, signal.SIGCHLD)

    async def stop(self, patience: float = 3.0) -> None:
        """End the server, wait for the end of its process, and remove its socket.

        Idempotent. Raises `Failed` if the process does not end.
        """
        identity = self._recorded()
        if identity is None:
            with suppress(PanesSilent):
                pid = await self.pid()
                identity = self.processes.identify(pid) if pid else None
        with suppress(CockpitError):
            await self.command.run(["kill-server"])
        if identity is not None and not await self.processes.wait_for_end(identity, patience):
            ending = await self.processes.end(identity, "", patience=patience)
            if not ending.gone:
                raise Failed(
                    "The tmux server did not end",
                    f"Process {identity.pid} is still running.",
                    hint=f"To end the process: kill -9 {identity.pid}",
                )
        for path in (self.command.socket, self.record, self._lock()):
            with suppress(FileNotFoundError):
                path.unlink()

    async def _start(self) -> int:
        await asyncio.to_thread(check_version, self.command.program, self.command.environment)
        self._prepare()
        try:
            lines = await self.command.run(["start-server"], *NEW_SESSION, PID, start=True)
        except Failed as error:
            # Another process started the server at the same moment.
            if "duplicate session" not in error.detail:
                raise
            lines = await self.command.run(PID)
        pid = int(lines[-1])
        identity = self.processes.identify(pid)
        if identity is not None:
            self._remember(identity)
        return pid

    async def _ensure_session(self) -> None:
        try:
            await self.command.run(["has-session", "-t", f"={SESSION}"])
            return
        except NoSession:
            pass
        try:
            await self.act(lambda lifecycle: lifecycle.restore_session(*NEW_SESSION))
        except Failed as error:
            # Another process restored the session at the same moment.
            if "duplicate session" not in error.detail:
                raise

    def _prepare(self) -> None:
        folder = self.command.socket.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            entry = folder.lstat()
        except OSError as error:
            raise Failed(
                f"Cannot create {folder}",
                str(error.strerror),
                hint="Check the permissions of the folder above it.",
            ) from error
        if entry.st_uid != os.geteuid():
            raise Failed(
                f"{folder} belongs to another user",
                "That user could replace the socket.",
                hint="Remove the folder, or ask that user to remove it.",
            )
        write_configuration(self.command.config)

    async def _socket_recreated(self) -> bool:
        """Make the running server create its socket again; return False if the server has ended.

        Raises `PanesSilent` if the server does not create a socket in time.
        """
        identity = self._recorded()
        if identity is None or not self.processes.alive(identity):
            return False
        end = time.monotonic() + self.command.deadline
        while self.processes.alive(identity):
            self.processes.signal(identity, signal.SIGUSR1)
            await asyncio.sleep(0.05)
            with suppress(ServerGone):
                await self.command.run(PID)
                return True
            if time.monotonic() > end:
                raise PanesSilent(
                    "The tmux server has lost its socket",
                    f"Process {identity.pid} is running, but does not create a new socket.",
                )
        return False

    def _remember(self, identity: ProcessId) -> None:
        note = {"pid": identity.pid, "started": identity.started, "boot": identity.boot}
        write_private(self.record, json.dumps(note).encode())

    def _recorded(self) -> ProcessId | None:
        try:
            note = json.loads(self.record.read_text())
            return ProcessId(int(note["pid"]), int(note["started"]), str(note["boot"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _lock(self) -> Path:
        return self.command.socket.with_name(self.command.socket.name + ".lock")

"""The private tmux server as a process: started, found again, proved gone, ended.

Its pid and identity stand in a file beside the socket, so that a lost socket is not mistaken for
a lost server: then the living one is asked to make its socket anew. Knows nothing of panes.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.private_file import write_private
from cockpit.adapters.processes import LocalProcesses
from cockpit.adapters.tmux_command import (
    NoSession,
    ServerGone,
    TmuxCommand,
    check_version,
)
from cockpit.adapters.tmux_config import HOME_WINDOW, SESSION, write_configuration
from cockpit.core.errors import CockpitError, Failed
from cockpit.ports.panes import PanesSilent
from cockpit.ports.processes import ProcessId

HOME_OPTION = "@cockpit_home"
EMPTY, OPEN = "empty", "open"
"""Whether a screen was ever started in the home window. Its first process is none: it ends at once,
and until tmux has noticed that, the window looks as if something ran there."""


class TmuxServer:
    """One server on one socket."""

    def __init__(self, command: TmuxCommand, processes: LocalProcesses) -> None:
        self.command = command
        self.processes = processes
        self.record = command.socket.with_name(command.socket.name + ".pid")
        self._starting = asyncio.Lock()

    async def start(self) -> tuple[int, bool]:
        """Make sure that server and session are there; its pid, and whether it is a new one."""
        async with self._starting:
            known = await self.pid()
            if known is not None:
                await self._ensure_session()
                return known, False
            return await self._start(), True

    async def pid(self) -> int | None:
        """The server's pid; None if it is known to be gone. Raises `PanesSilent`."""
        try:
            lines = await self.ask(["display-message", "-p", "#{pid}"])
        except ServerGone:
            return None
        return int(lines[0])

    async def ask(self, *commands: list[str], stdin: bytes = b"") -> list[str]:
        """Run a chain. A server that lives without its socket is given a new one first.

        Raises `ServerGone` only when nobody listens and the recorded process is gone too.
        """
        try:
            return await self.command.run(*commands, stdin=stdin)
        except ServerGone:
            if not await self._revived():
                raise
        return await self.command.run(*commands, stdin=stdin)

    async def collect(self, server: int | None = None) -> None:
        """Remind the server of children whose end it missed (tmux up to 3.5 loses up to 65 %)."""
        identity = self._recorded()
        if identity is None and server is not None:
            identity = self.processes.identify(server)
        if identity is not None:
            self.processes.signal(identity, signal.SIGCHLD)

    async def stop(self, patience: float = 3.0) -> None:
        """End the server, prove it gone, remove its socket. Twice is the same as once."""
        identity = self._recorded()
        if identity is None:
            with suppress(PanesSilent):
                pid = await self.pid()
                identity = self.processes.identify(pid) if pid else None
        with suppress(CockpitError):
            await self.command.run(["kill-server"])
        if identity is not None and not await self.processes.gone(identity, patience):
            ending = await self.processes.end(identity, "", patience=patience)
            if not ending.gone:
                raise Failed("The tmux server does not end", f"Process {identity.pid} still runs.")
        for path in (self.command.socket, self.record, self._lock()):
            with suppress(FileNotFoundError):
                path.unlink()

    async def _start(self) -> int:
        await asyncio.to_thread(check_version, self.command.program, self.command.environment)
        self._prepare()
        lines = await self.command.run(
            ["start-server"], ["display-message", "-p", "#{pid}"], start=True
        )
        pid = int(lines[-1])
        await self._ensure_session()
        identity = self.processes.identify(pid)
        if identity is not None:
            self._remember(identity)
        return pid

    async def _ensure_session(self) -> None:
        try:
            await self.command.run(["has-session", "-t", f"={SESSION}"])
        except NoSession:
            await self._restore_session()

    async def _restore_session(self) -> None:
        """Make the session again: beside the pilots that still look at its windows, if any."""
        try:
            groups = await self.command.run(
                [
                    "list-sessions",
                    "-f",
                    f"#{{==:#{{session_group}},{SESSION}}}",
                    "-F",
                    "#{session_id}",
                ]
            )
        except NoSession:
            groups = []
        beside = [["new-session", "-d", "-s", SESSION, "-t", SESSION]]
        try:
            await self.command.run(*(beside if groups else self._new_session()))
        except Failed as error:
            # Somebody else who starts at this very moment was quicker.
            if "duplicate session" not in error.detail:
                raise

    def _new_session(self) -> list[list[str]]:
        """The home window first: an ended process until somebody opens the screen in it."""
        home = f"={SESSION}:{HOME_WINDOW}"
        return [
            ["new-session", "-d", "-s", SESSION, "-n", SESSION, "--", "true"],
            ["set-option", "-p", "-t", home, HOME_OPTION, EMPTY],
        ]

    def _prepare(self) -> None:
        folder = self.command.socket.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            entry = folder.lstat()
        except OSError as error:
            raise Failed(f"Cannot make {folder}", str(error.strerror)) from error
        if entry.st_uid != os.geteuid():
            raise Failed(f"{folder} belongs to somebody else", "A socket there would be theirs.")
        write_configuration(self.command.config)

    async def _revived(self) -> bool:
        """Whether the recorded server lives and has a socket again."""
        identity = self._recorded()
        if identity is None or not self.processes.alive(identity):
            return False
        end = time.monotonic() + self.command.deadline
        while self.processes.alive(identity):
            self.processes.signal(identity, signal.SIGUSR1)
            await asyncio.sleep(0.05)
            with suppress(ServerGone):
                await self.command.run(["display-message", "-p", "#{pid}"])
                return True
            if time.monotonic() > end:
                raise PanesSilent(
                    "The tmux server has lost its socket",
                    f"Process {identity.pid} lives and does not make a new one.",
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

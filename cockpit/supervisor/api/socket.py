"""The supervisor's socket: bound at the start, and again if it was removed or replaced.

Without its socket a supervisor keeps watching and handing off, but receives no commands. So every
`LOOK` seconds the file at the path is compared with the bound socket (one `lstat`). A file, a
symlink or a dead socket at the path is replaced. A socket on which another process listens is kept,
because two supervisors that share the folder would otherwise replace each other's socket again and
again. The supervisor reports the other process, and binds its own socket once that process has
ended.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from cockpit.adapters.process.peers import peer_of
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError
from cockpit.core.events import Plain
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.blocked import reason_of
from cockpit.supervisor.api.listener import Listener, bind
from cockpit.supervisor.api.server import accept_on
from cockpit.supervisor.events import EventLog

LOOK = 5.0
"""Seconds between two checks of the socket's path."""
_NO_LISTENER = {errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR, errno.ELOOP}
_log = logging.getLogger(__name__)


class SocketWatch:
    """Binds the socket of one supervisor and keeps it reachable."""

    def __init__(
        self,
        places: Places,
        event_log: EventLog,
        serving: uvicorn.Server,
        set_trouble: Callable[[str | None], None],
    ) -> None:
        """`set_trouble` receives the reason why the socket is unreachable; None if reachable."""
        self._places = places
        self._event_log = event_log
        self._serving = serving
        self._set_trouble = set_trouble
        self._trouble: str | None = None
        self._listener: Listener | None = None
        self._bound: os.stat_result | None = None

    def bind(self) -> Listener:
        """Bind the socket; replace whatever is at the path. Raises `Failed`."""
        self._listener, self._bound = self._bind()
        return self._listener

    def _bind(self) -> tuple[Listener, os.stat_result]:
        listener = bind(self._places.socket)
        try:
            return listener, self._places.socket.lstat()
        except OSError:
            listener.close()
            raise

    def close(self) -> None:
        """Stop listening.

        Removes the socket from the path, unless another socket has replaced it.
        """
        ours = self._is_ours()
        if self._listener is not None:
            self._listener.close()
        if ours:
            self._places.socket.unlink(missing_ok=True)

    async def run(self) -> None:
        """Check the socket, until cancelled."""
        while True:
            await asyncio.sleep(LOOK)
            await self.look()

    async def look(self) -> None:
        """Bind the socket again if it is no longer at its path. Idempotent.

        If another process listens on a socket at the path, only reports that process.
        """
        path = self._places.socket
        if self._is_ours() or not self._serving.started:
            self._set_state(None)
            return
        holder = _listening_process(path)
        if holder == os.getpid():  # a link to our moved socket
            self._set_state(None)
        elif holder is not None:
            process, end = (f"process {holder}", f"kill {holder}") if holder else ("a process", "")
            remedy = (
                f"End that process{f' ({end})' if end else ''}, or use another COCKPIT_HOME for one"
            )
            self._set_state(f"{process} listens on {path}. {remedy} of the two processes")
        else:
            await self._bind_again(_what_happened(path))

    async def _bind_again(self, was: str) -> None:
        path = self._places.socket
        try:
            self._places.make_runtime()
            listener, bound = self._bind()
            try:
                await accept_on(self._serving, listener)
            except BaseException:
                listener.close()
                raise
        except (CockpitError, OSError) as refused:
            why = reason_of(refused).rstrip(".")
            self._set_state(f"it was {was} and cannot be bound again: {why}")
            return
        self._listener, self._bound = listener, bound
        _log.warning("%s was %s; bound again", path, was)
        self._event_log.record(
            Plain("socket.bound_again"),
            f"The supervisor's socket was {was}; it was bound again: {path}",
        )
        self._set_state(None)

    def _is_ours(self) -> bool:
        with suppress(OSError):
            entry = self._places.socket.lstat()
            return self._bound is not None and os.path.samestat(entry, self._bound)
        return False

    def _set_state(self, why: str | None) -> None:
        """Set the problem, and record it once; None clears the problem."""
        if why is not None:
            why = f"the supervisor's socket is unreachable: {safe_line(why, 400)}; retrying"
        if why == self._trouble:
            return
        self._trouble = why
        self._set_trouble(why)
        if why is not None:
            _log.warning("%s", why)
            self._event_log.record(Plain("socket.unreachable"), why)


def _what_happened(path: Path) -> str:
    return "replaced" if os.path.lexists(path) else "removed"


def _listening_process(path: Path) -> int | None:
    """Return the pid of the process that listens on the socket; 0 if unknown, None if there is
    none.

    Does not block.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
            return peer_of(probe).pid
        except OSError as refused:
            return None if refused.errno in _NO_LISTENER else 0

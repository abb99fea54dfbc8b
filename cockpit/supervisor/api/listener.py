"""The supervisor's listening socket. It pauses when the process has no file descriptors left.

asyncio calls `accept` up to 2,048 times in a row, and continues after an error: with no descriptor
left, asyncio would log thousands of tracebacks a second. `Listener` logs only the first error and
then ends the series of calls, so that asyncio tries again a second later.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from pathlib import Path
from typing import Any

from cockpit.core.errors import Failed

_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_log = logging.getLogger(__name__)


class Listener(socket.socket):
    """A listening unix socket that pauses after an error for lack of descriptors or memory."""

    exhausted = False
    """Whether the last accept failed because no descriptor or memory was left."""
    _pauses = False

    def accept(self) -> tuple[socket.socket, Any]:
        if self._pauses:
            self._pauses = False
            raise BlockingIOError(errno.EAGAIN, "no file descriptors left; retrying in a second")
        try:
            accepted = super().accept()
        except OSError as refused:
            self._pauses = refused.errno in _EXHAUSTED
            if self._pauses and not self.exhausted:
                _log.warning("cannot accept connections: %s", refused.strerror)
            self.exhausted = self._pauses or self.exhausted
            raise
        self.exhausted = False
        return accepted


def bind(path: Path) -> Listener:
    """Create a listening socket of mode 0600 at the path; replace an existing file.

    Only the holder of the supervisor's lock may call this. Raises `Failed`.
    """
    listener = Listener(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # On Linux the file gets the mode of the socket. Setting the umask instead would affect
        # other threads of the process.
        os.fchmod(listener.fileno(), 0o600)
        path.unlink(missing_ok=True)
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise Failed(
            f"Cannot bind {path}",
            error.strerror or str(error),
            hint="Check the free disk space, and the permissions and length of the path.",
        ) from error
    listener.listen(64)
    listener.setblocking(False)
    return listener


def log_once(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handle exceptions of the event loop; skip errors that a `Listener` has already logged."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in _EXHAUSTED and "socket" in context:
        return
    loop.default_exception_handler(context)

"""The supervisor's listening socket: it rests when the process is out of descriptors.

asyncio calls `accept` up to 2,048 times in a row, and after a refusal goes on with the rest:
without a descriptor left that is thousands of logged tracebacks a second. Here the first refusal is
told and the next call ends the row, so that asyncio tries again a second later.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from typing import Any

_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_log = logging.getLogger(__name__)


class Listener(socket.socket):
    """A unix socket that accepts."""

    exhausted = False
    """The last accept was refused because no descriptor, or no memory, was left."""
    _rests = False

    def accept(self) -> tuple[socket.socket, Any]:
        if self._rests:
            self._rests = False
            raise BlockingIOError(errno.EAGAIN, "out of descriptors; tried again in a second")
        try:
            taken = super().accept()
        except OSError as refused:
            self._rests = refused.errno in _EXHAUSTED
            if self._rests and not self.exhausted:
                _log.warning("no connection can be taken: %s", refused.strerror)
            self.exhausted = self._rests or self.exhausted
            raise
        self.exhausted = False
        return taken


def log_once(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """The loop's exception handler: what a `Listener` told of already is not logged each second."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in _EXHAUSTED and "socket" in context:
        return
    loop.default_exception_handler(context)

"""Remember the status of each agent's process until the status file changes.

The supervisor needs the status of each agent once a second. Checking whether the file has changed
costs a tenth of reading the file and the process table.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from cockpit.adapters.agents.claude.live_sessions import own_presence, presence, status_file
from cockpit.core.deferred_dataclass import dataclass
from cockpit.ports.runtimes import Presence

CHECKED = 10.0
"""Seconds after which a status is read again, because the process may have ended."""
SETTLED = 1.0
"""Seconds without a change before a status is remembered. A file that has just changed could change
again without a new modification time."""
_MOST = 1_000

_Signature = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Seen:
    signature: _Signature
    checked: float
    presence: Presence


class SeenPresence:
    """The remembered status of each process. Safe to use from several threads."""

    def __init__(
        self,
        steady: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._steady = steady
        self._now = now
        self._seen: dict[Path, _Seen] = {}

    def read(self, config: Path, pid: int) -> Presence | None:
        """Return the same as `live_sessions.presence`.

        If the process has ended, its last status is still returned for up to `CHECKED` seconds.
        """
        path = status_file(config, pid)
        signature, now = _signature(path), self._steady()
        if signature is None:
            self._seen.pop(path, None)
            return presence(config, pid)
        seen = self._seen.get(path)
        if seen is not None and seen.signature == signature and now - seen.checked < CHECKED:
            return seen.presence
        current = own_presence(config, pid)
        if current is None:
            self._seen.pop(path, None)
            return presence(config, pid)
        if self._now() - signature[0] / 1e9 > SETTLED:
            if len(self._seen) >= _MOST:
                self._seen.clear()
            self._seen[path] = _Seen(signature, now, current)
        return current


def _signature(path: Path) -> _Signature | None:
    """Return a file's modification time in ns, size and inode; None if there is no file."""
    try:
        state = os.lstat(path)
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino

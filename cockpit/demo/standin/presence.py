"""The stand-in's status file while it runs: `sessions/<pid>.json`."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from cockpit.adapters.process.process_table import entry
from cockpit.config.kernel import USES_LINUX


class Presence:
    """The status file of one process; every change replaces the file."""

    def __init__(self, config: Path, session_id: str, *, absent: bool = False) -> None:
        self._path = config / "sessions" / f"{os.getpid()}.json"
        self._absent = absent
        self._note: dict[str, Any] = {
            "pid": os.getpid(),
            "sessionId": session_id,
            "cwd": str(Path.cwd()),
            "startedAt": milliseconds(),
            "procStart": started(os.getpid()),
            "version": "2.1.330",
            "kind": "interactive",
            "entrypoint": "cli",
        }

    def say(self, status: str, waiting_for: str | None = None) -> None:
        """Write the status (`busy`, `idle` or `waiting`), and the reason for waiting."""
        if self._absent:
            return
        self._note |= {"status": status, "updatedAt": milliseconds()}
        self._note["statusUpdatedAt"] = self._note["updatedAt"]
        self._note.pop("waitingFor", None)
        if waiting_for:
            self._note["waitingFor"] = waiting_for
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_suffix(".new")
        temporary.write_text(json.dumps(self._note), encoding="utf-8")
        temporary.replace(self._path)

    def take(self, session_id: str) -> None:
        """Change to another session id in the same process; the next `say` writes the id."""
        self._note["sessionId"] = session_id

    def leave(self) -> None:
        """Remove the status file. Idempotent."""
        self._path.unlink(missing_ok=True)


def milliseconds() -> int:
    """Return the current time in milliseconds since the epoch, as in the status file."""
    return int(time.time() * 1000)


def started(pid: int) -> str:
    """Return the start time of a process in clock ticks after boot; empty if unknown.

    Without /proc the real CLI uses `ps`, in a format that cockpit does not read.
    """
    process = entry(pid) if USES_LINUX else None  # psutil cannot be imported here
    return str(process.started) if process else ""

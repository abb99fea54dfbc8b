"""A status file that has not changed is not read again, and one that has changed is."""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.adapters.agents.claude.live_sessions import status_file
from cockpit.adapters.agents.claude.seen_presence import CHECKED, SeenPresence
from cockpit.ports.runtimes import Activity
from tests.adapters.agents.test_claude_presence import child, note

__all__ = ["child"]

CHANGED_AT = 1_000_000


class Clocks:
    """A steady clock and the time of day, long after the file has changed."""

    def __init__(self) -> None:
        self.steady = 0.0
        self.now = CHANGED_AT + 60.0

    def seen(self) -> SeenPresence:
        return SeenPresence(lambda: self.steady, lambda: self.now)


def write(config: Path, pid: int, status: str, *, at: float = CHANGED_AT) -> None:
    note(config, pid, status=status, startedAt=1)
    os.utime(status_file(config, pid), (at, at))


def told(seen: SeenPresence, config: Path, pid: int) -> Activity:
    presence = seen.read(config, pid)
    assert presence is not None
    return presence.activity


def test_a_file_that_did_not_change_is_not_read_again(tmp_path: Path, child: int) -> None:
    seen = Clocks().seen()
    write(tmp_path, child, "busy")
    assert told(seen, tmp_path, child) is Activity.BUSY

    file = status_file(tmp_path, child)
    size = file.stat().st_size
    with file.open("r+b") as same:  # the same file, size and time: nobody can tell
        same.write(b"x" * size)
    os.utime(file, (CHANGED_AT, CHANGED_AT))

    assert told(seen, tmp_path, child) is Activity.BUSY


def test_a_file_that_changed_is_read(tmp_path: Path, child: int) -> None:
    seen = Clocks().seen()
    write(tmp_path, child, "busy")
    assert told(seen, tmp_path, child) is Activity.BUSY
    write(tmp_path, child, "idle", at=CHANGED_AT + 0.004)
    assert told(seen, tmp_path, child) is Activity.IDLE


def test_a_file_that_may_still_change_within_its_times_resolution_is_read(
    tmp_path: Path, child: int
) -> None:
    clocks = Clocks()
    clocks.now = CHANGED_AT + 0.5
    seen = clocks.seen()
    write(tmp_path, child, "busy")
    assert told(seen, tmp_path, child) is Activity.BUSY
    write(tmp_path, child, "idle")
    assert told(seen, tmp_path, child) is Activity.IDLE


def test_a_process_that_has_ended_is_noticed(tmp_path: Path, child: int) -> None:
    clocks = Clocks()
    seen = clocks.seen()
    write(tmp_path, child, "busy")
    assert told(seen, tmp_path, child) is Activity.BUSY
    # The same file, of a process that had this pid before.
    size = status_file(tmp_path, child).stat().st_size
    note(tmp_path, child, status="busy", startedAt=1, procStart="1")
    with status_file(tmp_path, child).open("ab") as file:
        file.write(b" " * (size - status_file(tmp_path, child).stat().st_size))
    os.utime(status_file(tmp_path, child), (CHANGED_AT, CHANGED_AT))

    clocks.steady = CHECKED - 0.1
    assert told(seen, tmp_path, child) is Activity.BUSY
    clocks.steady = CHECKED
    assert seen.read(tmp_path, child) is None


def test_without_a_file_a_descendants_counts(tmp_path: Path, child: int) -> None:
    seen = Clocks().seen()
    write(tmp_path, child, "idle")
    assert told(seen, tmp_path, os.getpid()) is Activity.IDLE
    status_file(tmp_path, child).unlink()
    assert seen.read(tmp_path, os.getpid()) is None
    assert seen.read(tmp_path, child) is None

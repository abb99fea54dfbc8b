"""Find out from opencode's log which process has which session open.

As of 1.18 all processes write to one log file. Each line has the random id of its process's run,
and the lines of a turn have the session's id. A run begins with a line about its directory, some
seconds after the start of the process. Only the directory and the time of this line connect a run
with a process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cockpit.adapters.files.foreign_files import opened
from cockpit.core.foreign_json import loads
from cockpit.core.timestamps import moment

LONGEST_START = 120.0
"""Maximum seconds from the start of a process to its first line in the log."""
CLOCK_SLACK = 1.0
"""Tolerance in seconds: the start of a process is known less precisely than the time of a line."""
MOST_BYTES = 16 * 1024 * 1024
"""Maximum bytes that the first call reads, from the end of the log; a run that began earlier in the
log is not found."""
PIECE = 1024 * 1024
_LINE = re.compile(rb"timestamp=(\S{1,40}) level=\S{1,10} run=([0-9a-zA-Z-]{1,40}) (.*)")
_DIRECTORY = re.compile(rb'message="creating instance" directory=(.{1,4096})')
_SESSION = re.compile(rb"(?:message=created id|session\.id)=(ses_[0-9A-Za-z]{10,40})(?: |$)")


@dataclass(slots=True)
class Run:
    """One run of an opencode process, as described by the run's lines in the log."""

    began: float
    """Unix time of the run's first line in the log."""
    directory: str
    sessions: dict[str, None] = field(default_factory=dict)
    """The session ids in the run's lines, the latest last; includes subagents' sessions."""


@dataclass(frozen=True, slots=True)
class Started:
    """A live process of opencode."""

    pid: int
    began: float
    """Unix time of the process's start."""
    directory: str


class ProcessLog:
    """opencode's log. Each call of `read` processes the lines added since the previous call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._clear(0, 0)

    def _clear(self, inode: int, offset: int) -> None:
        self._inode = inode
        self._offset = offset
        self._rest = b""
        self._runs: dict[bytes, Run] = {}

    def read(self) -> Iterable[Run]:
        """Read new lines; return all runs. Raises `OSError`."""
        with opened(self._path) as file:
            state = os.fstat(file.fileno())
            if state.st_ino != self._inode or state.st_size < self._offset:
                self._clear(state.st_ino, max(0, state.st_size - MOST_BYTES))
            file.seek(self._offset)
            while piece := file.read(PIECE):
                self._offset += len(piece)
                *lines, self._rest = (self._rest + piece).split(b"\n")
                for line in lines:
                    self._take(line)
        return self._runs.values()

    def _take(self, line: bytes) -> None:
        if (match := _LINE.match(line)) is None:
            return
        at, name, text = match.groups()
        run = self._runs.get(name)
        if run is None:
            began = moment(at.decode("ascii", "replace"))
            directory = _DIRECTORY.match(text)
            # If the first line is not about the directory, the log lacks the run's beginning.
            place = _text(directory[1]) if directory and began else ""
            run = self._runs[name] = Run(began.timestamp() if began else 0.0, place)
        for session in _SESSION.findall(text):
            run.sessions.pop(session.decode(), None)
            run.sessions[session.decode()] = None


def runs_of(processes: Iterable[Started], runs: Iterable[Run]) -> Mapping[int, Run]:
    """Return the run of each process, by pid; leave out processes whose run is not certain.

    Runs are assigned by elimination: if only one run is possible for a process, no other process
    can have that run.
    """
    left = {process.pid: process for process in processes}
    free = [run for run in runs if run.directory]
    assigned: dict[int, Run] = {}
    while True:
        possible = {pid: _possible(process, free) for pid, process in left.items()}
        sure = {pid: choices[0] for pid, choices in possible.items() if len(choices) == 1}
        if len({id(run) for run in sure.values()}) < len(sure) or not sure:
            return assigned
        assigned |= sure
        left = {pid: process for pid, process in left.items() if pid not in sure}
        free = [run for run in free if not any(run is taken for taken in sure.values())]


def _possible(process: Started, runs: Iterable[Run]) -> list[Run]:
    earliest, latest = process.began - CLOCK_SLACK, process.began + LONGEST_START
    return [
        run
        for run in runs
        if run.directory == process.directory and earliest <= run.began <= latest
    ]


def _text(value: bytes) -> str:
    """Return a value in a line of the log as text. opencode writes a value with spaces or quotes as
    a JSON string."""
    text = value.decode("utf-8", "replace")
    if not text.startswith('"'):
        return text
    try:
        unquoted = loads(text)
    except (ValueError, RecursionError):
        return ""
    return unquoted if isinstance(unquoted, str) else ""

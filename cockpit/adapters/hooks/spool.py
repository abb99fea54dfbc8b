"""Read the spool, the folder to which reporters write the reports of a CLI's hooks.

Reads, orders and removes the reports that `reporter.sh` writes. Does not interpret events. Never
raises because of a report: an invalid report is moved to the folder `.bad`, and a truncated report
is read as far as possible.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from cockpit.adapters.files.foreign_files import NotPlain, read_file
from cockpit.adapters.files.watched_folder import watch_folder
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.foreign_json import loads, without_depths, without_halves
from cockpit.core.ids import NAME_PATTERN, AgentName
from cockpit.ports.runtimes import Signal

STATUS_LINE = "StatusLine"
"""The event name of status-line reports; hook reports use the CLI's own event names."""

REPORT_BYTES = 131_072
"""Maximum bytes of a report. The reporter truncates longer reports, so a file of this size was
truncated."""

BAD_KEPT = 20
"""Maximum number of invalid reports kept for inspection."""

AT_ONCE = 512
"""Maximum entries read from one agent's folder per call.

Reporters write at most 256 reports. More entries come from other programs, and are read in parts so
that they do not delay other agents.
"""

ABANDONED_SECONDS = 60.0
"""Seconds after which a temporary file is removed, because its reporter was killed."""

_NAME = re.compile(r"(?P<pid>\d+)-(?P<event>[A-Za-z]{1,40})(?P<verdict>\.verdict)?\+*\.json")


@dataclass(frozen=True, slots=True)
class _Report:
    """A report in the spool, whose content is not read yet."""

    path: Path
    agent: AgentName
    event: str
    verdict: bool
    pid: int
    written: int
    """Time at which the report was last written, in nanoseconds since the epoch."""


class Spool:
    """Reads the spool of one state folder, which has a subfolder for each agent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._statuses: dict[AgentName, tuple[int, int]] = {}
        self._wake: Callable[[], None] = _nothing

    def prepare(self, agent: AgentName) -> Path:
        """Create the agent's folder, without which reporters do nothing. Idempotent."""
        folder = self.folder / agent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    def take(self) -> list[Signal]:
        """Return and remove the reports since the previous call, in order of writing.

        Reads at most `AT_ONCE` entries of a folder. If there may be more, they are left for the
        next call, and the `on_change` callback is called immediately. Includes an agent's latest
        status line if it changed, without removing its file.
        """
        reports: list[_Report] = []
        for agent, folder in self._agents():
            agent_reports, has_more = _reports(agent, folder)
            reports.extend(agent_reports)
            if has_more:
                self._wake()
        signals = [signal for report in reports if (signal := self._read(report))]
        signals.extend(self._changed_statuses())
        signals.sort(key=lambda signal: signal.at)
        return signals

    def latest_status(self, agent: AgentName) -> Signal | None:
        """Return an agent's latest status-line report; None if there is no valid report."""
        path = self.folder / agent / "status"
        try:
            written = path.lstat().st_mtime_ns
            payload = parse_report(_bounded(path))
        except OSError:
            return None
        if payload is None:
            return None
        return Signal(agent, STATUS_LINE, payload, at=written / 1e9)

    def on_change(self, call: Callable[[], None]) -> Callable[[], None]:
        """Run `call` on the running event loop when a report arrives; return a function that ends
        the watch.

        Several reports may cause one call; a call may come without a report.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._wake = call
        return watch_folder(self.folder, call)

    def _agents(self) -> Iterator[tuple[AgentName, Path]]:
        try:
            entries = list(os.scandir(self.folder))
        except OSError:
            return
        for entry in entries:
            if NAME_PATTERN.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                yield AgentName(entry.name), Path(entry.path)

    def _read(self, report: _Report) -> Signal | None:
        try:
            payload = parse_report(_bounded(report.path))
        except NotPlain:
            # Not written by a reporter. If it stayed, every call would find it again.
            with suppress(OSError):
                _remove(report.path)
            return None
        except OSError:
            return None
        if payload is None:
            self._put_aside(report.path)
            return None
        with suppress(OSError):
            report.path.unlink(missing_ok=True)
        return Signal(report.agent, report.event, payload, report.written / 1e9, report.verdict)

    def _changed_statuses(self) -> Iterator[Signal]:
        for agent, folder in self._agents():
            try:
                seen = (folder / "status").lstat()
            except OSError:
                continue
            mark = (seen.st_mtime_ns, seen.st_ino)
            if self._statuses.get(agent) == mark:
                continue
            self._statuses[agent] = mark
            if signal := self.latest_status(agent):
                yield signal

    def _put_aside(self, path: Path) -> None:
        bad = self.folder / ".bad"
        with suppress(OSError):
            bad.mkdir(exist_ok=True, mode=0o700)
            path.replace(bad / f"{path.parent.name}-{time.time_ns()}-{path.name}")
            for old in sorted(bad.iterdir(), key=lambda kept: kept.stat().st_mtime_ns)[:-BAD_KEPT]:
                old.unlink(missing_ok=True)


def _nothing() -> None:
    """Do nothing. The default callback until `Spool.on_change` sets another."""


def _reports(agent: AgentName, folder: Path) -> tuple[list[_Report], bool]:
    """Return the reports in one agent's folder, oldest first, and whether there are more.

    Removes files left by killed reporters, and files that are neither reports nor the status line,
    because such files count toward the reporter's limit.
    """
    reports: list[_Report] = []
    removed = 0
    try:
        with os.scandir(folder) as listing:
            entries = list(islice(listing, AT_ONCE))
    except OSError:
        return reports, False
    for entry in entries:
        with suppress(OSError):
            seen = entry.stat(follow_symlinks=False)
            if match := _NAME.fullmatch(entry.name):
                reports.append(
                    _Report(
                        Path(entry.path),
                        agent,
                        match["event"],
                        match["verdict"] is not None,
                        int(match["pid"]),
                        seen.st_mtime_ns,
                    )
                )
            elif entry.name.startswith("."):
                if time.time() - seen.st_mtime > ABANDONED_SECONDS:
                    _remove(Path(entry.path))
                    removed += 1
            elif entry.name != "status":
                _remove(Path(entry.path))
                removed += 1
    reports.sort(key=lambda report: (report.written, report.pid))
    # If nothing can be removed, the next call would find the same files, so no more are reported.
    return reports, len(entries) == AT_ONCE and bool(reports or removed)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _bounded(path: Path) -> bytes:
    return read_file(path, REPORT_BYTES, cut=True, follow_links=False)


def parse_report(content: bytes) -> Mapping[str, Any] | None:
    """Return the report as an object, without the part after a truncation or an error.

    None if the report is another value, or is invalid before its first complete field.
    """
    text = without_halves(content.decode("utf-8", "replace"))
    try:
        whole = loads(text)
    except (ValueError, RecursionError):
        return without_depths(salvage_fields(text)) or None
    return without_depths(whole) if isinstance(whole, dict) else None


def salvage_fields(text: str) -> dict[str, Any]:
    """Return the complete top-level fields at the beginning of a truncated object."""
    decoder = json.JSONDecoder()
    fields: dict[str, Any] = {}
    place = text.find("{") + 1
    while place:
        name = _value(decoder, text, place)
        if name is None or not isinstance(name[0], str):
            break
        colon = _skip_space(text, name[1])
        if text[colon : colon + 1] != ":":
            break
        value = _value(decoder, text, colon + 1)
        if value is None:
            break
        after = _skip_space(text, value[1])
        # A number at the very end may lack its last digits.
        if text[after : after + 1] not in (",", "}"):
            break
        fields[name[0]] = value[0]
        place = after + 1 if text[after] == "," else 0
    return fields


def _value(decoder: json.JSONDecoder, text: str, place: int) -> tuple[Any, int] | None:
    try:
        return decoder.raw_decode(text, _skip_space(text, place))
    except (ValueError, RecursionError):
        return None


def _skip_space(text: str, place: int) -> int:
    while text[place : place + 1] in (" ", "\t", "\n", "\r") and place < len(text):
        place += 1
    return place

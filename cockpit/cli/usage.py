"""`cockpit usage`: show how full a transcript's context is, and what the session used.

Only reads files. On Linux, reads large amounts of data with several processes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.transcript_formats import (
    TranscriptFormat,
    format_of,
    older_form,
    session_named_in,
)
from cockpit.adapters.transcripts.lines import Parse
from cockpit.adapters.transcripts.scan import feed_lines, read_all
from cockpit.config.kernel import USES_LINUX
from cockpit.core.meter import Meter
from cockpit.core.reading import resolve_window
from cockpit.core.safetext import safe_line
from cockpit.core.session import AssistantReplied, Identified, SessionEvent, Skipped, UserSaid
from cockpit.core.session_report import unreadable_report, usage_report

SHARED_FROM = 24_000_000
"""Total bytes of the transcripts above which several processes are faster than one."""
_CHUNK = 4
"""Number of transcripts that a worker process gets at a time."""

Report = dict[str, Any]


def usage(paths: Sequence[Path], as_json: bool, *, shared_from: int = SHARED_FROM) -> int:
    """Print every transcript's usage in the given order; return 1 if any could not be read.

    On Linux, several processes read the files if the files have at least `shared_from` bytes in
    total.
    """
    reports = _read_all(paths, shared_from)
    if as_json:
        print(json.dumps(reports, indent=2))
    else:
        _print_table(reports)
    failed = [report for report in reports if report["error"] is not None]
    for report in failed:
        print(f"cockpit: {_shown(report['transcript'])}: {report['error']}", file=sys.stderr)
    return 1 if failed else 0


class Reader:
    """Measures the context and the tokens of one transcript, and keeps its session id and
    directory."""

    def __init__(self) -> None:
        self.meter = Meter()
        self.session_id: str | None = None
        self.cwd: str | None = None
        self.window: int | None = None
        """The context window size from the transcript; None if the transcript does not have it."""
        self.events = 0
        self.prompted = False
        self.subagent = False
        """Whether this is the transcript of a subagent: every reply is marked as a subagent's."""
        self._side: Meter | None = None
        self.format: TranscriptFormat | None = None
        """The transcript's format; None until the transcript is read."""

    def feed(self, event: SessionEvent | Skipped) -> None:
        self.meter.feed(event)
        if isinstance(event, AssistantReplied):
            if not self.meter.api_calls:
                self._feed_subagent(event)
        elif isinstance(event, Identified):
            self.session_id = event.session_id or self.session_id
            self.cwd = event.cwd or self.cwd
            self.window = event.window or self.window
        elif isinstance(event, UserSaid):
            self.prompted = True
        elif isinstance(event, Skipped):
            return
        self.events += 1

    def _feed_subagent(self, event: AssistantReplied) -> None:
        """Measure a subagent's reply separately, in case the transcript has no other replies."""
        if self._side is None:
            self._side = Meter()
        self._side.feed(replace(event, sidechain=False))

    def report(self, path: Path) -> Report:
        """Return the usage of the transcript that was read from `path`, as documented JSON."""
        self.subagent = self._side is not None and not self.meter.api_calls
        meter = self._side if self.subagent and self._side is not None else self.meter
        table = self.format.window(meter.model, os.environ) if self.format else None
        window = resolve_window(reported=self.window, table=table, seen=meter.peak)
        return usage_report(str(path), meter, window, self.session_id, subagent=self.subagent)


def read_into(
    reader: Reader,
    path: Path,
    parse: Callable[[TranscriptFormat], Parse],
    feed: Callable[[SessionEvent | Skipped], None] | None = None,
) -> str | None:
    """Read a whole transcript; return the error as text, None on success."""
    try:
        reader.format = format_of(path)
        if reader.format.lines is not None:
            feed_lines(reader.format.lines(path), parse(reader.format), feed or reader.feed)
        else:
            read_all(path, parse(reader.format), feed or reader.feed, any_owner=True)
    except OSError as error:
        return (error.strerror or type(error).__name__).lower()
    if reader.session_id is None or reader.cwd is None:
        _identify(reader, path, feed or reader.feed)
    if reader.meter.skipped and not reader.events:
        return "not a transcript: it contains no records"
    if not reader.events and not reader.format.recognised:
        return "not a transcript: it contains no records of a CLI that cockpit can read"
    if not reader.prompted and not reader.meter.api_calls:
        try:
            older = older_form(path)
        except OSError:
            older = None
        return f"a transcript of {older}" if older else None
    return None


def _identify(reader: Reader, path: Path, feed: Callable[[SessionEvent | Skipped], None]) -> None:
    """Call `feed` with the session id and directory, if the start of the transcript has them."""
    assert reader.format is not None
    try:
        named = session_named_in(path, reader.format)
    except OSError:
        return  # the file was replaced since it was read
    if named is not None and reader.session_id in (None, named.session_id):
        feed(named)


def _read(path: Path) -> Report:
    reader = Reader()
    error = read_into(reader, path, lambda form: form.totals)
    return reader.report(path) if error is None else unreadable_report(str(path), error)


def _read_all(paths: Sequence[Path], shared_from: int) -> list[Report]:
    workers = min(len(paths), len(os.sched_getaffinity(0)) if USES_LINUX else 1)
    sizes = [_size(path) for path in paths] if workers > 1 else []
    if workers < 2 or sum(sizes) < shared_from:
        return [_read(path) for path in paths]
    from multiprocessing import get_context

    # Largest files first, so that no process starts a large file when all others are done.
    order = sorted(range(len(paths)), key=sizes.__getitem__, reverse=True)
    with suppress(OSError):
        format_of(paths[order[0]])  # loads modules that otherwise each process would load
    with get_context("fork").Pool(workers) as pool:
        reports = pool.map(_read, [paths[at] for at in order], chunksize=_CHUNK)
    by_place = dict(zip(order, reports, strict=True))
    return [by_place[at] for at in range(len(paths))]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


_COLUMNS = ("context", "tokens", "model", "calls", "compacted", "input", "cached", "output")


def _print_table(reports: Sequence[Report]) -> None:
    rows = [(*_cells(report), _shown(report["transcript"]) + _mark(report)) for report in reports]
    rows = [(*_COLUMNS, "transcript"), *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    for row in rows:
        cells = [f"{row[i]:<{widths[i]}}" for i in range(len(_COLUMNS))]
        print("  ".join((*cells, row[-1])).rstrip())


def _cells(report: Report) -> tuple[str, ...]:
    if report["error"] is not None:
        return ("unreadable", *("" for _ in _COLUMNS[1:]))
    context, totals = report["context"], report["totals"]
    return (
        _bar(context),
        f"{_short(context['tokens'])}/{_short(context['window'])}",
        safe_line(report["model"] or "?", 40),
        str(report["api_calls"]),
        str(report["compactions"]),
        _short(totals["input"] + totals["cache_creation"]),
        _short(totals["cache_read"]),
        _short(totals["output"]),
    )


def _bar(context: dict[str, Any]) -> str:
    from cockpit.cli.context_bar import bar

    if context["used"] is None:
        return "·" * 10 + "    ?"
    guessed = "?" if context["confidence"] == "assumed" else " "
    return f"{bar(context['used'])} {context['used']:>4.0%}{guessed}"


def _short(tokens: int | None) -> str:
    """Format a number with the unit k, M or G; `?` for None.

    Below 100 units, the number has one decimal, unless it is a whole number of units.
    """
    if tokens is None:
        return "?"
    # From where a number is shown in a unit: 999,600 is "1.0M", not "1000k".
    for least, size, unit in (
        (999_500_000, 1_000_000_000, "G"), (999_500, 1_000_000, "M"), (1_000, 1_000, "k"),
    ):  # fmt: skip
        if tokens >= least:
            value = tokens / size
            whole = round(value, 1) >= 100 or tokens % size == 0
            return f"{value:.0f}{unit}" if whole else f"{value:.1f}{unit}"
    return str(tokens)


def _mark(report: Report) -> str:
    return " (subagent)" if report["subagent"] else ""


def _shown(path: str) -> str:
    return safe_line(path, 300)

"""Read the end of a transcript of a session that cockpit did not start.

The end contains the last reply, and a whole transcript can have hundreds of MB.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.files.foreign_files import opened, read_file, stamp
from cockpit.adapters.transcripts.tail import Fetched, Tail
from cockpit.core.collect import Collector
from cockpit.core.meter import Meter
from cockpit.core.reading import Window, resolve_window
from cockpit.core.session import AssistantReplied, Compacted, Identified, SessionEvent, Skipped
from cockpit.ports.runtimes import Runtime

BEGINNING_BYTES = 256 * 1024
"""Number of bytes at the beginning of a transcript that are searched for the first prompt."""
END_BYTES = 8 * 1024 * 1024
"""Number of bytes at the end of a transcript that are searched for the last reply."""


class TranscriptEnd:
    """The last reply in one transcript, and the first prompt. `read` processes new lines."""

    def __init__(self, path: Path, runtime: Runtime) -> None:
        self._runtime = runtime
        try:
            start = max(0, stamp(path)[0] - END_BYTES)
        except OSError:
            start = 0
        self._path = path
        self._tail = Tail(path, runtime.parse, offset=start)
        self._goal: str | None = None
        self._clear()

    def _clear(self) -> None:
        self._meter = Meter()
        self._window: int | None = None
        self._replied: float | None = None
        self._compacted = ""

    def read(self) -> None:
        """Read new lines. Blocks. Does not raise errors of the file."""
        if self._goal is None:
            self._goal = self._first_prompt()
        while True:
            restarts = self._tail.restarts
            fetched = self._tail.fetch()
            events = self._tail.take(fetched)
            if self._tail.restarts != restarts:
                self._clear()
            for event in events:
                self._feed(event)
            if not isinstance(fetched, Fetched) or not self._tail.behind:
                return

    def _feed(self, event: SessionEvent | Skipped) -> None:
        self._meter.feed(event)
        if isinstance(event, Identified):
            self._window = event.window or self._window
        elif isinstance(event, AssistantReplied) and not event.sidechain and event.at is not None:
            self._replied = event.at.timestamp()
        elif isinstance(event, Compacted):
            at = event.at.timestamp() if event.at is not None else None
            self._compacted = str(at or self._meter.compactions)

    def _first_prompt(self) -> str | None:
        """Return the first prompt; None if no prompt is near the start of the transcript."""
        try:
            beginning = read_file(self._path, BEGINNING_BYTES, cut=True)
        except OSError:
            return None
        collector = Collector()
        for line in beginning.split(b"\n"):
            events = self._runtime.parse(line)
            for event in () if isinstance(events, Skipped) else events:
                collector.feed(event)
            if collector.goal:
                return collector.goal
        return None

    @property
    def goal(self) -> str | None:
        """The first prompt, as written; None if no prompt was found."""
        return self._goal

    @property
    def model(self) -> str | None:
        return self._meter.model

    @property
    def tokens(self) -> int | None:
        return self._meter.tokens

    @property
    def replied(self) -> float | None:
        """When the last reply was written, in unix seconds; None if there is no reply."""
        return self._replied

    @property
    def compacted(self) -> str:
        """An identifier of the last compaction: its time or number; empty if none was found."""
        return self._compacted

    def window(self, override: int | None, environment: Mapping[str, str]) -> Window:
        return resolve_window(
            override=override,
            reported=self._window,
            table=self._runtime.window(self.model, environment),
            seen=self._meter.peak,
        )


def last_permission_mode(path: Path, runtime: Runtime) -> str | None:
    """Return the last permission mode in a transcript; None if there is no permission mode.

    Reads from the transcript's end to its beginning, as far as needed. Blocks, perhaps for seconds.
    Raises `OSError`.
    """
    with opened(path) as stream:
        end, rest = stream.seek(0, os.SEEK_END), b""
        while end > 0:
            begin = max(0, end - END_BYTES)
            stream.seek(begin)
            lines = (stream.read(end - begin) + rest).split(b"\n")
            # The first line may be incomplete. A line longer than `END_BYTES` is cut, and skipped.
            rest = lines.pop(0)[:END_BYTES] if begin else b""
            for line in reversed(lines):
                events = runtime.parse(line)
                for event in () if isinstance(events, Skipped) else reversed(events):
                    if isinstance(event, Identified) and event.permission_mode:
                        return event.permission_mode
            end = begin
    return None

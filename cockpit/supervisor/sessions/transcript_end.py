"""Read the end of a transcript of a session that cockpit does not follow.

That is enough for the last reply, and does not read some hundred MB for one number.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.files.foreign_files import stamp
from cockpit.adapters.transcripts.tail import Fetched, Tail
from cockpit.core.meter import Meter
from cockpit.core.reading import Window, resolve_window
from cockpit.core.session import AssistantReplied, Identified, SessionEvent, Skipped
from cockpit.ports.runtimes import Runtime

END_BYTES = 8 * 1024 * 1024
"""Bytes at the end in which the last reply is searched."""


class TranscriptEnd:
    """The last reply and permission mode in one transcript. Call `read` again to process new
    lines."""

    def __init__(self, path: Path, runtime: Runtime) -> None:
        self._runtime = runtime
        try:
            start = max(0, stamp(path)[0] - END_BYTES)
        except OSError:
            start = 0
        self._tail = Tail(path, runtime.parse, offset=start)
        self._clear()

    def _clear(self) -> None:
        self._meter = Meter()
        self._window: int | None = None
        self._replied: float | None = None
        self._mode: str | None = None

    def read(self) -> None:
        """Read new lines. Blocks; raises nothing because of the file."""
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
            self._mode = event.permission_mode or self._mode
        elif isinstance(event, AssistantReplied) and not event.sidechain and event.at is not None:
            self._replied = event.at.timestamp()

    @property
    def model(self) -> str | None:
        return self._meter.model

    @property
    def tokens(self) -> int | None:
        return self._meter.tokens

    @property
    def replied(self) -> float | None:
        """When the last reply was written; unix seconds."""
        return self._replied

    @property
    def permission_mode(self) -> str | None:
        """The last one; None if none was recorded."""
        return self._mode

    def window(self, override: int | None, environment: Mapping[str, str]) -> Window:
        return resolve_window(
            override=override,
            reported=self._window,
            table=self._runtime.window(self.model, environment),
            seen=self._meter.peak,
        )

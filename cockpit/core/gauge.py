"""Where the two sources of a reading meet: the status line and the session's record.

Both speak of the same thing at different moments. The newer word counts; the window comes from
the best witness there is, whoever brought the tokens. After a compaction nothing is known until
one of them speaks of a later reply.
"""

from __future__ import annotations

from dataclasses import dataclass

from cockpit.core.reading import Confidence, Reading, Source, Window, resolve_window


@dataclass(slots=True)
class Gauge:
    """One session's reading. Times are seconds on one clock; tokens are whole numbers."""

    override: int | None = None
    """The user's own word for the window."""
    tokens: int | None = None
    source: Source | None = None
    at: float | None = None
    """When the reading was made; its age counts from here."""
    peak: int = 0
    """The most that was ever seen in this session."""
    compacted_at: float | None = None
    before_compaction: int | None = None
    """The reading that the last compaction ended."""
    _reported: int | None = None
    _derived: Window | None = None

    def tell(self, tokens: int, source: Source, at: float) -> bool:
        """Take a reading in; False if it is older than what is known, or before a compaction."""
        if self.compacted_at is not None and at <= self.compacted_at:
            return False
        if self.at is not None and at < self.at:
            return False
        if tokens == self.tokens and self.source == "statusline":
            source = "statusline"  # the record only repeats what the CLI itself reported
        changed = (tokens, source) != (self.tokens, self.source)
        self.tokens, self.source, self.at = tokens, source, at
        self.peak = max(self.peak, tokens)
        return changed

    def report_window(self, tokens: int) -> None:
        """The window as the CLI's status line gives it."""
        self._reported = tokens

    def derive_window(self, window: Window) -> None:
        """The window as the record's model and the table give it."""
        self._derived = window

    def compacted(self, at: float) -> None:
        """Forget the reading: it was of a conversation that is gone."""
        self.compacted_at = at
        self.before_compaction = self.tokens or self.before_compaction
        self.lose()

    def lose(self) -> None:
        """Forget the reading: a newer one was not read."""
        self.tokens = None
        self.source = None
        self.at = None

    @property
    def window(self) -> Window:
        """The best witness's word for the window."""
        return resolve_window(
            override=self.override, reported=self._reported, table=self._derived, seen=self.peak
        )

    @property
    def reading(self) -> Reading:
        window = self.window
        if self.tokens is None:
            return Reading(None, window.tokens, Confidence.UNKNOWN, None)
        return Reading(self.tokens, window.tokens, window.confidence, self.source)

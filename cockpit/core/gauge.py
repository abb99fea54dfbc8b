"""Combine the two sources of a session's token count: the status line and the transcript.

The newer count is used. The window size comes from the most reliable source that has it. After a
compaction, the count is unknown until a source reports a later reply.
"""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.reading import Confidence, Reading, Source, Window, resolve_window


@dataclass(slots=True)
class Gauge:
    """The token count and window of one session. All times are in seconds, on the same clock."""

    override: int | None = None
    """The window in tokens, if the user configured one."""
    tokens: int | None = None
    source: Source | None = None
    at: float | None = None
    """When the tokens were counted; None if `tokens` is None."""
    peak: int = 0
    """The largest token count of this session."""
    compacted_at: float | None = None
    before_compaction: int | None = None
    """The token count before the last compaction; None if it is unknown."""
    _reported_by_hook: bool = False
    """Whether a hook has reported the last compaction."""
    _reported: int | None = None
    _derived: Window | None = None

    def set_tokens(self, tokens: int, source: Source, at: float) -> bool:
        """Set the token count and its source; return whether either changed.

        A count that is older than the current count, or not newer than the last compaction, is
        ignored.
        """
        if self.compacted_at is not None and at <= self.compacted_at:
            return False
        if self.at is not None and at < self.at:
            return False
        if tokens == self.tokens and self.source == "statusline":
            source = "statusline"  # the transcript repeats what the status line reported
        changed = (tokens, source) != (self.tokens, self.source)
        self.tokens, self.source, self.at = tokens, source, at
        self.peak = max(self.peak, tokens)
        return changed

    def report_window(self, tokens: int) -> None:
        """Set the window that the CLI reports, in its status line or in the transcript."""
        self._reported = tokens

    def derive_window(self, window: Window) -> None:
        """Set the window derived from the transcript's model and the table of models."""
        self._derived = window

    def compacted(self, at: float, before: int | None = None, *, by_hook: bool = False) -> None:
        """Clear the token count, because the conversation was compacted.

        `before` is the token count before the compaction, if the transcript has one. This count is
        more reliable than the last reading, which may be some turns older. A hook and the
        transcript report the same compaction, in any order, and some CLIs write two lines for one
        compaction. So if no token count came in between, only a second report by a hook means
        another compaction.
        """
        self.compacted_at = at
        if self.tokens is not None or (by_hook and self._reported_by_hook):
            self.before_compaction, self._reported_by_hook = self.tokens, False
        self._reported_by_hook |= by_hook
        self.before_compaction = before or self.before_compaction
        self.lose()

    def lose(self) -> None:
        """Clear the token count, for example because a newer count could not be read."""
        self.tokens = None
        self.source = None
        self.at = None

    @property
    def window(self) -> Window:
        """The context window: configured, reported by the CLI, known for the model, or guessed."""
        return resolve_window(
            override=self.override, reported=self._reported, table=self._derived, seen=self.peak
        )

    @property
    def reading(self) -> Reading:
        window = self.window
        if self.tokens is None:
            return Reading(None, window.tokens, Confidence.UNKNOWN, None)
        return Reading(self.tokens, window.tokens, window.confidence, self.source)

"""Cache rendered lines by object and size, because long diffs are slow to render."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from cockpit.tui.present.fold import worded
from cockpit.tui.present.span import Span

T = TypeVar("T")
RenderedLines = Sequence[Sequence[Span]]

READING: RenderedLines = [[Span("  Reading…", "muted")]]
"""The lines shown until the data has been read."""


class CachedLines(Generic[T]):
    """Renders one kind of object, and caches the newest result by object identity and size."""

    def __init__(
        self, render: Callable[[T, int, int], RenderedLines], why: Callable[[], str] = lambda: ""
    ) -> None:
        """`why` returns why the data cannot be read; empty while the data is loading."""
        self._render = render
        self._why = why
        self._of: tuple[T, int, int] | None = None
        self._lines: RenderedLines = READING

    def __call__(self, subject: T | None, width: int, height: int) -> RenderedLines:
        """Return the lines of `subject` at this size.

        If `subject` is None, returns why the data cannot be read; while the data is loading,
        `READING`.
        """
        if subject is None:
            lines = worded(self._why(), max(1, width - 3))
            return [[Span(f"  {line}", "muted")] for line in lines] if lines[0] else READING
        last = self._of
        if last is None or last[0] is not subject or last[1:] != (width, height):
            self._of, self._lines = (subject, width, height), self._render(subject, width, height)
        return self._lines

"""Caches rendered lines by object and size, because long diffs are slow to render."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from cockpit.tui.present.fold import worded
from cockpit.tui.present.span import Span

T = TypeVar("T")
Said = Sequence[Sequence[Span]]

READING: Said = [[Span("  Reading…", "muted")]]
"""Shown until the data has been read."""


class CachedLines(Generic[T]):
    """Renders one kind of object, and caches the last result by identity and size."""

    def __init__(
        self, say: Callable[[T, int, int], Said], why: Callable[[], str] = lambda: ""
    ) -> None:
        """`why` returns why the data cannot be read; empty while it is loading."""
        self._say = say
        self._why = why
        self._of: tuple[T, int, int] | None = None
        self._said: Said = READING

    def __call__(self, told: T | None, width: int, height: int) -> Said:
        """The lines for a width and a height."""
        if told is None:
            lines = worded(self._why(), max(1, width - 3))
            return [[Span(f"  {line}", "muted")] for line in lines] if lines[0] else READING
        known = self._of
        if known is None or known[0] is not told or known[1:] != (width, height):
            self._of, self._said = (told, width, height), self._say(told, width, height)
        return self._said

"""Lines rendered only while visible; lines off screen cost nothing."""

from __future__ import annotations

from textual.geometry import Region, Size
from textual.strip import Strip

from cockpit.tui.widgets.lines import Lines, Spans


class VisibleLines(Lines):
    """Scrolls any number of lines vertically; `spans_at` renders a line."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 (Textual's word)
        super().__init__(id=id)
        self._height = 0
        self._drawn: dict[int, Spans] = {}
        """The spans of the lines that are on the screen, or will be with the next frame."""

    def spans_at(self, line: int) -> Spans:
        """Return the spans of line number `line`; the first line is 0.

        Called for every visible line at each redraw, so it must be fast for an unchanged line.
        """
        raise NotImplementedError

    @property
    def height(self) -> int:
        return self._height

    def redraw(self, height: int) -> int:
        """Redraw the visible lines that changed; return the number of redrawn lines.

        If the total number of lines changed, redraws everything and returns `height`.
        """
        if height != self._height:
            self._height = height
            self.virtual_size = Size(self.size.width, height)
            self._strips.clear()
            self._drawn.clear()
            self.refresh()
            return height
        first, changed = self.scroll_offset.y, 0
        drawn, self._drawn = self._drawn, {}
        for line in range(first, min(first + self.size.height, height)):
            spans = self._drawn[line] = self.spans_at(line)
            if drawn.get(line) != spans:
                self._redraw(line)
                changed += 1
        return changed

    def render_line(self, y: int) -> Strip:
        line = self.scroll_offset.y + y
        if line >= self._height:
            return Strip.blank(self.size.width, self._ground)
        spans = self.spans_at(line)
        strip = self._strips.get(line)
        if strip is None or self._drawn.get(line) != spans:
            self._drawn[line] = spans
            strip = self._strips[line] = self._strip_of(spans, line)
        return strip

    def _redraw(self, line: int) -> None:
        self._strips.pop(line, None)
        self.refresh(Region(0, line - self.scroll_offset.y, self.size.width, 1))

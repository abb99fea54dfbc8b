"""Lines of spans that are redrawn only if they changed: the base of most widgets.

Textual sends every refreshed line, changed or not, so the comparison happens here.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from cockpit.tui.present.span import Span
from cockpit.tui.widgets.roles import Palette

Spans = Sequence[Span]


class Lines(ScrollView):
    """Scrolls lines of spans vertically."""

    DEFAULT_CSS = """
    Lines { overflow-x: hidden; scrollbar-size-vertical: 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 (Textual's word)
        super().__init__(id=id)
        self._lines: list[Spans] = []
        self._strips: dict[int, Strip] = {}
        self._palette: Palette | None = None
        self._ground = Style()

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._theme_changed)

    @property
    def palette(self) -> Palette:
        if self._palette is None:
            self._palette = Palette(self.app.get_css_variables())
        return self._palette

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self._lines)

    def set_lines(self, lines: Sequence[Spans]) -> int:
        """Show these lines; return the number of changed lines.

        If the total number of lines changed, redraws all lines and returns their number.
        """
        old, self._lines = self._lines, list(lines)
        if len(old) != len(self._lines):
            self.virtual_size = Size(self.size.width, len(self._lines))
            self._strips.clear()
            self.refresh()
            return len(self._lines)
        changed = [y for y, line in enumerate(self._lines) if line != old[y]]
        for y in changed:
            self._redraw(y)
        return len(changed)

    def render_lines(self, crop: Region) -> list[Strip]:
        # Computed once per draw: Textual derives the style from all ancestors each time.
        self._ground = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        line = self.scroll_offset.y + y
        if line >= len(self._lines):
            return Strip.blank(self.size.width, self._ground)
        strip = self._strips.get(line)
        if strip is None:
            strip = self._strips[line] = self._strip(line)
        return strip

    def line_style(self, line: int) -> Style | None:
        """Return the background of a line; None for the widget's own background."""
        return None

    def under(self, variable: str) -> Style:
        """Return a style with the colour of a theme variable as its background."""
        return Style(bgcolor=self.palette.colour(variable))

    def _strip(self, line: int) -> Strip:
        return self._strip_of(self._lines[line], line)

    def _strip_of(self, spans: Spans, line: int) -> Strip:
        style = self.palette.style
        strip = Strip([Segment(text, style(role)) for text, role in spans])
        strip = strip.adjust_cell_length(self.size.width)
        # A line-API widget must paint its own background.
        ground = self.line_style(line)
        return strip.apply_style(self._ground + ground if ground else self._ground)

    def _redraw(self, line: int) -> None:
        self._strips.pop(line, None)
        y = line - self.scroll_offset.y
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def on_resize(self) -> None:
        self._strips.clear()
        self.virtual_size = Size(self.size.width, self.height)
        self.resized()

    def resized(self) -> None:
        """Update the lines after a change of the size. Does nothing in this base class."""

    def _theme_changed(self, _theme: object) -> None:
        self._palette = None
        self._strips.clear()
        self.refresh()

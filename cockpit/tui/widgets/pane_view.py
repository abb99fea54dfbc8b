"""Show an agent's pane in its own colours, as last captured.

`core.sgr` parses the lines and lets only text and colours through; parsed lines are cached. Lines
that are wider than the view are folded. The view shows the end of the pane, where agents write. If
the pane is taller than the view, several empty lines are shown as one, so that short output fits.
A panel that the CLI draws beside its text is left out if the view is narrower than the lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from cockpit.core.sgr import PLAIN, runs
from cockpit.core.sgr import Style as AnsiStyle
from cockpit.tui.present.pane_lines import fit_runs, is_blank, panel_column, without_panel
from cockpit.tui.widgets.ansi_palette import AnsiPalette
from cockpit.wire.stream import ScreenShot

Place = tuple[str, AnsiStyle, int]
"""A captured line, the style at its start, and the index of one of its folded lines."""

KEPT = 2000
"""Maximum number of cached lines; a full cache is cleared."""
ENDED = "This process has ended"
"""The beginning of tmux's line in a dead pane, as cockpit configures it."""


class PaneView(ScrollView, can_focus=False):
    """Shows the end of a pane, or a message if there is no pane."""

    DEFAULT_CSS = """
    PaneView { overflow-x: hidden; scrollbar-size-vertical: 0; }
    """

    def __init__(self) -> None:
        super().__init__(id="pane")
        self._captured: list[str] = []
        self._lines: list[Place] = []
        self._known: dict[tuple[str, AnsiStyle], _Folded] = {}
        self._known_width = 0
        self._panel: int | None = None
        """The column of the panel that is left out; None without a panel."""
        self._ansi_palette: AnsiPalette | None = None
        self._words = ""
        self._ground = Style()
        self.whose = ""
        """The name of the agent whose capture is shown; empty if no capture is shown."""

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._theme_changed)

    @property
    def ansi_palette(self) -> AnsiPalette:
        if self._ansi_palette is None:
            self._ansi_palette = AnsiPalette(self.app.get_css_variables(), self.app.ansi_theme)
        return self._ansi_palette

    def show_message(self, text: str) -> None:
        """Show a message in place of the pane."""
        self.whose = ""
        if text != self._words or self._lines:
            self._words, self._lines, self._captured = text, [], []
            self._measure()
            self.refresh()

    def show(self, shot: ScreenShot, *, whose: str = "") -> int:
        """Show a capture; return the number of changed lines.

        If the total number of lines changed, redraws all lines and returns their number.
        """
        at_end = self.is_vertical_scroll_end or not self._lines
        from_end = len(self._lines) - self.scroll_offset.y
        old, self._words, self.whose = self._lines, "", whose
        self._captured = _until_last(shot.lines)
        self._find_panel()
        self._lines = self._places()
        if len(old) != len(self._lines):
            self._measure()
            if at_end:
                self.scroll_end(animate=False, force=True, immediate=True, x_axis=False)
            else:
                y = max(0, len(self._lines) - from_end)
                self.scroll_to(y=y, animate=False, force=True, immediate=True)
            self.refresh()
            return len(self._lines)
        changed = [y for y, entry in enumerate(self._lines) if entry != old[y]]
        for line in changed:
            y = line - self.scroll_offset.y
            if 0 <= y < self.size.height:
                self.refresh(Region(0, y, self.size.width, 1))
        return len(changed)

    def page(self, direction: int) -> None:
        """Scroll by most of the visible lines: -1 up, 1 down."""
        self.scroll_relative(y=direction * max(1, self.size.height - 2), animate=False, force=True)

    def render_lines(self, crop: Region) -> list[Strip]:
        # Computed once per draw: Textual derives the style from all ancestors each time.
        self._ground = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if self._words:
            text = f"  {self._words}" if y == min(1, self.size.height - 1) else ""
            words = Strip([Segment(text, Style(dim=True))]).adjust_cell_length(width)
            return words.apply_style(self._ground)
        line = self.scroll_offset.y + y
        if line >= len(self._lines):
            return Strip.blank(width, self._ground)
        captured, pen, part = self._lines[line]
        strip = self._folded(captured, pen).strips[part]
        return strip.crop_extend(0, width, None).apply_style(self._ground)

    def on_resize(self) -> None:
        self._find_panel()
        self._lines = self._places()
        self._measure()
        self.scroll_end(animate=False, force=True, immediate=True, x_axis=False)

    def _measure(self) -> None:
        self.virtual_size = Size(self.size.width, len(self._lines))

    def _find_panel(self) -> None:
        """Find the panel to leave out; there is none if every captured line fits into the view."""
        texts = [_plain(line) for line in self._captured]
        is_wide = any(cell_len(text) > self.size.width for text in texts)
        panel = panel_column(texts) if is_wide else None
        if panel != self._panel:
            self._panel = panel
            self._known.clear()

    def _places(self) -> list[Place]:
        """Return the lines to show, each with its initial style.

        In tmux's output, a style continues on the next line. Repeated empty lines are left out if
        the view is too low for all lines.
        """
        if self.size.width != self._known_width:
            self._known.clear()
            self._known_width = self.size.width
        pen, places, blank = PLAIN, list[Place](), list[bool]()
        for line in self._captured:
            folded = self._folded(line, pen)
            places += [(line, pen, part) for part in range(len(folded.strips))]
            blank += [folded.is_blank] * len(folded.strips)
            pen = folded.after
        if len(places) <= self.size.height:
            return places
        return [
            place
            for at, place in enumerate(places)
            if not (blank[at] and at and blank[at - 1]) and (at or not blank[at])
        ]

    def _folded(self, line: str, pen: AnsiStyle) -> _Folded:
        folded = self._known.get((line, pen))
        if folded is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            parts, after = runs(line, pen)
            if self._panel is not None:
                parts = list(without_panel(parts, self._panel))
            style = self.ansi_palette.style
            strips = [
                Strip([Segment(text, style(own)) for text, own in part])
                for part in fit_runs(parts, self._known_width)
            ]
            folded = self._known[line, pen] = _Folded(strips, is_blank(parts), after)
        return folded

    def _theme_changed(self, _theme: object) -> None:
        self._ansi_palette = None
        self._known.clear()
        self.refresh()


class _Folded(NamedTuple):
    strips: list[Strip]
    is_blank: bool
    after: AnsiStyle
    """The style at the end of the line, in which the next line starts."""


@lru_cache(KEPT)
def _plain(line: str) -> str:
    """Return a captured line without its colours."""
    return "".join(text for text, _ in runs(line, PLAIN)[0])


def _until_last(lines: Sequence[str]) -> list[str]:
    """Return the lines without trailing empty ones, and without a key that only the pane has."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return [*lines[: end - 1], _without_key(lines[end - 1])] if end else []


def _without_key(line: str) -> str:
    """Return the last line of a dead pane without the key that goes back from the pane.

    The key has another effect, or none, where the pane is only shown.
    """
    before, ended, rest = line.partition(ENDED)
    how, dot, key = rest.partition(". ")
    if ended and dot and key.rstrip().endswith("goes back."):
        return f"{before}{ended}{how}."
    return line

"""A list with a selected line; each line has an identifying key.

The selection stays on the same key when lines are added or removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message

from cockpit.tui.present.span import Span
from cockpit.tui.widgets.lines import Lines, Spans

Say = Callable[[str, int], Spans]
"""Renders the line with this key at this width."""

MARGIN = 3
"""Cells beside each line: two for the cursor, one for the scroll bar."""


class Picker(Lines, can_focus=True, inherit_bindings=False):
    """A list that gets its lines from `show`, and reports the selection by messages.

    The list has no key bindings, not even for scrolling: the screen binds the keys.
    """

    DEFAULT_CSS = """
    Picker { height: auto; scrollbar-size-vertical: 1; }
    """

    class Moved(Message):
        """Another line was selected, or none if the list is empty."""

    class Picked(Message):
        """The user clicked the selected line."""

    def __init__(self, say: Say, *, empty: str, id: str) -> None:  # noqa: A002 (Textual's word)
        super().__init__(id=id)
        self._say = say
        self._empty = empty
        self._known: dict[tuple[str, int], list[Span]] = {}
        self.keys: Sequence[str] = ()
        self.selected: str | None = None

    def show(self, keys: Sequence[str], *, empty: str | None = None) -> None:
        """Set the lines and render them again.

        Keeps the selected key; if that key was removed, selects the line that is now at its
        position.
        """
        place = self._place()
        self._known.clear()
        self.keys = tuple(keys)
        if empty is not None:
            self._empty = empty
        before = self.selected
        if before not in self.keys:
            self.selected = self.keys[min(place, len(self.keys) - 1)] if self.keys else None
        self._draw()
        if self.selected != before:
            self.post_message(self.Moved())

    def select(self, key: str | None) -> None:
        """Select the line with this key, if any, and scroll the selected line into view."""
        if key in self.keys and key != self.selected:
            self.selected = key
            self._draw()
            self.post_message(self.Moved())
        self._bring_into_view()

    def move(self, steps: int) -> None:
        """Move the selection down by `steps`, up if negative; stops at the ends."""
        if self.keys:
            self.select(self.keys[min(max(self._place() + steps, 0), len(self.keys) - 1)])

    def page(self) -> int:
        """Return the number of lines by which a page key moves the selection."""
        return max(1, self.size.height - 1)

    def line_style(self, line: int) -> Style | None:
        chosen = line < len(self.keys) and self.keys[line] == self.selected
        return self.under("row-selected") if chosen else None

    def resized(self) -> None:
        self._known.clear()
        self._draw()
        self.call_after_refresh(self._bring_into_view)

    def on_click(self, event: events.Click) -> None:
        line = self.scroll_offset.y + event.y
        if line >= len(self.keys):
            return
        if self.keys[line] == self.selected:
            self.post_message(self.Picked())
        else:
            self.select(self.keys[line])

    def _place(self) -> int:
        return self.keys.index(self.selected) if self.selected in self.keys else 0

    def _draw(self) -> None:
        width = self.size.width
        if not width:
            return
        if not self.keys:
            self.set_lines([[Span(f"  {self._empty}", "muted")]])
            return
        self.set_lines([self._line(key, width) for key in self.keys])

    def _line(self, key: str, width: int) -> list[Span]:
        at = (key, width)
        if at not in self._known:
            self._known[at] = list(self._say(key, width - MARGIN))
        cursor = Span("▌ ", "cursor") if key == self.selected else Span("  ")
        return [cursor, *self._known[at]]

    def _bring_into_view(self) -> None:
        if self.keys:
            region = Region(0, self._place(), 1, 1)
            self.scroll_to_region(region, animate=False, force=True)

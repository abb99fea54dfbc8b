"""A list of items of several lines each; the selected item is kept in view."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message

from cockpit.tui.present.span import Span
from cockpit.tui.widgets.lines import Lines, Spans

Say = Callable[[int, int], Sequence[Spans]]
"""Renders the item with this index, in lines of this width."""


class Blocks(Lines, can_focus=True, inherit_bindings=False):
    """A list of items with a selected item.

    `say` renders an item; `after` renders the lines below all items.
    """

    is_table = False
    """Whether the items follow each other without an empty line between them."""

    class Moved(Message):
        """The user selected another item."""

    def __init__(self, say: Say, after: Callable[[int], Sequence[Spans]], *, id: str) -> None:  # noqa: A002 (Textual's word)
        super().__init__(id=id)
        self._say = say
        self._after = after
        self._keys: Sequence[str] = ()
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.selected = 0

    def show(self, keys: Sequence[str] | None = None) -> None:
        """Set the items, or redraw the current ones.

        Keeps the selected item; if it was removed, selects the item that is now at its position.
        """
        if keys is not None:
            before = self._keys[self.selected] if self.selected < len(self._keys) else None
            self._keys = tuple(keys)
            if before in self._keys:
                self.selected = self._keys.index(before)
            self.selected = min(self.selected, max(0, len(self._keys) - 1))
        self._draw()

    def move(self, steps: int) -> None:
        """Move the selection down by `steps`, up if negative; stops at the ends."""
        place = min(max(self.selected + steps, 0), max(0, len(self._keys) - 1))
        if place != self.selected:
            self.selected = place
            self._draw()
            self.post_message(self.Moved())
        self._bring_into_view()

    def line_style(self, line: int) -> Style | None:
        if not self._keys or self.selected >= len(self._starts):
            return None
        chosen = self._starts[self.selected] <= line < self._ends[self.selected]
        return self.under("row-selected") if chosen else None

    def on_click(self, event: events.Click) -> None:
        line = self.scroll_offset.y + event.y
        for place, (start, end) in enumerate(zip(self._starts, self._ends, strict=True)):
            if start <= line < end:
                self.move(place - self.selected)

    def resized(self) -> None:
        self._draw()
        self.call_after_refresh(self._bring_into_view)

    def _draw(self) -> None:
        width = self.size.width
        if not width:
            return
        lines: list[Spans] = []
        self._starts, self._ends = [], []
        for place in range(len(self._keys)):
            self._starts.append(len(lines))
            mark = Span("▌", "cursor") if place == self.selected else Span(" ")
            lines += [[mark, *line] for line in self._say(place, width - 2)]
            self._ends.append(len(lines))
            if not self.is_table:
                lines.append([])
        if self.is_table and self._keys:
            lines.append([])
        lines += self._after(width - 1)
        self._strips.clear()
        self.set_lines(lines)
        self.refresh()

    def _bring_into_view(self) -> None:
        if self.selected < len(self._starts):
            start, end = self._starts[self.selected], self._ends[self.selected]
            height = min(end - start, max(1, self.size.height))
            self.scroll_to_region(Region(0, start, 1, height), animate=False, force=True)

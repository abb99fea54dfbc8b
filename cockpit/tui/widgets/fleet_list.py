"""The fleet as one widget: groups, a row per agent, a selection. It asks nothing of anybody."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic

from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message

from cockpit.tui.model import Model
from cockpit.tui.present.columns import Layout, layout
from cockpit.tui.present.fleet import Gap, Heading, Line, Place, heading_spans, lines_of, row_spans
from cockpit.tui.present.row import Row, row_of
from cockpit.tui.present.sorting import COLUMN
from cockpit.tui.present.span import Span
from cockpit.tui.widgets.lines import Lines, under

EMPTY = "No agents yet: n starts one."


def _now() -> datetime:
    return datetime.now(UTC)


class FleetList(Lines, can_focus=True):
    """One row per agent with its context bar; the selected one is marked."""

    DEFAULT_CSS = """
    FleetList { height: auto; scrollbar-size-vertical: 1; }
    """

    class Picked(Message):
        """A row was clicked that was selected already."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Headed(Message):
        """A group's title, which names the columns, was clicked."""

    class Grew(Message):
        """The number of lines is another, so the screen may share out its height anew."""

        def __init__(self, lines: int) -> None:
            super().__init__()
            self.lines = lines

    def __init__(self, model: Model, *, now: Callable[[], datetime] = _now) -> None:
        super().__init__(id="fleet")
        self._model = model
        self._now = now
        self._rows: dict[str, Row] = {}
        self._outdated: set[str] = set()
        self._places: list[Line] = []
        self._layout = Layout(0, ())
        self._spans_of: dict[str, tuple[tuple[object, ...], list[Span]]] = {}
        self.filter = ""
        """Words that an agent must have to be shown; empty shows all."""
        self.sort = "need"
        """One of `present.sorting.ORDERS`; inside the groups, which keep theirs."""
        self._airy = False

    @property
    def names(self) -> list[str]:
        """Who is shown, from the top."""
        return [line.name for line in self._places if isinstance(line, Place)]

    @property
    def least(self) -> int:
        """Lines that it needs, with nothing between its groups."""
        return max(1, sum(not isinstance(line, Gap) for line in self._places))

    def give(self, lines: int) -> None:
        """Set groups apart where that much room is there for it; twice is the same as once."""
        groups = sum(isinstance(line, Heading) for line in self._places)
        airy = self.least + groups - 1 <= lines
        if airy != self._airy:
            self._airy = airy
            if groups > 1:
                self.show()

    def outdated(self, name: str) -> None:
        """Have this agent's row made anew at the next `show`; the others keep theirs."""
        self._outdated.add(name)

    def show(self, *, afresh: bool = False) -> int:
        """Draw what the model holds now, where it differs; how many lines that were.

        Rows are made once and kept, until their agent is `outdated` or all are made `afresh`.
        """
        agents = self._model.agents
        now, heard = self._now(), monotonic()
        kept = {} if afresh else self._rows
        self._rows = {
            name: kept[name]
            if name in kept and name not in self._outdated
            else row_of(
                agent,
                heard_seconds=heard - self._model.heard_at[name],
                now=now,
                lost=self._model.is_lost(name),
            )
            for name, agent in agents.items()
        }
        self._outdated.clear()
        before = len(self._places)
        self._places = lines_of(agents.values(), self.filter, self.sort, airy=self._airy)
        if len(self._places) != before:
            self.post_message(self.Grew(max(1, len(self._places))))
        return self._draw()

    def select(self, name: str | None) -> None:
        """Mark a row and bring it into view."""
        self._model.select(name)
        self._draw()
        self._bring_into_view()

    def move(self, steps: int) -> None:
        """Select another row, so many further down; the ends hold."""
        names = self.names
        if not names:
            return
        selected = self._model.selected
        if selected in names:
            index = min(max(names.index(selected) + steps, 0), len(names) - 1)
        else:
            index = 0 if steps > 0 else len(names) - 1
        self.select(names[index])

    def name_at(self, number: int) -> str | None:
        """Who has this number, from 1."""
        names = self.names
        return names[number - 1] if 0 < number <= len(names) else None

    def line_style(self, line: int) -> Style | None:
        place = self._places[line] if line < len(self._places) else None
        if isinstance(place, Place) and place.name == self._model.selected:
            return under(self.app, "row-selected")
        return None

    def resized(self) -> None:
        self._draw()
        self.call_after_refresh(self._bring_into_view)

    def on_click(self, event: events.Click) -> None:
        line = self.scroll_offset.y + event.y
        place = self._places[line] if line < len(self._places) else None
        if isinstance(place, Heading):
            self.post_message(self.Headed())
        if not isinstance(place, Place):
            return
        if place.name == self._model.selected:
            self.post_message(self.Picked(place.name))
        else:
            self.select(place.name)

    def _draw(self) -> int:
        width = self.size.width
        if not width:
            return 0
        if not self._places:
            text = "No agent matches the filter." if self.filter else EMPTY
            return self.set_lines([[Span(f"  {text}", "muted")]])
        self._layout = layout([self._rows[name] for name in self.names], width)
        return self.set_lines([self._spans(line) for line in self._places])

    def _spans(self, line: Line) -> list[Span]:
        if isinstance(line, Gap):
            return [Span(" " * self._layout.width)]
        if isinstance(line, Heading):
            return heading_spans(line, self._layout, COLUMN.get(self.sort, ""))
        row, selected = self._rows[line.name], line.name == self._model.selected
        made_of = (row, line, self._layout, selected)
        known = self._spans_of.get(line.name)
        if known is None or known[0] != made_of:
            spans = row_spans(row, line, self._layout, selected=selected)
            known = self._spans_of[line.name] = (made_of, spans)
        return known[1]

    def _line_of(self, name: str | None) -> int | None:
        for index, line in enumerate(self._places):
            if isinstance(line, Place) and line.name == name:
                return index
        return None

    def _bring_into_view(self) -> None:
        """Scroll to the selected row, and to its group's title where it is the first of it."""
        line = self._line_of(self._model.selected)
        if line is not None:
            top = line - 1 if line and isinstance(self._places[line - 1], Heading) else line
            self.scroll_to_region(Region(0, top, 1, line - top + 1), animate=False, force=True)

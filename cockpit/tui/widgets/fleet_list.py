"""The list of agents, grouped, with a selection. Makes no requests."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic

from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message

from cockpit.tui.present.columns import Layout, layout
from cockpit.tui.present.fleet import (
    AgentLine,
    Gap,
    Heading,
    Line,
    heading_spans,
    lines_of,
    row_spans,
)
from cockpit.tui.present.row import Row, row_of
from cockpit.tui.present.sorting import COLUMN
from cockpit.tui.present.span import Span
from cockpit.tui.state.model import Model
from cockpit.tui.widgets.lines import Lines, under

EMPTY = "No agents yet. Press n to start one."


def _now() -> datetime:
    return datetime.now(UTC)


class FleetList(Lines, can_focus=True):
    """One row per agent, with its context bar."""

    DEFAULT_CSS = """
    FleetList { height: auto; scrollbar-size-vertical: 1; }
    """

    class Picked(Message):
        """The selected row was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Headed(Message):
        """A group heading was clicked."""

    class Grew(Message):
        """The number of lines changed, so the screen may need a new layout."""

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
        """Only agents that match all of these words are shown; empty shows all."""
        self.sort = "need"
        """The order inside the groups, one of `present.sorting.ORDERS`."""
        self._airy = False

    @property
    def names(self) -> list[str]:
        """The names of the agents shown, from the top."""
        return [line.name for line in self._places if isinstance(line, AgentLine)]

    @property
    def least(self) -> int:
        """The lines needed without empty lines between groups."""
        return max(1, sum(not isinstance(line, Gap) for line in self._places))

    def give(self, lines: int) -> None:
        """Add empty lines between groups if they fit into `lines`. Idempotent."""
        groups = sum(isinstance(line, Heading) for line in self._places)
        airy = self.least + groups - 1 <= lines
        if airy != self._airy:
            self._airy = airy
            if groups > 1:
                self.show()

    def outdated(self, name: str) -> None:
        """Rebuild this agent's row at the next `show`."""
        self._outdated.add(name)

    def show(self, *, afresh: bool = False) -> int:
        """Redraw the lines that changed; returns how many.

        Rows are cached until their agent is `outdated`; `afresh` rebuilds all.
        """
        agents = self._model.agents
        now, heard = self._now(), monotonic()
        kept = {} if afresh else self._rows
        self._rows = {
            name: kept[name]
            if name in kept and name not in self._outdated
            else row_of(
                agent,
                heard_seconds=heard - self._model.received_at[name],
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
        """Select a row and scroll it into view."""
        self._model.select(name)
        self._draw()
        self._bring_into_view()

    def move(self, steps: int) -> None:
        """Move the selection down by `steps`, up if negative; stops at the ends."""
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
        """The agent with this number, from 1."""
        names = self.names
        return names[number - 1] if 0 < number <= len(names) else None

    def line_style(self, line: int) -> Style | None:
        place = self._places[line] if line < len(self._places) else None
        if isinstance(place, AgentLine) and place.name == self._model.selected:
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
        if not isinstance(place, AgentLine):
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
            if isinstance(line, AgentLine) and line.name == name:
                return index
        return None

    def _bring_into_view(self) -> None:
        """Scroll to the selected row, with its group's heading if it is the first row."""
        line = self._line_of(self._model.selected)
        if line is not None:
            top = line - 1 if line and isinstance(self._places[line - 1], Heading) else line
            self.scroll_to_region(Region(0, top, 1, line - top + 1), animate=False, force=True)

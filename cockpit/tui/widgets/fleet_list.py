"""The list of agents, grouped, with a selection. Makes no requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from time import monotonic

from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message

from cockpit.core.safetext import safe_line
from cockpit.tui.keys.reasons import press
from cockpit.tui.present.columns import Extent, Layout, layout
from cockpit.tui.present.fleet import (
    AgentLine,
    Edge,
    ElsewhereLine,
    Gap,
    Heading,
    Line,
    Note,
    elsewhere_spans,
    framed,
    heading_spans,
    row_spans,
    with_filled_name,
)
from cockpit.tui.present.listing import Listing
from cockpit.tui.present.row import Row, age_of, cost_of, row_of
from cockpit.tui.present.sorting import ORDERS
from cockpit.tui.present.span import Span, broken, without_rule
from cockpit.tui.state.model import Model
from cockpit.tui.widgets.visible_lines import VisibleLines
from cockpit.wire.status import AgentStatus

ALARMING = frozenset({"needs", "failed"})
"""Roles of states whose rows have a background of their own."""


def _now() -> datetime:
    return datetime.now(UTC)


class FleetList(VisibleLines, can_focus=True):
    """The list of agents, in groups: one row per agent, with the agent's context bar."""

    DEFAULT_CSS = """
    FleetList { height: auto; scrollbar-size-vertical: 1; }
    """

    class Picked(Message):
        """The user clicked the selected row."""

    class Headed(Message):
        """The user clicked the heading of a group."""

    class Grew(Message):
        """The number of lines changed, so the screen may need a new layout."""

        def __init__(self, lines: int) -> None:
            super().__init__()
            self.lines = lines

    def __init__(
        self,
        model: Model,
        *,
        now: Callable[[], datetime] = _now,
        open_key: Callable[[], str] = lambda: "Enter",
    ) -> None:
        """`open_key` returns the key that opens the selected row, as printed on a keyboard."""
        super().__init__(id="fleet")
        self._model = model
        self._now = now
        self._open_key = open_key
        self._agents: dict[str, AgentStatus] = {}
        """The agents as listed; the model can have newer data."""
        self._rows: dict[str, Row] = {}
        """Cached rows by agent; a row is dropped when its agent changes."""
        self._outdated: set[str] = set()
        self._listing = Listing()
        self._after: list[Line] = []
        """The lines below the agents, or the lines of a list without agents."""
        self._extent = Extent()
        self._layout = Layout(0, ())
        self._frame = ""
        """The role of the frame; empty without a frame."""
        self._spans_of: dict[str, tuple[tuple[object, ...], list[Span]]] = {}
        self.filter = ""
        """Only agents that match all of these words are shown; empty shows all."""
        self.sort = "need"
        """The order inside the groups, one of `present.sorting.ORDERS`."""
        self._marks: set[str] = set()
        self._airy = False
        self._framed = False
        """Whether the list gets a frame; a list without agents never has one."""
        self._wants_elsewhere = False

    @property
    def at_elsewhere(self) -> bool:
        """Whether the group of sessions that cockpit did not start is selected instead of an
        agent."""
        return self._wants_elsewhere and not self._model.selected and self._has_elsewhere

    @property
    def _has_elsewhere(self) -> bool:
        return bool(self._model.elsewhere) and not self.filter

    @property
    def _is_low(self) -> bool:
        return getattr(self.app, "is_low", False)

    @property
    def _empty(self) -> str:
        """Return why there are no agents, and the next step."""
        if self._model.any_live and (held := self._model.held):
            file, host = safe_line(held[0].file, 300), held[0].host
            there = f" on {safe_line(host, 32)}" if host else ""
            return (
                f"No agents yet. {file}{there} has settings that are ignored until you trust the "
                f"file. Read it, then run: cockpit config trust {file}"
            )
        if self._model.any_live:
            return f"No agents yet. {press(self._model, 'start')} to start one."
        if self._model.connection.lost_at is None:
            return "The agents are unknown until the supervisor answers."
        return f"The agents are unknown. {self._model.main.unreachable}"

    @property
    def names(self) -> list[str]:
        """The names of the shown agents, from the top."""
        return self._listing.names

    @property
    def _order(self) -> str:
        """The sort order in words; empty for `need`, the supervisor's order."""
        return "" if self.sort == "need" else ORDERS.get(self.sort, "")

    @property
    def _has_frame(self) -> bool:
        return self._framed and bool(self._listing.height)

    @property
    def _inside(self) -> int:
        """The width of a row in cells, without the frame."""
        return max(0, self.size.width - 2 * self._has_frame)

    @property
    def marked(self) -> list[str]:
        """The marked agents that the filter does not hide, from the top."""
        return [name for name in self.names if name in self._marks] if self._marks else []

    def mark(self, name: str) -> None:
        """Mark an agent, or remove its mark."""
        self._marks ^= {name}
        self._draw()

    def unmark(self, names: Iterable[str]) -> None:
        """Remove the marks of these agents."""
        self._marks.difference_update(names)
        self._draw()

    def unmark_all(self) -> bool:
        """Remove all marks, also of agents that the filter hides; return whether there were any."""
        had_marks = bool(self._marks)
        self._marks.clear()
        self._draw()
        return had_marks

    @property
    def least(self) -> int:
        """Number of lines of the whole list without empty lines between groups."""
        after = sum(not isinstance(line, Gap) for line in self._after)
        return max(1, self._listing.height - self._listing.gaps + after)

    def give(self, lines: int, *, framed: bool) -> None:
        """Show or hide the frame. Separate the groups with empty lines only if the whole list then
        fits into `lines`. Idempotent."""
        was = (self._airy, self._framed)
        groups = self._listing.headings
        edges = sum(isinstance(line, Edge) for line in self._after)
        self._framed = framed
        self._airy = self.least - edges + framed + groups - 1 <= lines
        if was != (self._airy, self._framed):
            self.show()

    def outdated(self, name: str) -> None:
        """Rebuild this agent's row at the next `show`."""
        self._outdated.add(name)

    def show(self, *, afresh: bool = False) -> int:
        """Redraw the visible lines that changed; return the number of redrawn lines.

        A row is cached until `outdated` is called for its agent; `afresh` rebuilds all rows.
        """
        before = self.height
        if afresh or not self._listing.holds(self._model.agents, self.filter, self.sort):
            self._list_all(keep_rows=not afresh)
        else:
            self._list_outdated()
        self._outdated.clear()
        self._listing.airy = self._airy
        self._after = list(self._lines_after())
        if (height := self._listing.height + len(self._after)) != before:
            self.post_message(self.Grew(max(1, height)))
        return self._draw()

    def _list_all(self, *, keep_rows: bool) -> None:
        """Rebuild the list; `keep_rows` keeps the cached rows of agents that did not change."""
        kept = self._rows if keep_rows else {}
        self._agents = dict(self._model.agents)
        self._marks &= self._agents.keys()
        self._listing.fill(self._agents.values(), self.filter, self.sort)
        current = self._agents.keys() - self._outdated
        self._rows = {name: row for name, row in kept.items() if name in current}
        self._spans_of = {
            name: self._spans_of[name] for name in self._rows if name in self._spans_of
        }
        self._extent.clear()
        now = self._now()
        for name in self._listing.names:
            self._measure(self._agents[name], now)

    def _list_outdated(self) -> None:
        """Update the lines of the agents that changed."""
        now = self._now()
        for name in self._outdated & self._agents.keys():
            agent = self._agents[name] = self._model.agents[name]
            self._rows.pop(name, None)
            self._listing.change(agent)
            if name in self._listing:
                self._measure(agent, now)
            else:
                self._extent.remove(name)

    def _measure(self, agent: AgentStatus, now: datetime) -> None:
        self._extent.put(agent.name, age_of(agent, now), cost_of(agent))

    def _lines_after(self) -> Iterator[Line]:
        if not self._listing.height:
            text = "No agent matches the filter." if self.filter else self._empty
            width = self._inside - 2  # below 0 before the first layout
            yield from map(Note, broken(text, max(20, width)) if width > 0 else [text])
        if self._has_elsewhere:
            if self._airy:
                yield Gap()
            yield ElsewhereLine(self._model.elsewhere)
        if self._has_frame:
            yield Edge()

    def _line_at(self, line: int) -> Line | None:
        """Return the line with this number, from 0; None below the last line."""
        if line < self._listing.height:
            return self._listing.line(line)
        below = line - self._listing.height
        return self._after[below] if below < len(self._after) else None

    def _row(self, name: str) -> Row:
        row = self._rows.get(name)
        if row is None:
            heard = monotonic()
            row = self._rows[name] = row_of(
                self._agents[name],
                heard_seconds=heard - self._model.received_at.get(name, heard),
                now=self._now(),
                lost=self._model.is_lost(name),
            )
        return row

    def select(self, name: str | None) -> None:
        """Select an agent's row and scroll it into view; None selects no row."""
        self._wants_elsewhere = False
        self._model.select(name)
        self._draw()
        self._bring_into_view()

    def select_elsewhere(self) -> None:
        """Select the group of sessions that cockpit did not start, instead of an agent."""
        self._wants_elsewhere = True
        self._model.select(None)
        self._draw()
        self._bring_into_view()

    def move(self, steps: int) -> None:
        """Move the selection down by `steps`, up if negative; stops at the ends.

        After the last agent comes the group of sessions that cockpit did not start, if any.
        """
        stops: list[str | None] = [*self.names, *([None] if self._has_elsewhere else [])]
        if not stops:
            return
        selected = self._model.selected
        if selected in stops and (selected or self.at_elsewhere):
            index = min(max(stops.index(selected) + steps, 0), len(stops) - 1)
        else:
            index = 0 if steps > 0 else len(stops) - 1
        if (name := stops[index]) is None:
            self.select_elsewhere()
        else:
            self.select(name)

    def name_at(self, number: int) -> str | None:
        """Return the name of the agent with this number, from 1; None without such an agent."""
        names = self.names
        return names[number - 1] if 0 < number <= len(names) else None

    def line_style(self, line: int) -> Style | None:
        if self._is_low:
            return None  # with a background, a new selection would change every cell of two rows
        place = self._line_at(line)
        if isinstance(place, AgentLine) and place.name == self._model.selected:
            return self.under("row-selected")
        if isinstance(place, ElsewhereLine) and self.at_elsewhere:
            return self.under("row-selected")
        if isinstance(place, AgentLine) and self._row(place.name).look.role in ALARMING:
            return self.under("row-needs")
        return None

    def resized(self) -> None:
        self._draw()
        self.call_after_refresh(self._bring_into_view)

    def on_click(self, event: events.Click) -> None:
        line = self.scroll_offset.y + event.y
        place = self._line_at(line)
        if isinstance(place, Heading):
            self.post_message(self.Headed())
        if isinstance(place, ElsewhereLine):
            if self.at_elsewhere:
                self.post_message(self.Picked())
            else:
                self.select_elsewhere()
        if not isinstance(place, AgentLine):
            return
        if place.name == self._model.selected:
            self.post_message(self.Picked())
        else:
            self.select(place.name)

    def _draw(self) -> int:
        if not self.size.width:
            return 0
        self._layout = layout(self._extent, self._inside)
        # Computed once for all lines: Textual derives the size from all ancestors each time.
        self._frame = ("frame-here" if self.has_focus else "frame") if self._has_frame else ""
        return self.redraw(self._listing.height + len(self._after))

    def spans_at(self, line: int) -> list[Span]:
        place = self._line_at(line)
        return (
            []
            if place is None
            else self._spans(place, self._layout.width + 2 * bool(self._frame), self._frame)
        )

    def _spans(self, line: Line, width: int, frame: str) -> list[Span]:
        if isinstance(line, Heading):
            spans = heading_spans(line, width, self._order, frame)
            return without_rule(spans) if self._is_low else spans
        if isinstance(line, Edge):
            return [Span(f"╰{'─' * max(0, width - 2)}╯", frame)]
        if isinstance(line, AgentLine):
            return self._agent_spans(line, width, frame)
        spans = self._contents(line)
        return framed(spans, width, frame) if frame else spans

    def _contents(self, line: Line) -> list[Span]:
        if isinstance(line, Note):
            return [Span(f"  {line.text}", "muted")]
        if isinstance(line, ElsewhereLine):
            spans = elsewhere_spans(
                line, self._inside, self._open_key(), selected=self.at_elsewhere
            )
            return with_filled_name(spans) if self._is_low else spans
        return [Span(" " * self._inside)]

    def _agent_spans(self, line: AgentLine, width: int, frame: str) -> list[Span]:
        row, selected = self._row(line.name), line.name == self._model.selected
        marked = line.name in self._marks
        made_of = (row, line, self._layout, selected, marked, frame, self._is_low)
        known = self._spans_of.get(line.name)
        if known is None or known[0] != made_of:
            spans = row_spans(row, line, self._layout, selected=selected, marked=marked)
            spans = framed(spans, width, frame) if frame else spans
            spans = with_filled_name(spans) if self._is_low else spans
            known = self._spans_of[line.name] = (made_of, spans)
        return known[1]

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        if self.height:
            self._draw()

    def _line_of(self, name: str | None) -> int | None:
        if not self.at_elsewhere:
            return self._listing.line_of(name)
        below = (i for i, line in enumerate(self._after) if isinstance(line, ElsewhereLine))
        first = next(below, None)
        return None if first is None else self._listing.height + first

    def _bring_into_view(self) -> None:
        """Scroll to the selected row; for a group's first row, show the group's heading too."""
        line = self._line_of(self._model.selected)
        if line is not None:
            top = line - 1 if line and isinstance(self._line_at(line - 1), Heading) else line
            self.scroll_to_region(Region(0, top, 1, line - top + 1), animate=False, force=True)

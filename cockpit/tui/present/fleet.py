"""The lines of the list of agents, and functions that render a line as spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.plurals import counted
from cockpit.tui.present import words
from cockpit.tui.present.bar import context_bar
from cockpit.tui.present.columns import Column, Layout, gap
from cockpit.tui.present.row import Row
from cockpit.tui.present.span import Span, fit, fit_words, merged, plain
from cockpit.tui.present.states import Group

QUIET = frozenset({"done", "stopped", "ended"})
"""The words of states that need no attention; rows of agents in these states are grey."""
MARKED = "*"
"""The sign of a marked agent, in the cell before the agent's number."""


@dataclass(frozen=True, slots=True)
class Heading:
    group: Group
    count: int
    first: bool
    """Whether this is the first heading of the list. The first heading shows the sort order."""


@dataclass(frozen=True, slots=True)
class AgentLine:
    """The line of an agent. `number` starts at 1; up to 9, the digit key selects the agent."""

    name: str
    number: int
    letters: tuple[int, ...] = ()
    """The positions of the characters in the name that match the filter."""


@dataclass(frozen=True, slots=True)
class Gap:
    """An empty line before a group."""


@dataclass(frozen=True, slots=True)
class Edge:
    """The bottom of the frame around the list."""


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence shown instead of agents."""

    text: str


@dataclass(frozen=True, slots=True)
class ElsewhereLine:
    """The line with the number of sessions that cockpit did not start, below all agents."""

    count: int


ListedLine = Heading | AgentLine | Gap
"""A line of the listing: a group's heading, an agent, or an empty line."""
Line = ListedLine | Edge | Note | ElsewhereLine


def heading_spans(heading: Heading, width: int, order: str = "", frame: str = "") -> list[Span]:
    """Return the group's title and count in a rule of exactly `width` cells.

    The first heading also shows the sort order, if there is room. `frame` is the role of the frame
    around the list; empty without a frame.
    """
    group, role = heading.group, frame or "rule"
    left, right = ("╭╮" if heading.first else "├┤") if frame else "──"
    title = [
        Span(f"{left} " if not frame else f"{left}─ ", role),
        Span(group.title, f"group-{group.key}"),
        Span(f" {heading.count} ", "muted"),
    ]
    used = sum(len(span.text) for span in title)
    if width <= used:
        return [Span(fit(plain(title), width), f"group-{group.key}")]
    after = f" {order} " if heading.first and order else ""
    room = width - used - len(after) - 2
    if room < 1:
        return merged([*title, Span("─" * (width - used - 1) + right, role)])
    return merged([*title, Span("─" * room, role), Span(after, "muted"), Span(f"─{right}", role)])


def framed(spans: list[Span], width: int, frame: str) -> list[Span]:
    """Return a line between the sides of a frame, in exactly `width` cells."""
    used = sum(cell_len(span.text) for span in spans)
    filled = Span(" " * max(0, width - 2 - used))
    return merged([Span("│", frame), *spans, filled, Span("│", frame)])


def elsewhere_spans(line: ElsewhereLine, width: int, key: str, *, selected: bool) -> list[Span]:
    """Return the line for the sessions that cockpit did not start.

    While the line is selected, it shows `key`, the key that lists the sessions.
    """
    text = f"Elsewhere: {counted(line.count, 'session')}"
    mark = Span("▌" if selected else " ", "cursor")
    if width < 2:
        return [mark]
    role = "name-here" if selected else "muted"
    after = f"  {key} lists them" if selected else ""
    used = 2 + len(text)
    if width <= used:
        return merged([mark, Span(" "), Span(fit(text, max(0, width - 2)), role)])
    return merged([mark, Span(" "), Span(text, role), Span(fit(after, width - used), "muted")])


def row_spans(
    row: Row, place: AgentLine, layout: Layout, *, selected: bool, marked: bool = False
) -> list[Span]:
    """Return one agent's row, exactly `layout.width` cells wide."""
    digit = str(place.number) if place.number <= 9 else " "
    spans = [Span("▌" if selected else " ", "cursor"), Span(f"{digit:>2} ", "number")]
    if marked:
        spans[1:] = [Span(MARKED, "cursor"), Span(f"{digit} ", "number")]
    for column in layout.columns:
        if column.key == "name" and place.letters:
            cells = _matched_cell(row, column, place.letters)
        else:
            cells = _CELLS.get(column.key, _plain_cell)(row, column)
        spans += [_chosen(cell) for cell in cells] if selected else cells
        spans.append(Span(" " * gap(column.key)))
    spans.pop()
    if row.lost or row.look.word in QUIET:
        spans = [_faded(span) for span in spans]
    spans.append(Span(" " * max(0, layout.width - sum(cell_len(span.text) for span in spans))))
    return merged(spans)


def with_filled_name(spans: list[Span]) -> list[Span]:
    """Return the spans of a selected row with a background only behind the name."""
    filled: list[Span] = []
    for span in spans:
        if span.role == "name-here":
            name = span.text.rstrip()
            filled += [Span(name, "name-filled"), Span(span.text[len(name) :])]
        else:
            filled.append(span)
    return merged(filled)


def _chosen(span: Span) -> Span:
    return span._replace(role="name-here") if span.role == "name" else span


def _faded(span: Span) -> Span:
    """Return the span in grey; unchanged for selection mark, selected name, state and bar."""
    kept = span.role in ("cursor", "name-here") or span.role.startswith(("bar", "state"))
    return span if kept else span._replace(role="muted")


def _plain_cell(row: Row, column: Column) -> list[Span]:
    text = getattr(row, column.key)
    role = "muted" if text == words.DASH else column.key
    return [Span(fit(text, column.width, right=column.right), role)]


def _matched_cell(row: Row, column: Column, letters: Sequence[int]) -> list[Span]:
    """Return the name, with the characters that match the filter highlighted."""
    text = fit(row.name, column.width)
    last = len(text) if text.startswith(row.name) else len(text.rstrip(" …"))
    return [
        Span(sign, "name-matched" if place in letters and place < last else "name")
        for place, sign in enumerate(text)
    ]


def _bar_cell(row: Row, column: Column) -> list[Span]:
    if row.absent:
        return [Span(" " * column.width)]
    return context_bar(row.context, column.width, stale=row.stale)


def _percent_cell(row: Row, column: Column) -> list[Span]:
    role = "stale" if row.stale else f"band-{row.context.band}"
    return [Span(fit(row.percent, column.width, right=True), role)]


def _state_cell(row: Row, column: Column) -> list[Span]:
    return [Span(fit(row.look.glyph, column.width), f"state-{row.look.role}")]


def _activity_cell(row: Row, column: Column) -> list[Span]:
    """Return the state's word, the age of an old token count, and the agent's activity."""
    spans = [
        Span(f"{text}  ", role)
        for text, role in (
            (row.state, f"state-{row.look.role}"),
            (row.turns if row.stale else "", "stale"),
        )
        if text
    ]
    used = sum(cell_len(span.text) for span in spans)
    if used >= column.width:
        return [Span(fit(plain(spans).rstrip(), column.width), spans[0].role)]
    return [*spans, Span(fit_words(row.activity, column.width - used), "activity")]


def _cost_cell(row: Row, column: Column) -> list[Span]:
    role = "warning" if row.over_budget else "cost"
    return [Span(fit(row.cost, column.width, right=column.right), role)]


_CELLS: dict[str, Callable[[Row, Column], list[Span]]] = {
    "bar": _bar_cell,
    "percent": _percent_cell,
    "state": _state_cell,
    "activity": _activity_cell,
    "cost": _cost_cell,
}

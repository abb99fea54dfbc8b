"""The agents as lines, in groups; the most urgent group is first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cockpit.core.plurals import counted
from cockpit.tui.present import words
from cockpit.tui.present.bar import context_bar
from cockpit.tui.present.columns import GAP, LEAD, Column, Layout
from cockpit.tui.present.matching import match
from cockpit.tui.present.row import Row
from cockpit.tui.present.sorting import ordered
from cockpit.tui.present.span import Span, fit, fit_words, merged
from cockpit.tui.present.states import GROUPS, Group, group_of
from cockpit.wire.status import AgentStatus

SORTED = "↓"
"""Marks the title of the sort column."""


@dataclass(frozen=True, slots=True)
class Heading:
    group: Group
    count: int
    first: bool
    """Whether this heading is the first one, which also shows the column titles."""


@dataclass(frozen=True, slots=True)
class AgentLine:
    """The line of an agent; `number` starts at 1, and its digit key selects the agent."""

    name: str
    number: int
    letters: tuple[int, ...] = ()
    """The positions of the characters in the name that match the filter."""


@dataclass(frozen=True, slots=True)
class Gap:
    """An empty line before a group."""


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence in place of the agents."""

    text: str


@dataclass(frozen=True, slots=True)
class ElsewhereLine:
    """The folded group of sessions that cockpit did not start, below all agents."""

    count: int


Line = Heading | AgentLine | Gap | Note | ElsewhereLine


def lines_of(
    agents: Iterable[AgentStatus], words_wanted: str = "", sort: str = "need", *, airy: bool = False
) -> list[Line]:
    """Return one line per agent, in groups; with a filter, only agents that match all its words.

    Inside a group, agents whose name matches come first.
    The default order inside a group is the supervisor's, so that an agent's row moves only when the
    agent's state changes. `airy` adds an empty line between groups.
    """
    wanted = words_wanted.lower().split()
    everyone = list(agents)
    matches = {agent.name: found for agent in everyone if (found := match(agent, wanted))}
    shown = ordered((agent for agent in everyone if agent.name in matches), sort)
    shown = sorted(shown, key=lambda agent: not matches[agent.name].by_name)
    lines: list[Line] = []
    number = 0
    for group in GROUPS:
        members = [agent for agent in shown if group_of(agent) is group]
        if members and lines and airy:
            lines.append(Gap())
        if members:
            lines.append(Heading(group, len(members), first=not lines))
        for agent in members:
            number += 1
            lines.append(AgentLine(agent.name, number, matches[agent.name].letters))
    return lines


def heading_spans(heading: Heading, layout: Layout, sorted_by: str = "") -> list[Span]:
    """Return the group's title and count; the first one also has the column titles that fit."""
    title = [
        Span(f"  {heading.group.title} ", f"group-{heading.group.key}"),
        Span(str(heading.count), "muted"),
    ]
    used = sum(len(span.text) for span in title)
    if not heading.first:
        return [*title, Span(" " * max(0, layout.width - used))]
    start = LEAD
    titles: list[Span] = []
    for column in layout.columns:
        end = start + column.width
        # A long group title shifts the column title to the right if there is room.
        begin = start if start > used + 1 else used + 2
        name = f"{column.title}{SORTED}" if column.key == sorted_by else column.title
        if name and (begin == start or end - begin >= len(name)):
            titles.append(Span(" " * (begin - used)))
            titles.append(Span(fit(name, end - begin, right=column.right), "title"))
            used = end
        start = end + GAP
    return merged([*title, *titles, Span(" " * max(0, layout.width - used))])


def elsewhere_spans(line: ElsewhereLine, width: int, key: str, *, selected: bool) -> list[Span]:
    """Return the line of the folded group; `key` opens it."""
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


def row_spans(row: Row, place: AgentLine, layout: Layout, *, selected: bool) -> list[Span]:
    """Return one agent's row, exactly `layout.width` cells wide."""
    digit = str(place.number) if place.number <= 9 else " "
    spans = [Span("▌" if selected else " ", "cursor"), Span(f"{digit:>2} ", "number")]
    for index, column in enumerate(layout.columns):
        if index:
            spans.append(Span(" " * GAP))
        if column.key == "name" and place.letters:
            cells = _matched_cell(row, column, place.letters)
        else:
            cells = _CELLS.get(column.key, _plain_cell)(row, column)
        spans += [_chosen(cell) for cell in cells] if selected else cells
    if row.lost:
        spans = [_faded(span) for span in spans]
    used = LEAD + sum(column.width for column in layout.columns) + GAP * (len(layout.columns) - 1)
    spans.append(Span(" " * max(0, layout.width - used)))
    return merged(spans)


def _chosen(span: Span) -> Span:
    return span._replace(role="name-here") if span.role == "name" else span


def _faded(span: Span) -> Span:
    """Return the span in grey, except the selection mark and the bar, which has its own colour."""
    kept = span.role == "cursor" or span.role.startswith("bar")
    return span if kept else span._replace(role="muted")


def _plain_cell(row: Row, column: Column) -> list[Span]:
    text = getattr(row, column.key)
    role = "muted" if text == words.DASH else column.key
    return [Span(fit(text, column.width, right=column.right), role)]


def _matched_cell(row: Row, column: Column, letters: Sequence[int]) -> list[Span]:
    """Return the name with its matched characters underlined."""
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
    return [Span(fit(row.percent, column.width, right=True), f"band-{row.context.band}")]


def _band_cell(row: Row, column: Column) -> list[Span]:
    return [Span(fit(row.band, column.width), f"band-{row.context.band}")]


def _mark_cell(row: Row, column: Column) -> list[Span]:
    return [Span(fit(row.mark, column.width), f"band-{row.context.band}")]


def _state_cell(row: Row, column: Column) -> list[Span]:
    text = fit(f"{row.look.glyph} {row.look.word}", column.width)
    return [Span(text, f"state-{row.look.role}")]


def _activity_cell(row: Row, column: Column) -> list[Span]:
    return [Span(fit_words(row.activity, column.width), "activity")]


def _turns_cell(row: Row, column: Column) -> list[Span]:
    return [Span(fit(row.turns, column.width, right=True), "stale" if row.stale else "turns")]


_CELLS: dict[str, Callable[[Row, Column], list[Span]]] = {
    "bar": _bar_cell,
    "percent": _percent_cell,
    "band": _band_cell,
    "mark": _mark_cell,
    "state": _state_cell,
    "activity": _activity_cell,
    "turns": _turns_cell,
}

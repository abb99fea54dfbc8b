"""Plot the context over time, filled in the colour of the context's band.

One segment per session, in chain order. The x axis counts replies, not time, so that idle hours
take no room. Replies without a token count are left out. Each segment shows its own session's
thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.bar import UNKNOWN
from cockpit.tui.present.span import Span, fit, merged
from cockpit.wire.course import Course, CoursePoint, Stretch

STEPS = " ▁▂▃▄▅▆▇█"
COMPACTED = "┊"
HANDED_ON = "│"
MARK = "┄"
LABELS = 16
"""Cells at the right of the plot for the names of the thresholds."""
ROOM_FOR_LABELS = 56
SHORTEST = 3
"""Minimum cells of a segment."""
BELOW = 1
"""Number of lines below the plot, with the number and start time of each session."""

_BANDS = ("force", "act", "warn", "notice")
_LABEL_PRIORITY = ("act", "force", "compacts", "warn", "notice")
"""Names of thresholds by priority: of two thresholds on one line, only the one with the higher
priority is shown."""


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of the plot: a token count, or a sign."""

    tokens: int | None = None
    stretch: Stretch | None = None
    sign: str = ""


def plot(course: Course, width: int, height: int) -> list[list[Span]]:
    """Return the plot in exactly `height` lines of `width` cells; the last line names the sessions.

    Leaves out sessions that `cockpit undo` ended and, if there is no room, the oldest sessions.
    """
    stretches = [
        stretch for stretch in course.stretches if stretch.state != "undone"
    ] or course.stretches
    if width < 8 or height < 2:
        return [[Span(" " * width)] for _ in range(height)]
    if not any(stretch.points for stretch in stretches):
        return _nothing(stretches, width, height)
    labels = LABELS if width >= ROOM_FOR_LABELS else 0
    room = width - labels - 2
    shown = stretches[-max(1, (room + 1) // (SHORTEST + 1)) :]
    widths = _shares([_length(stretch) for stretch in shown], room - (len(shown) - 1))
    columns: list[_Column] = []
    for stretch, cells in zip(shown, widths, strict=True):
        if columns:
            columns.append(_Column(sign=HANDED_ON))
        columns += _columns(stretch, cells)
    rows, top = height - BELOW, _top(shown)
    names = _names(shown[-1], rows, top) if labels else {}
    lines = [_row(columns, row, rows, top, names, labels) for row in reversed(range(rows))]
    return [*lines, _below(shown, widths, width)]


def _nothing(stretches: Sequence[Stretch], width: int, height: int) -> list[list[Span]]:
    why = next((stretch.unknown for stretch in reversed(stretches) if stretch.unknown), None)
    text = f"  {safe_line(why or 'No token count yet.', 200)}"
    middle = height // 2
    return [
        [Span(fit(text, width), "muted")] if line == middle else [Span(" " * width)]
        for line in range(height)
    ]


def _length(stretch: Stretch) -> int:
    return stretch.points[-1].call if stretch.points else 1


def _shares(weights: Sequence[int], cells: int) -> list[int]:
    """Split `cells` by weight, each share at least `SHORTEST`."""
    spare = max(0, cells - SHORTEST * len(weights))
    whole = sum(weights)
    shares = [SHORTEST + spare * weight // whole for weight in weights]
    shares[-1] += cells - sum(shares)
    return shares


def _top(stretches: Sequence[Stretch]) -> int:
    """Return the tokens at the plot's upper edge: slightly above the peak and the act threshold.

    Also above the force threshold and the compaction point, if these are near the peak. At most the
    window, unless the peak exceeds the window.
    """
    peak = max(point.tokens for stretch in stretches for point in stretch.points)
    last = next(stretch for stretch in reversed(stretches) if stretch.points)
    marks = [at for at in (last.marks.force, last.compacts_at) if at and at <= 2 * peak + 1]
    needed = round(max([peak, last.marks.act or 0, *marks]) * 1.06)
    window = last.window or needed
    return max(1, needed if peak > window else min(needed, window))


def _columns(stretch: Stretch, cells: int) -> list[_Column]:
    """Return the columns of a segment, each with the highest token count of the column's replies.

    A column without replies repeats the count of the previous reply; after a compaction, the count
    is unknown until the next reply.
    """
    if not stretch.points:
        return [_Column(stretch=stretch, sign=UNKNOWN)] * cells
    calls = _length(stretch)
    columns, waiting = [], list(stretch.points)
    known: int | None = None
    for cell in range(cells):
        seen: list[CoursePoint] = []
        while waiting and _cell_of(waiting[0], calls, cells) <= cell:
            seen.append(waiting.pop(0))
        readings = [point.tokens for point in seen if point.kind == "reply"]
        compacted = any(point.kind == "compacted" for point in seen)
        known = max(readings) if readings else known
        columns.append(_Column(known, stretch, COMPACTED if compacted else ""))
        if seen:
            known = seen[-1].tokens if seen[-1].kind == "reply" else None
    return columns


def _cell_of(point: CoursePoint, calls: int, cells: int) -> int:
    """Return the column of a point: for a compaction, the column after the reply before it."""
    call = point.call if point.kind == "compacted" else max(0, point.call - 1)
    return min(cells - 1, call * cells // calls)


def _row(
    columns: Sequence[_Column],
    row: int,
    rows: int,
    top: int,
    names: dict[int, tuple[str, str]],
    labels: int,
) -> list[Span]:
    spans = [Span(" "), *(_cell(column, row, rows, top) for column in columns)]
    spans.append(Span(" "))
    if labels:
        text, role = names.get(row, ("", ""))
        spans.append(Span(fit(text, labels), role))
    return merged(spans)


def _cell(column: _Column, row: int, rows: int, top: int) -> Span:
    if column.sign == HANDED_ON:
        return Span(HANDED_ON, "cursor")
    if column.sign == COMPACTED:
        return Span(COMPACTED, "warning")
    marked = column.stretch is not None and any(
        _line_of(at, rows, top) == row for _, at in _marks(column.stretch)
    )
    ground = Span(MARK, "rule") if marked else Span(" ")
    if column.tokens is None:
        return Span(UNKNOWN, "bar-unknown") if column.sign and not row else ground
    eighths = max(1, round(column.tokens / top * rows * 8)) - row * 8
    if eighths <= 0:
        return ground
    return Span(STEPS[min(eighths, 8)], f"plot-{_band(column)}")


def _band(column: _Column) -> str:
    assert column.stretch is not None
    marks, tokens = column.stretch.marks, column.tokens or 0
    for name in _BANDS:
        at = getattr(marks, name)
        if at is not None and tokens >= at:
            return name
    return "calm" if marks.act is not None else "unknown"


def _marks(stretch: Stretch) -> list[tuple[str, int]]:
    marks = [(name, getattr(stretch.marks, name)) for name in _BANDS]
    marks.append(("compacts", stretch.compacts_at))
    return [(name, at) for name, at in marks if at is not None]


def _names(stretch: Stretch, rows: int, top: int) -> dict[int, tuple[str, str]]:
    """Return the labels at the right of the plot, each with its role, by the number of the line."""
    names: dict[int, tuple[str, str]] = {}
    for name, at in sorted(_marks(stretch), key=lambda mark: -_LABEL_PRIORITY.index(mark[0])):
        if (line := _line_of(at, rows, top)) < rows:
            guessed = name == "compacts" and stretch.compacts_at_source == "formula"
            role = "muted" if name == "compacts" else f"band-{name}"
            names[line] = (f"{MARK} {name}{'?' if guessed else ''} {words.tokens(at)}", role)
    return names


def _line_of(at: int, rows: int, top: int) -> int:
    return at * rows // top


def _below(stretches: Sequence[Stretch], widths: Sequence[int], width: int) -> list[Span]:
    spans = [Span(" ")]
    for index, (stretch, cells) in enumerate(zip(stretches, widths, strict=True)):
        last = index == len(stretches) - 1
        room = cells if not last else cells + 1
        began = next((point.at for point in stretch.points if point.at is not None), None)
        label = f"#{stretch.number}"
        if began is not None and len(label) + 6 < cells:
            with suppress(ValueError, OverflowError, OSError):  # not a valid time
                label += f" {datetime.fromtimestamp(began).astimezone():%H:%M}"
        spans.append(Span(fit(label, room), "name" if last else "chain"))
        if not last:
            spans.append(Span("»", "cursor"))
    used = sum(len(span.text) for span in spans)
    return merged([*spans, Span(" " * max(0, width - used))])

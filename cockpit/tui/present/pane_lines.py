"""Fit the lines of a pane to another width, without touching the pane.

Text is wrapped between words and keeps its indent. Lines that are drawn, rules and the sides of
boxes, are shortened instead. Lines of the same or a larger width are kept as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from cockpit.core.sgr import Style

Run = tuple[str, Style]
Cell = tuple[str, Style]

RULES = frozenset("─━═╌┄-_")
SIDES = frozenset("│┃║╮╯┐┘┤╗╝")
MARKERS = frozenset("●⏺⎿❯>*-•·✻✔◻☐☑")
"""First characters of list items: their text continues below the text, not below the marker."""
WIDEST = 2
"""Columns of a wide character."""
DRAWN = 8
"""A line with this many equal characters in a row counts as drawn."""


def fit_runs(runs: Sequence[Run], width: int) -> list[list[Run]]:
    """Return a line of a pane as one or more lines of at most `width` cells."""
    cells = [(sign, style) for text, style in runs for sign in text]
    while cells and cells[-1][0] == " " and cells[-1][1].bg is None:
        cells.pop()
    if width <= 0 or _length(cells) <= width:
        return [_joined(cells)]
    cells = _shortened(cells, width)
    return [_joined(line) for line in _wrapped(cells, width)]


def is_blank(runs: Sequence[Run]) -> bool:
    """Return whether a line shows nothing."""
    return all(not text.strip() and style.bg is None for text, style in runs)


def _shortened(cells: list[Cell], width: int) -> list[Cell]:
    """Take cells out of the longest drawn stretch: a rule, or the space before a box's side."""
    start, end = _longest_stretch(cells)
    too_long = _length(cells) - width
    if end - start <= DRAWN or (cells[start][0] == " " and cells[-1][0] not in SIDES):
        return cells
    return cells[:start] + cells[start + min(too_long, end - start - 1) :]


def _longest_stretch(cells: Sequence[Cell]) -> tuple[int, int]:
    """Return where the longest stretch of one drawn character, or of spaces, starts and ends."""
    best = start = 0
    longest = 0
    for index in range(1, len(cells) + 1):
        if index < len(cells) and cells[index][0] == cells[start][0]:
            continue
        if index - start > longest and (cells[start][0] in RULES or cells[start][0] == " "):
            best, longest = start, index - start
        start = index
    return best, best + longest


def _wrapped(cells: Sequence[Cell], width: int) -> list[list[Cell]]:
    indent = _indent(cells, width)
    lines: list[list[Cell]] = []
    rest = list(cells)
    while _length(rest) > width:
        end = _fitting(rest, width)
        margin = indent if lines else 0
        spaces = [at for at in range(margin + 1, end + 1) if at < len(rest) and rest[at][0] == " "]
        cut = spaces[-1] if spaces and spaces[-1] * 2 > end else end
        # A wide character may not fit after the indent; each line takes at least one character
        # anyway.
        cut = max(cut, margin + 1)
        lines.append(rest[:cut])
        after = rest[cut:]
        while after and after[0][0] == " ":
            after.pop(0)
        ground = Style(bg=after[0][1].bg) if after else Style()
        rest = [(" ", ground)] * indent + after
    return [*lines, rest] if rest[indent:] or not lines else lines


def _indent(cells: Sequence[Cell], width: int) -> int:
    """Return the column in which a wrapped line continues."""
    indent = next((at for at, (sign, _) in enumerate(cells) if sign != " "), 0)
    if cells[indent][0] in MARKERS:
        indent += 1
        while indent < len(cells) and cells[indent][0] == " ":
            indent += 1
    return indent if indent * 2 <= width and indent + WIDEST <= width else 0


def _fitting(cells: Sequence[Cell], width: int) -> int:
    """Return how many characters fit into `width` cells; at least one."""
    used = 0
    for at, (sign, _) in enumerate(cells):
        used += cell_len(sign)
        if used > width:
            return max(at, 1)
    return len(cells)


def _length(cells: Sequence[Cell]) -> int:
    return cell_len("".join(sign for sign, _ in cells))


def _joined(cells: Sequence[Cell]) -> list[Run]:
    runs: list[Run] = []
    for sign, style in cells:
        if runs and runs[-1][1] == style:
            runs[-1] = (runs[-1][0] + sign, style)
        else:
            runs.append((sign, style))
    return runs

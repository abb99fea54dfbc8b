"""Fit the lines of a pane to another width, without resizing the pane.

Reasons for not resizing a pane to its preview: Claude Code redraws everything at each new width
(1.4 to 2.3 KB of output). In a pane as low as a short preview, a permission dialog would have only
a few lines. Each selection would resize the pane of a working agent, and two screens of different
sizes would resize the same pane in turn. CLIs without an alternate screen would repeat their output
in the scrollback.

Text is wrapped between words and keeps its indent. Rules and the sides of boxes are shortened
instead. Lines that fit are not changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.cells import cell_len

from cockpit.core.sgr import Style

SIDE = "│"
LEFT_LEAST = 40
"""Minimum cells of the text beside a panel."""
LEAST_LINES = 12
"""Minimum lines of a pane in which a panel is looked for."""
Run = tuple[str, Style]
Cell = tuple[str, Style]

RULES = frozenset("─━═╌┄-_")
SIDES = frozenset("│┃║╮╯┐┘┤╗╝")
MARKERS = frozenset("●⏺⎿❯>*-•·✻✔◻☐☑")
"""First characters of list items. Wrapped text of an item continues below the text, not below the
marker."""
WIDEST = 2
"""Columns of a wide character."""
DRAWN = 8
"""A run of more than this many equal characters is a rule or padding, and can be shortened."""


def fit_runs(runs: Sequence[Run], width: int) -> list[list[Run]]:
    """Return a line of a pane as one or more lines of at most `width` cells."""
    cells = [(sign, style) for text, style in runs for sign in text]
    while cells and cells[-1][0] == " " and cells[-1][1].bg is None:
        cells.pop()
    if width <= 0 or _length(cells) <= width:
        return [_joined(cells)]
    cells = _shortened(cells, width)
    return [_joined(line) for line in _wrapped(cells, width)]


def panel_column(lines: Sequence[str]) -> int | None:
    """Return the column of the vertical line between text and side panel; None without a panel.

    `lines` have no styles. On a wide pane, Claude Code shows the session's changes in such a panel.
    In a narrow preview, text and panel would be folded into each other.
    """
    if len(lines) < LEAST_LINES:
        return None
    columns = Counter(column for line in lines for column in _sides(line))
    # The right side of a box is a column of the same characters, without text to its right.
    candidates = [
        column
        for column, count in columns.items()
        if count > len(lines) / 2 and any(_beside(line, column) for line in lines)
    ]
    return min(candidates, default=None)


def without_panel(runs: Sequence[Run], column: int) -> Sequence[Run]:
    """Return a line up to the panel's column; the whole line if the line has no panel."""
    if column not in _sides("".join(text for text, _ in runs)):
        return runs
    kept: list[Run] = []
    for text, style in runs:
        end = _fitting([(sign, style) for sign in text], column)
        whole = cell_len(text) <= column
        kept.append((text if whole else text[:end] if column else "", style))
        column -= min(column, cell_len(text))
    return kept


def _sides(line: str) -> list[int]:
    """Return the columns of every `SIDE` in the line, from `LEFT_LEAST` on."""
    if SIDE not in line:
        return []
    places = [at for at, sign in enumerate(line) if sign == SIDE]
    columns = places if line.isascii() else [cell_len(line[:at]) for at in places]
    return [column for column in columns if column >= LEFT_LEAST]


def _beside(line: str, column: int) -> bool:
    return column in _sides(line) and bool(line.rpartition(SIDE)[2].strip())


def is_blank(runs: Sequence[Run]) -> bool:
    """Return whether a line has neither text nor a background colour."""
    return all(not text.strip() and style.bg is None for text, style in runs)


def _shortened(cells: list[Cell], width: int) -> list[Cell]:
    """Take cells out of the longest run of one character: a rule, or the space before a box's side.

    Returns the cells unchanged if that run is too short, or is the space between words.
    """
    start, end = _longest_stretch(cells)
    too_long = _length(cells) - width
    if end - start <= DRAWN or (cells[start][0] == " " and cells[-1][0] not in SIDES):
        return cells
    return cells[:start] + cells[start + min(too_long, end - start - 1) :]


def _longest_stretch(cells: Sequence[Cell]) -> tuple[int, int]:
    """Return the start and end of the longest run of spaces, or of one character of `RULES`."""
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
    """Return the number of characters that fit into `width` cells; at least one."""
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

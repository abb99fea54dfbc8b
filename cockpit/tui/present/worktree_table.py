"""The table of worktrees: one row per worktree, and details below the selected row.

On narrow screens, columns are dropped in a fixed order. The columns `worktree` and `contains` are
always shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.cells import cell_len

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.paths import short_path
from cockpit.tui.present.span import Span, broken, fit, fit_words, merged
from cockpit.tui.present.worktrees import MEASURING, Keys, Sizes, content, size, way_to_remove
from cockpit.wire.worktrees import WorktreeStatus

GAP = 2
_MOST = {"worktree": 30, "branch": 30, "agent": 16, "state": 11, "size": 11, "age": 4}
"""Maximum cells of each column. The column `contains` takes all other cells."""
_LEAST = {"worktree": 12, "branch": 10, "agent": 8}
"""Minimum cells of each column that can be shrunk."""
CONTENT_LEAST = 14
_DROP_ORDER = ("age", "state", "size", "branch", "agent")
_ORDER = ("worktree", "branch", "agent", "state", "contains", "size", "age")
_ROLES = {"worktree": "name", "branch": "", "agent": "", "state": "muted", "size": "",
          "age": "age"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Table:
    """The width of each shown column in cells, by the column's title."""

    widths: Mapping[str, int]
    sizes: Sizes = Sizes.NOT_REQUESTED


def table(
    trees: Sequence[WorktreeStatus],
    now: datetime,
    width: int,
    home: str,
    sizes: Sizes = Sizes.NOT_REQUESTED,
) -> Table:
    """Return the columns for these worktrees at a width. `now` is UTC."""
    cells = [_cells(tree, now, home, sizes) for tree in trees]
    widths = {
        title: min(max([cell_len(title), *(cell_len(texts[title]) for texts in cells)]), most)
        for title, most in _MOST.items()
        if title == "worktree" or any(cells_of_row[title] for cells_of_row in cells)
    }
    for dropped in ("", *_DROP_ORDER):
        widths.pop(dropped, None)
        missing = _total(widths) + CONTENT_LEAST - width
        if missing <= sum(max(0, widths.get(title, 0) - least) for title, least in _LEAST.items()):
            break
    for title in ("branch", "worktree", "agent"):
        if missing > 0 and title in widths:
            less = min(missing, max(0, widths[title] - _LEAST[title]))
            widths[title] -= less
            missing -= less
    widths["contains"] = max(1, width - _total(widths))
    return Table({title: widths[title] for title in _ORDER if title in widths}, sizes)


def _total(widths: Mapping[str, int]) -> int:
    """Return the total width in cells of all columns but `contains`, with the gaps."""
    return sum(cells + GAP for cells in widths.values())


def heading(shown: Table, width: int) -> list[Span]:
    """Return the line with the titles of the columns."""
    titles = (fit(title, cells, right=title == "size") for title, cells in shown.widths.items())
    return [Span(fit((" " * GAP).join(titles), width), "muted")]


def row(tree: WorktreeStatus, shown: Table, now: datetime, home: str) -> list[Span]:
    """Return a worktree's row, with the columns of the table `shown`."""
    cells = _cells(tree, now, home, shown.sizes)
    spans: list[Span] = []
    for title, width in shown.widths.items():
        if spans:
            spans.append(Span(" " * GAP))
        if title == "contains":
            role = "" if cells[title] != "clean" else "muted"
            spans.append(Span(fit_words(cells[title], width), role))
        else:
            text = cells[title] or words.DASH
            role = "muted" if text in (words.DASH, MEASURING) else _ROLES[title]
            spans.append(Span(fit(text, width, right=title in ("size", "age")), role))
    return merged(spans)


def detail(
    tree: WorktreeStatus,
    shown: Table,
    now: datetime,
    width: int,
    progress: Sequence[Span],
    keys: Keys,
    home: str,
) -> list[list[Span]]:
    """Return the lines below a worktree's row: full texts, and how to remove the worktree.

    The full texts are the path and every text that the row cuts. `progress` is the progress or the
    error of a removal, and replaces the instructions.
    """
    cells = _cells(tree, now, home, shown.sizes)
    cut = [
        (cells[title], "")
        for title in ("branch", "agent", "contains")
        if cells[title] and cell_len(cells[title]) > shown.widths.get(title, 0)
    ]
    if cells["size"] and "size" not in shown.widths:
        cut.append((f"size: {cells['size']}", ""))
    parts = [(_path(tree, home), "name"), *cut]
    parts += list(progress) or way_to_remove(tree, width, keys, home)
    return [
        [Span(f"  {piece}", role)]
        for text, role in parts
        for piece in broken(text, max(1, width - 2)) or [""]
    ]


def _cells(tree: WorktreeStatus, now: datetime, home: str, sizes: Sizes) -> dict[str, str]:
    if tree.unlisted is not None:
        what = f"cannot list the worktrees: {tree.unlisted}"
    else:
        what = ", ".join(filter(None, content(tree)))
    there = f"{safe_line(tree.host, 32)}:" if tree.host else ""
    age = words.age(words.seconds_since(tree.made_at, now)) if tree.made_at else ""
    whose = tree.agent or ("" if tree.made or tree.unlisted is not None else "not cockpit's")
    return {
        "worktree": f"{there}{safe_line(tree.directory.rstrip('/').rpartition('/')[2], 200)}",
        "branch": safe_line(tree.branch or ("" if tree.unlisted is not None else "detached"), 200),
        "agent": safe_line(whose, 64),
        "state": (tree.state or "").replace("_", " "),
        "contains": safe_line(what, 400),
        "size": size(tree, sizes),
        "age": age,
    }


def _path(tree: WorktreeStatus, home: str) -> str:
    there = f"{safe_line(tree.host, 32)}:" if tree.host else ""
    return f"{there}{short_path(tree.directory, '' if tree.host else home)}"

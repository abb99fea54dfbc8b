"""Remove Claude Code's side panel from a capture of the pane.

In a pane of 200 columns, CLI 2.1.330 shows the changed files of the worktree to the right of an
open dialog, behind a vertical line from the first to the last line of the screen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_BORDER = "│"
_NARROWEST = 60
"""Minimum columns to the left of the panel; a border further left is part of the text."""


def without_side_panel(lines: Sequence[str]) -> list[str]:
    """Return the part of each line to the left of the panel; whole lines if there is no panel.

    A panel has a border in the same column of every line. Text of an agent cannot imitate a panel,
    because the CLI itself writes the last line of an open dialog.
    """
    end = len(lines)
    while end and not lines[end - 1]:
        end -= 1
    column = _border_column(lines[end - 1]) if end else None
    if column is None:
        return list(lines)
    left = []
    for line in lines[:end]:
        cut = _index_of_column(line, column)
        if line[cut : cut + 1] != _BORDER:
            return list(lines)
        left.append(line[:cut].rstrip())
    return [*left, *lines[end:]]


def _border_column(line: str) -> int | None:
    """Return the column of the first border after `_NARROWEST` columns; None if there is none."""
    column = 0
    for char in line:
        if char == _BORDER and column >= _NARROWEST:
            return column
        column += _cells(char)
    return None


def _index_of_column(line: str, column: int) -> int:
    at = 0
    for index, char in enumerate(line):
        if at >= column:
            return index
        at += _cells(char)
    return len(line)


def _cells(char: str) -> int:
    if unicodedata.combining(char) or char in "\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1

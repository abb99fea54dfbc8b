"""The files of a diff as a list, with the number of added and removed lines."""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len

from cockpit.core.safetext import safe_line
from cockpit.tui.present.span import Span, fit
from cockpit.wire.diff import WorktreeDiff


class ListedFile(NamedTuple):
    path: str
    added: int | None
    removed: int | None
    """None, like `added`, if the lines were not counted: the file is binary or untracked."""
    is_new: bool
    """Whether git does not track the file. The diff does not contain such a file's content."""


def listed(diff: WorktreeDiff) -> list[ListedFile]:
    """Return the changed files in the order of the diff's text, then the untracked files."""
    return [
        *(ListedFile(file.path, file.added, file.removed, False) for file in diff.files),
        *(ListedFile(path, None, None, True) for path in diff.untracked),
    ]


def file_spans(file: ListedFile, width: int) -> list[Span]:
    """Return one line: the path, cut at its beginning if too long, and the counts at the right."""
    if file.added is None or file.removed is None:
        counts = [Span("new", "added") if file.is_new else Span("binary", "muted")]
    else:
        counts = [Span(f"+{file.added}", "added"), Span(f" -{file.removed}", "removed")]
    room = width - sum(cell_len(span.text) for span in counts) - 1
    return [Span(f"{_end(safe_line(file.path, 300), room)} "), *counts]


def _end(path: str, width: int) -> str:
    """Pad a path to `width`, or cut its beginning, because the file's name matters most."""
    if cell_len(path) > width:
        while path and cell_len(path) >= width:
            path = path[1:]
        path = f"…{path}"
    return fit(path, width)

"""A worktree's diff as lines: a summary, then the text with a heading per file.

The text is untrusted. The text is split by the line counts in git's hunk headers, so that a content
line that looks like a header is not mistaken for a header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.present.fold import folded
from cockpit.tui.present.span import Span, fit
from cockpit.wire.diff import WorktreeDiff

FILE_ROLE = "diff-file"
"""The role of the heading of a file's changes."""
GROUNDS = {"added": "diff-added", "removed": "diff-removed"}
"""The theme variable for the background of a line, by the role of the line's sign."""
_PART = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_LEFT_OUT = ("index ", "--- ", "+++ ", "similarity index ")


class Hunk(NamedTuple):
    path: str
    """The file's path; for a renamed file or a quoted path, the whole text of git's heading."""
    lines: list[tuple[int, str]]
    """Pairs of a line's number in the text of the diff, and the line with its sign."""


def hunks(text: str) -> Iterator[Hunk]:
    """Split the text of git's diff into hunks, by the line counts in the hunk headers."""
    path = ""
    hunk: list[tuple[int, str]] = []
    for number, line, is_content in _read(text):
        if is_content:
            hunk.append((number, line))
            continue
        if hunk:
            yield Hunk(path, hunk)
            hunk = []
        if line.startswith("diff --git "):
            path = _name(line)
    if hunk:
        yield Hunk(path, hunk)


def diff_lines(
    diff: WorktreeDiff, width: int, colours: Mapping[int, Sequence[Span]] | None = None
) -> list[list[Span]]:
    """Return the diff as lines of at most `width` cells, or why the diff is unknown.

    `colours` come from `syntax.colours`.
    """
    if diff.unknown:
        return [[Span(f"  {safe_line(diff.unknown, 300)}", "warning")]]
    lines = [_summary(diff)]
    if not diff.files and not diff.untracked:
        return lines
    lines += _text(diff.text, width, colours)
    if diff.cut:
        text = f"  Cut off here. To see the rest, in the worktree: {_command(diff)}"
        lines += [[], [Span(text, "warning")]]
    return lines


def _command(diff: WorktreeDiff) -> str:
    """Return the git command that shows the whole diff."""
    return f"git diff {safe_line(diff.since, 64)[:12]}" if diff.since else "git status -vv"


def _summary(diff: WorktreeDiff) -> list[Span]:
    text_files = [
        file for file in diff.files if file.added is not None and file.removed is not None
    ]
    added = sum(file.added or 0 for file in text_files)
    removed = sum(file.removed or 0 for file in text_files)
    base = safe_line(diff.since, 12)[:8] if diff.since else "the empty tree"
    since = f"since the job began at {base}" if diff.of_job else f"since {base}"
    if not diff.files and not diff.untracked:
        return [Span(f"  No {'' if diff.of_job else 'uncommitted '}changes {since}.", "muted")]
    since = since if diff.of_job else f"uncommitted, {since}"
    new = [counted(len(diff.untracked), "new file")] if diff.untracked else []
    changed = [counted(len(diff.files), "file") + " changed"] if diff.files else []
    more = "+" if diff.cut else ""
    # Lines of new and binary files are not counted, so zeros for only such files would be wrong.
    counts = (
        [Span("  "), Span(f"+{added} ", "added"), Span(f"-{removed}", "removed")]
        if text_files
        else []
    )
    what = Span(f"  {', '.join([*changed, *new])}{more}")
    return [what, *counts, Span(f"  {since}", "muted")]


def _read(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield each line as its number, its text, and whether the line belongs to a hunk."""
    before = after = 0
    for number, line in enumerate(text.split("\n")):
        if before > 0 or after > 0:
            before -= not line.startswith(("+", "\\"))
            after -= not line.startswith(("-", "\\"))
            yield number, line, True
            continue
        if (part := _PART.match(line)) is not None:
            before, after = (int(count) if count else 1 for count in part.groups())
        yield number, line, False


def _text(
    text: str, width: int, colours: Mapping[int, Sequence[Span]] | None
) -> Iterator[list[Span]]:
    """Yield the lines of the diff's text, wrapped to `width`."""
    for number, line, is_content in _read(text):
        if is_content:
            spans = colours.get(number) if colours else None
            role = _role(line)
            yield from (
                _coloured(line[:1], spans, role, width) if spans else _folded(line, role, width)
            )
        elif _PART.match(line):
            yield from _folded(line, "hunk", width)
        elif line.startswith("diff --git "):
            yield []
            heading = fit(f"── {_name(line)} {'─' * width}", width - 1).rstrip("…")
            yield [Span(heading, FILE_ROLE)]
        elif line and not line.startswith(_LEFT_OUT):
            yield from _folded(line, "muted", width)


def _coloured(sign: str, spans: Sequence[Span], role: str, width: int) -> Iterator[list[Span]]:
    """Yield a line of coloured code, wrapped; continuation lines begin below the code."""
    room = max(1, width - 3)
    line, left = [Span(f" {sign}", role)], room
    for text, colour in spans:
        rest = text
        while rest:
            part = rest[: _fitting(rest, left)] if cell_len(rest) > left else rest
            if not part and left == room:
                part = rest[:1]
            if part:
                line.append(Span(part, colour))
                left -= cell_len(part)
                rest = rest[len(part) :]
            if rest:
                yield line
                line, left = [Span("  ", role)], room
    yield line


def _fitting(text: str, cells: int) -> int:
    """Return the number of characters of the text that fit into this number of cells."""
    if cells < 2:  # chop_cells needs room for a wide character
        return int(cells > 0 and cell_len(text[0]) <= cells)
    return len(chop_cells(text, cells)[0])


def _name(line: str) -> str:
    """Return `x` for `diff --git a/x b/x`; the whole text for renamed or quoted names."""
    names = line.removeprefix("diff --git ")
    half = len(names) // 2
    first, second = names[:half], names[half + 1 :]
    same = first.startswith("a/") and second == f"b/{first.removeprefix('a/')}"
    return safe_line(first.removeprefix("a/") if same else names, 300)


def _role(line: str) -> str:
    return {"+": "added", "-": "removed", "\\": "muted"}.get(line[:1], "")


def _folded(line: str, role: str, width: int) -> Iterator[list[Span]]:
    for part in folded(line, width - 2, indent=1):
        yield [Span(" "), Span(part, role)]

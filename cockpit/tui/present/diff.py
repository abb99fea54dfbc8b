"""A worktree's diff as lines: counts per file, then the text with a heading per file.

The text is untrusted. It is split by the line counts in git's hunk headers, so that a content
line that looks like a header is not mistaken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.present.fold import folded
from cockpit.tui.present.span import Span, fit
from cockpit.wire.diff import DiffFile, WorktreeDiff

FILE_ROLE = "diff-file"
"""The role of the heading of a file's changes."""
STAT_CELLS = 24
"""Maximum cells of the bar of plus and minus signs."""
_PART = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_LEFT_OUT = ("index ", "--- ", "+++ ", "similarity index ")


def diff_lines(diff: WorktreeDiff, width: int) -> list[list[Span]]:
    """Return the whole diff as lines of `width` cells."""
    if diff.unknown:
        return [[Span(f"  {safe_line(diff.unknown, 300)}", "warning")]]
    lines = [_summary(diff)]
    if not diff.files and not diff.untracked:
        return lines
    lines.append([])
    lines += _stat(diff.files, width)
    lines += [
        [Span("  new  ", "added"), Span(fit(safe_line(path, 300), width - 8))]
        for path in diff.untracked
    ]
    lines += _text(diff.text, width)
    if diff.cut:
        lines += [
            [],
            [Span("  Cut off here; run git diff in the worktree to see the rest.", "warning")],
        ]
    return lines


def _summary(diff: WorktreeDiff) -> list[Span]:
    texts = [each for each in diff.files if each.added is not None and each.removed is not None]
    added = sum(each.added or 0 for each in texts)
    removed = sum(each.removed or 0 for each in texts)
    base = safe_line(diff.since, 12)[:8] if diff.since else "the empty tree"
    since = f"since the job began at {base}" if diff.of_job else f"since {base}"
    if not diff.files and not diff.untracked:
        return [Span(f"  No {'' if diff.of_job else 'uncommitted '}changes {since}.", "muted")]
    since = since if diff.of_job else f"uncommitted, {since}"
    new = [counted(len(diff.untracked), "new file")] if diff.untracked else []
    changed = [counted(len(diff.files), "file") + " changed"] if diff.files else []
    more = "+" if diff.cut else ""
    # Lines of new and of binary files are not counted; a zero would claim that there are none.
    counts = (
        [Span("  "), Span(f"+{added} ", "added"), Span(f"-{removed}", "removed")] if texts else []
    )
    what = Span(f"  {', '.join([*changed, *new])}{more}")
    return [what, *counts, Span(f"  {since}", "muted")]


def _stat(files: list[DiffFile], width: int) -> list[list[Span]]:
    """Return one line per file, with a bar proportional to its changes."""
    if not files:
        return []
    cells = min(STAT_CELLS, max(4, width // 4))
    names = min(
        max(cell_len(safe_line(each.path, 300)) for each in files), max(8, width - cells - 12)
    )
    most = max(((each.added or 0) + (each.removed or 0) for each in files), default=0)
    return [_stat_line(each, names, cells, most) for each in files]


def _stat_line(each: DiffFile, names: int, cells: int, most: int) -> list[Span]:
    path = Span(f"  {fit(safe_line(each.path, 300), names)} ")
    if each.added is None or each.removed is None:
        return [path, Span("binary", "muted")]
    step = max(1.0, most / cells)
    plus = min(cells, -(-each.added // step)) if each.added else 0
    minus = min(cells - plus, -(-each.removed // step)) if each.removed else 0
    return [
        path,
        Span(f"{each.added + each.removed:>6} ", "muted"),
        Span("+" * int(plus), "added"),
        Span("-" * int(minus), "removed"),
    ]


def _text(text: str, width: int) -> Iterator[list[Span]]:
    """Yield the hunks of git's text, delimited by the line counts in their headers."""
    before = after = 0
    for line in text.split("\n"):
        if before > 0 or after > 0:
            before -= not line.startswith(("+", "\\"))
            after -= not line.startswith(("-", "\\"))
            yield from _folded(line, _role(line), width)
            continue
        part = _PART.match(line)
        if part is not None:
            before, after = (int(count) if count else 1 for count in part.groups())
            yield from _folded(line, "hunk", width)
        elif line.startswith("diff --git "):
            yield []
            heading = fit(f"── {_name(line)} {'─' * width}", width - 1).rstrip("…")
            yield [Span(heading, FILE_ROLE)]
        elif line and not line.startswith(_LEFT_OUT):
            yield from _folded(line, "muted", width)


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

"""Find the files that a document claims were worked on, and mark each file that was checked.

Only sections about the present are searched: finished work, the current state, lists of files and
commits. A plan may name files that do not exist yet. The caller checks the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.markdown import heading, marked_lines

MOST_FILES = 100
LONGEST_LINE = 2_000


class Trace(Enum):
    """The result of checking a claimed file; each value is the mark in the document.

    Only a change in git proves that somebody worked on the file.
    """

    CHANGED = "(verified: git shows it changed)"
    UNCHANGED = "(unverified: it is there, and git shows no change)"
    MISSING = "(unverified: neither in the worktree nor in git)"


_ABOUT_PRESENT = deferred_pattern(
    r"\b(?:files?|commits?|changes|changed|modified|completed|done|in progress|current state)\b",
    re.I,
)
_FILE = deferred_pattern(
    r"(?<![\w/.~:@-])(`?)((?:/|\./)?(?:[\w@+-][\w.@+-]*/)+[\w.@+-]*\w\.[A-Za-z]\w{0,7})"
    r"(?::\d+(?:-\d+)?)?\1(?![\w/@-])"
)


def claimed_files(sections: Iterable[tuple[str, str]]) -> list[str]:
    """Return the paths in sections about finished work and the current state, each once.

    Finds only paths with a folder and a file extension, outside code blocks, in lines of at most
    `LONGEST_LINE` characters. Returns at most `MOST_FILES` paths, spelled as in the document.
    `sections` are pairs of title and body.
    """
    files: dict[str, None] = {}
    for title, body in sections:
        for line, counts in _lines(title, body):
            if counts and len(line) <= LONGEST_LINE:
                files.update(dict.fromkeys(match[2] for match in _FILE.finditer(line)))
    return list(files)[:MOST_FILES]


def mark_files(title: str, body: str, seen: Mapping[str, Trace]) -> str:
    """Return a section's body with a mark after each file in `seen`. Idempotent.

    Marks that the body already has are removed, because its writer may have added them.
    """

    def marked(match: re.Match[str]) -> str:
        trace = seen.get(match[2])
        return match[0] if trace is None else f"{match[0]} {trace.value}"

    bare = "\n".join(line if is_code else _unmarked(line) for line, is_code in marked_lines(body))
    return "\n".join(
        _FILE.sub(marked, line) if counts and len(line) <= LONGEST_LINE else line
        for line, counts in _lines(title, bare)
    )


def _unmarked(line: str) -> str:
    for trace in Trace:
        line = line.replace(f" {trace.value}", "")
    return line


def _lines(title: str, body: str) -> Iterator[tuple[str, bool]]:
    counts = _ABOUT_PRESENT.search(title) is not None
    for line, is_code in marked_lines(body):
        if not is_code and (parsed := heading(line)) is not None:
            counts = _ABOUT_PRESENT.search(parsed[1]) is not None
            yield line, False
        else:
            yield line, counts and not is_code

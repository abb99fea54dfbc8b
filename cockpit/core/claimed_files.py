"""Files that a document says were worked on, and the mark beside each that was looked for.

Only in parts that tell of what is: what is done, how things stand, lists of files and commits. A
plan may name files that are not there yet. Nothing here looks: the caller does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from cockpit.core.markdown import heading, marked_lines

MOST_FILES = 100
LONGEST_LINE = 2_000


class Trace(Enum):
    """What was found of a claimed file; the value is the mark that a document carries.

    Only a change that git shows proves that it was worked on: many a file is merely there.
    """

    CHANGED = "(verified: git shows it changed)"
    UNCHANGED = "(unverified: it is there, and git shows no change)"
    MISSING = "(unverified: neither in the worktree nor in git)"


_TELLS = re.compile(
    r"\b(?:files?|commits?|changes|changed|modified|completed|done|in progress|current state)\b",
    re.I,
)
_FILE = re.compile(
    r"(?<![\w/.~:@-])(`?)((?:/|\./)?(?:[\w@+-][\w.@+-]*/)+[\w.@+-]*\w\.[A-Za-z]\w{0,7})"
    r"(?::\d+(?:-\d+)?)?\1(?![\w/@-])"
)


def claimed_files(sections: Iterable[tuple[str, str]]) -> list[str]:
    """The paths that such parts of a document name, as written, each once; at most `MOST_FILES`.

    `sections` are titles with their bodies.
    """
    found: dict[str, None] = {}
    for title, body in sections:
        for line, tells in _lines(title, body):
            if tells and len(line) <= LONGEST_LINE:
                found.update(dict.fromkeys(match[2] for match in _FILE.finditer(line)))
    return list(found)[:MOST_FILES]


def mark_files(title: str, body: str, seen: Mapping[str, Trace]) -> str:
    """The body with a mark behind each file that was looked for. Twice is as once.

    Such marks that the writer put there are taken away first.
    """

    def marked(match: re.Match[str]) -> str:
        trace = seen.get(match[2])
        return match[0] if trace is None else f"{match[0]} {trace.value}"

    bare = "\n".join(line if is_code else _unmarked(line) for line, is_code in marked_lines(body))
    return "\n".join(
        _FILE.sub(marked, line) if tells and len(line) <= LONGEST_LINE else line
        for line, tells in _lines(title, bare)
    )


def _unmarked(line: str) -> str:
    for trace in Trace:
        line = line.replace(f" {trace.value}", "")
    return line


def _lines(title: str, body: str) -> Iterator[tuple[str, bool]]:
    """Every line, and whether it tells of what is; code and headings do not."""
    tells = _TELLS.search(title) is not None
    for line, is_code in marked_lines(body):
        if not is_code and (found := heading(line)) is not None:
            tells = _TELLS.search(found[1]) is not None
            yield line, False
        else:
            yield line, tells and not is_code

"""Size limits of a configuration, checked before parsing.

Parsing and validation can take more than linear time, or recurse once per bracket. This check is
one pass over the text: it skips strings and comments, and counts brackets, keys and values.
"""

from __future__ import annotations

import re

MOST_ENTRIES = 10_000
"""Maximum number of keys, list values and tables in one file, together."""
MOST_AGENTS = 100
"""Maximum agents in an untrusted file, because each agent becomes a row and is saved."""
DEEPEST = 32
"""Maximum depth of nested lists and tables, and maximum parts of a dotted key."""
LONGEST_NUMBER = 100
"""Maximum characters of one number in a file."""

_TOKENS = re.compile(
    r"#[^\n]*"
    r'|"""(?:[^"\\]|\\.|"(?!""))*+"{0,5}'
    r"|'''(?:[^']|'(?!''))*+'{0,5}"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|(?P<mark>[\[\]{}=.,\n])"
    r"|(?P<number>[+-]?[0-9][A-Za-z0-9_+-]*+)"
    r"|[A-Za-z0-9_-]++",
    re.DOTALL,
)


def excess(text: str) -> tuple[int, str] | None:
    """Return the line at which the text first exceeds a limit, and a message; None if no limit is
    exceeded."""
    depth = parts = entries = 0
    for token in _TOKENS.finditer(text):
        if (number := token["number"]) is not None and len(number) > LONGEST_NUMBER:
            return _at(text, token), f"a number with more than {LONGEST_NUMBER} characters"
        mark = token["mark"]
        if mark is None:
            continue
        parts = parts + 1 if mark == "." else 0
        depth += (mark in "[{") - (mark in "]}" and depth > 0)
        entries += mark in "[{=,"
        if depth > DEEPEST or parts >= DEEPEST:
            return _at(text, token), f"nested too deeply: more than {DEEPEST} levels"
        if entries > MOST_ENTRIES:
            return _at(text, token), f"more than {MOST_ENTRIES:,} keys and values"
    return None


def _at(text: str, token: re.Match[str]) -> int:
    return text.count("\n", 0, token.start()) + 1

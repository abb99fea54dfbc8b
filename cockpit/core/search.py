"""Search in documents: split a user's query into words, and find an excerpt with the words.

A document matches if it contains all the words, in upper or lower case, even inside longer words:
`auth` finds `src/auth.py` and `TokenAuth`. There is no query syntax.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_WORDS = 12
LONGEST = 100
"""Maximum characters of a word; the rest is ignored."""

_NOT_TYPED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def words(typed: str) -> tuple[str, ...]:
    """Return the words of a query, without duplicates; at most `MOST_WORDS`."""
    cleaned = (_NOT_TYPED.sub("", word)[:LONGEST] for word in typed.split())
    return tuple(dict.fromkeys(word for word in cleaned if word))[:MOST_WORDS]


def holds_all(text: str, terms: Sequence[str]) -> bool:
    """Return whether a text contains every word, in upper or lower case."""
    folded = text.lower()
    return all(word.lower() in folded for word in terms)


def excerpt(text: str, terms: Sequence[str], room: int = 160) -> str:
    """Return the line with the most query words, cut to `room` characters around the first of them.

    Ellipses mark the cuts. Empty if no line contains any of the words.
    """
    lines = [line.strip() for line in text.splitlines()]
    best = max(lines, key=lambda line: _count(line, terms), default="")
    if not _count(best, terms):
        return ""
    first = min(at for word in terms if (at := best.lower().find(word.lower())) >= 0)
    begin = max(0, min(first - room // 3, len(best) - room))
    cut = best[begin : begin + room].strip()
    return f"{'…' if begin else ''}{cut}{'…' if begin + room < len(best) else ''}"


def _count(line: str, terms: Sequence[str]) -> int:
    folded = line.lower()
    return sum(word.lower() in folded for word in terms)


def line_of(text: str, excerpt: str) -> int | None:
    """Return the index of the first line that contains an excerpt; None if there is none."""
    sought = excerpt.strip().strip("…").strip()
    if not sought:
        return None
    return next((at for at, line in enumerate(text.splitlines()) if sought in line), None)

"""Words that are looked for in documents: what a user typed as words, and where they stand.

A document is found when it holds all the words, anywhere and in any case, also inside of longer
ones: `auth` finds `src/auth.py` and `TokenAuth`. There is no syntax, so nothing can be wrong with
what is typed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_WORDS = 12
LONGEST = 100
"""Characters of a word that are looked for."""

_NOT_TYPED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def words(typed: str) -> tuple[str, ...]:
    """What is looked for; empty for what holds no word. More words than can help are left out."""
    found = (_NOT_TYPED.sub("", word)[:LONGEST] for word in typed.split())
    return tuple(dict.fromkeys(word for word in found if word))[:MOST_WORDS]


def holds_all(text: str, wanted: Sequence[str]) -> bool:
    """Whether a text holds every word."""
    folded = text.lower()
    return all(word.lower() in folded for word in wanted)


def excerpt(text: str, wanted: Sequence[str], room: int = 160) -> str:
    """The line that holds the most of the words, cut to `room` characters around the first.

    The first such line; empty where no line holds any.
    """
    lines = [line.strip() for line in text.splitlines()]
    best = max(lines, key=lambda line: _count(line, wanted), default="")
    if not _count(best, wanted):
        return ""
    first = min(at for word in wanted if (at := best.lower().find(word.lower())) >= 0)
    begin = max(0, min(first - room // 3, len(best) - room))
    cut = best[begin : begin + room].strip()
    return f"{'…' if begin else ''}{cut}{'…' if begin + room < len(best) else ''}"


def _count(line: str, wanted: Sequence[str]) -> int:
    folded = line.lower()
    return sum(word.lower() in folded for word in wanted)

"""Find the points of the transcript that a handoff document does not mention.

Compares words, so the result can include a point that the document mentions in other words.
"""

from __future__ import annotations

from collections.abc import Iterable

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.document import Document

SHARE = 0.6
"""A document mentions a point if this share of the point's words is in two adjacent lines."""
MANY_WORDS = 12
"""For a point with more words than this, the words may be anywhere in the document instead of in
adjacent lines."""
_WORD = deferred_pattern(r"[^\W_]+")
_NO_SPACES = deferred_pattern(r"[\u3040-\u30ff\u3400-\u9fff]")
"""Matches a character of a script without spaces between words. In such a script, every two
adjacent characters count as a word."""


@dataclass(frozen=True, slots=True)
class Point:
    """A fact from the transcript that a document should mention."""

    line: str
    """The point as shown to the user."""
    text: str
    """The text whose words are looked for."""


def left_out(document: Document, points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the points that the document does not mention. The section Goal is not searched."""
    bodies = [body for title, body in document.sections.items() if title != "Goal"]
    bodies += [document.opening, *document.others.values()]
    lines = [line for body in bodies for line in body.split("\n")]
    places = [
        _words(f"{line} {after}") for line, after in zip(lines, [*lines[1:], ""], strict=True)
    ]
    whole = frozenset().union(*places)
    return tuple(point for point in points if not _has(places, whole, _words(point.text)))


def _has(places: list[frozenset[str]], whole: frozenset[str], asked: frozenset[str]) -> bool:
    needed = SHARE * len(asked)
    if len(asked & whole) < needed:
        return False
    return len(asked) > MANY_WORDS or any(len(asked & place) >= needed for place in places)


def _words(text: str) -> frozenset[str]:
    words: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _NO_SPACES.search(word):
            words.update(word[at : at + 2] for at in range(max(len(word) - 1, 1)))
        elif len(word) > 3 or any(char.isdigit() for char in word):
            words.add(word)
    return frozenset(words)

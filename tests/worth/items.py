"""What a session plants, and how a document is searched for it.

The rules were written before any document was scored. An item is found if all its terms stand close
together, in any order and any words between them: names, numbers and commands are compared, never
sentences, so that a paraphrase or a translation counts like a quotation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

REACH = 400
"""Characters within which the terms of an item have to stand."""
CLOSE = 200
"""Characters around an outdated statement within which its correction has to stand."""
READ_TOKENS = 8_000
"""Tokens of a document that are searched: whoever copies the whole transcript wins nothing."""
CHARACTERS_PER_TOKEN = 4

KINDS = {
    1: "prompts",
    2: "last reply",
    3: "compaction summary",
    4: "refusals",
    5: "orders",
    6: "pull requests, branch",
    7: "answers",
    8: "commits",
    9: "checks",
    10: "failures",
    11: "tool calls",
    12: "plan",
    13: "background, subagents",
    14: "files",
    15: "instructions, files read",
}
"""The kinds of items in order of worth to a successor."""

NOT = (
    "never|nie|niemals|not|don't|no |nicht|nichts|keine|kein|nunca|nada|frozen|eingefroren"
    "|congelada"
)
"""A prohibition, in the three languages: the document may translate."""
WITHDRAWN = (
    "no longer|not in git|not in the repository|does not exist|superseded|revoked|withdrawn"
    "|replaced|amended|dropped|undone|outdated|stale|before the last edit|forget|stop running"
    "|hook does|nicht mehr|vergiss|ersetzt|zurückgenommen|ya no|olvida|unknown commit|not reachable"
)
"""Words beside an old statement that tell the reader that it is old."""

_MARKUP = re.compile(r"[`*\\]+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Planted:
    """Something that a successor must know."""

    kind: int
    name: str
    terms: tuple[str, ...]
    """All are needed within `REACH`; alternatives in one are separated by `|`."""

    @property
    def weight(self) -> int:
        return weight(self.kind)


@dataclass(frozen=True, slots=True)
class Outdated:
    """Something that was true, or looks true, and no longer is: stating it counts against."""

    kind: int
    name: str
    terms: tuple[str, ...]
    instead: str = ""
    """What replaced it; if this stands close by, the document is right. Alternatives with `|`."""

    @property
    def weight(self) -> int:
        return weight(self.kind)


def weight(kind: int) -> int:
    """Return 3, 2 or 1 points: the list of kinds is in order of worth."""
    return 3 if kind <= 5 else 2 if kind <= 10 else 1


@dataclass(frozen=True, slots=True)
class Score:
    """How much of what was planted in a session a document holds."""

    found: tuple[Planted, ...]
    missing: tuple[Planted, ...]
    stated: tuple[Outdated, ...]
    tokens: int

    @property
    def recall(self) -> float:
        """The share of planted points that were found, from 0 to 100."""
        possible = sum(item.weight for item in (*self.found, *self.missing))
        return 100 * sum(item.weight for item in self.found) / possible if possible else 0.0

    @property
    def points(self) -> float:
        """The recall less what was stated and is outdated, from 0 to 100."""
        possible = sum(item.weight for item in (*self.found, *self.missing))
        against = 100 * sum(item.weight for item in self.stated) / possible if possible else 0.0
        return max(0.0, self.recall - against)


def score(text: str, planted: Sequence[Planted], outdated: Sequence[Outdated]) -> Score:
    """Search a document of any form for the items of a session."""
    read = normal(text[: READ_TOKENS * CHARACTERS_PER_TOKEN])
    found = tuple(item for item in planted if places(read, item.terms))
    return Score(
        found,
        tuple(item for item in planted if item not in found),
        tuple(item for item in outdated if _is_stated(read, item)),
        tokens(text),
    )


def tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def normal(text: str) -> str:
    """Return the text without markup, line ends and case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SPACE.sub(" ", _MARKUP.sub("", folded))


def places(text: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Return where in a normal text the first term stands with all others close by."""
    first, *others = terms
    found = []
    for start, end in _occurrences(text, first):
        around = max(0, start - REACH), end + REACH
        passage = text[around[0] : around[1]]
        if all(_occurrences(passage, other) for other in others):
            found.append((start, end))
    return found


def _occurrences(text: str, alternatives: str) -> list[tuple[int, int]]:
    found = []
    for term in alternatives.split("|"):
        wanted = normal(term)
        # A name is not found inside a longer one: `ledger` is not `ledger_total`.
        before = r"(?<![\w])" if wanted[:1].isalnum() else ""
        after = r"(?![\w])" if wanted[-1:].isalnum() else ""
        pattern = before + re.escape(wanted) + after
        found += [match.span() for match in re.finditer(pattern, text)]
    return found


def _is_stated(text: str, item: Outdated) -> bool:
    """Return whether a passage states the item with nothing beside it that corrects it."""
    corrected = f"{item.instead}|{WITHDRAWN}" if item.instead else WITHDRAWN
    return any(
        not _occurrences(text[max(0, start - CLOSE) : end + CLOSE], corrected)
        for start, end in places(text, item.terms)
    )

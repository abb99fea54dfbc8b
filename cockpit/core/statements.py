"""Parse the decisions, constraints and revocations in a section of a document.

A statement is a list item or a paragraph. Two statements are compared by their words, cautiously:
if it is not certain that both say the same, they count as different. A wrong match would drop a
decision silently; a missed match only repeats a decision.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from cockpit.core.claimed_files import Trace
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.document import says_nothing
from cockpit.core.markdown import heading, marked_lines, one_line, plain
from cockpit.core.verified_facts import COMMIT_MARKS

MOST = 200
"""Maximum statements of one section, and maximum revocations."""
LONGEST = 600
"""Maximum characters of a statement."""

_ITEM = deferred_pattern(r"[ ]?(?:[-*+]|\d{1,9}[.)])[ \t]+")
_ANY_ITEM = deferred_pattern(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_INDENTED = deferred_pattern(r"(?: {2,}|\t)\S")
_REVOKED = deferred_pattern(
    r"[\s*_]*revoked[*_]*[ \t]*(?:\([^()]{0,120}\))?[*_]*[ \t]*:[*_]*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_STRUCK = deferred_pattern(r"[\s*_]*~~(.+?)~~[\s.,;:]*(.*)", re.DOTALL)
_SOURCE = deferred_pattern(
    r"\((?:(?:the )?user\b|(?:in )?(?:turn|prompt|session)s? \d)[^()]{0,80}\)"
    r"|^\s*(?:in )?(?:turn|prompt|session) \d{1,6}\s*[:,]",
    re.IGNORECASE,
)
"""Matches the origin of a statement, as in `(user, turn 41)`, which is not part of its text."""
_WORD = deferred_pattern(r"\w+(?:[./:@+#_-]+\w+)*")
_REASON = deferred_pattern(
    r"[,;]?\s+(?:because|so that|in order to|weil|damit|parce que|afin de)\b"
    r"|[,;]\s+(?:since|da|car)\b",
    re.IGNORECASE,
)
_CLAUSE = deferred_pattern(r"[.;:!?]\s|\s[(–—-]\s?|\(")
_SMALL = (
    "a an the is are was were be been being we i it its this that these those of will shall should "
    "must do does please has have"
)
_NOT = "¬"
_NEGATIONS = (
    "not no never dont doesnt mustnt shouldnt wont cannot cant nicht nie niemals kein keine keinen "
    "ne pas jamais"
)
_LIMITS = (
    "only except unless instead until longer anymore rather but formerly previously used without "
    "replaced replace superseded obsolete outdated reverted abandoned dropped changed wrong void "
    "nur außer statt bis sauf"
)
"""Words that can change the meaning of a statement that otherwise begins like an earlier
statement."""
_SMALL_WORDS, _NEGATION_WORDS, _LIMIT_WORDS = (
    frozenset(words.split()) for words in (_SMALL, _NEGATIONS, _LIMITS)
)


@dataclass(frozen=True, slots=True)
class Section:
    """The statements of a section, and the statements that the section revokes."""

    stated: tuple[str, ...] = ()
    revoked: tuple[str, ...] = ()
    """The texts after `Revoked:`, and the texts that are struck out (`~~text~~`)."""


def statements(body: str) -> Section:
    """Return the statements of a section's body, and the revocations in it."""
    stated: list[str] = []
    revoked: list[str] = []
    for lines in _items(body):
        _read_item(lines, stated, revoked)
    return Section(
        tuple(list(dict.fromkeys(stated))[:MOST]), tuple(list(dict.fromkeys(revoked))[:MOST])
    )


def says(later: str, earlier: str) -> bool:
    """Return whether a later statement still says the same as an earlier one.

    True if the later statement begins with the same words, in the same order, apart from small
    words such as articles and auxiliary verbs, and has no further negation or limiting word. The
    reason that a statement gives can change.
    """
    if _begins_with(later, earlier):
        return True
    first, then = _without_reason(earlier), _without_reason(later)
    return len(_words(first)) > 1 and _begins_with(then, first)


def names(revocation: str, standing: Sequence[str]) -> int | None:
    """Return the index of the statement that a revocation names; None if this is not certain.

    A revocation names a statement if the revocation begins with all words of the statement before
    the statement's reason; of several such statements, the longest is named. Otherwise,
    the first clause of the revocation must have at least two words and be the beginning of exactly
    one statement.
    """
    revoked = _words(revocation)
    whole = [
        (len(words), at)
        for at, text in enumerate(standing)
        if (words := _words(_without_reason(text))) and revoked[: len(words)] == words
    ]
    if whole:
        return max(whole)[1]
    named = _words(_CLAUSE.split(_without_reason(revocation), maxsplit=1)[0])
    if len(named) < 2:
        return None
    begun = [at for at, text in enumerate(standing) if _words(text)[: len(named)] == named]
    return begun[0] if len(begun) == 1 else None


def _items(body: str) -> list[list[str]]:
    """Return the lines of each list item and paragraph; a nested item belongs to the outer item."""
    items: list[list[str]] = []
    is_open = after_gap = False
    for line, is_code in marked_lines(plain(body)):
        if is_code:
            if is_open and not line.strip().startswith(("```", "~~~")):
                items[-1].append(line.strip())
            continue
        if heading(line) is not None:
            is_open = False
        elif not line.strip():
            after_gap = True
            continue
        elif is_open and (_INDENTED.match(line) or not (after_gap or _ITEM.match(line))):
            items[-1].append(_ANY_ITEM.sub("", line, count=1).strip())
        else:
            items.append([_ANY_ITEM.sub("", line, count=1).strip()])
            is_open = True
        after_gap = False
    return items


def _read_item(lines: list[str], stated: list[str], revoked: list[str]) -> None:
    """Append an item's statement or revocations. A statement before `Revoked:`, in the same
    item, is revoked."""
    kept: list[str] = []
    ends = False
    for line in lines:
        match = _REVOKED.match(line)
        if match is None:
            kept.append(line)
            continue
        ends = ends or bool(kept)
        if text := one_line(match[1].strip(" *_"), LONGEST):
            revoked.append(text)
    text = one_line(" ".join(kept), LONGEST)
    if not text or says_nothing(text) or (text.endswith(":") and not ends):
        return
    struck = _STRUCK.match(text)
    if struck is not None:
        revoked.append(struck[1])
        rest = struck[2].strip()
        text = "" if rest.startswith(("(", "-", "–", "—")) or _REASON.match(f" {rest}") else rest
    if ends:
        revoked.append(text)
    elif text:
        stated.append(text)


def _begins_with(later: str, earlier: str) -> bool:
    first, then = _words(earlier), _words(later)
    return bool(first) and then[: len(first)] == first and _limits(first) == _limits(then)


def _limits(words: tuple[str, ...]) -> Counter[str]:
    return Counter(word for word in words if word == _NOT or word in _LIMIT_WORDS)


def _without_reason(text: str) -> str:
    return _REASON.split(text, maxsplit=1)[0]


def _words(text: str) -> tuple[str, ...]:
    for mark in (*COMMIT_MARKS, *(trace.value for trace in Trace)):
        text = text.replace(mark, "")
    bare = unicodedata.normalize("NFKC", _SOURCE.sub("", text)).casefold()
    matches = _WORD.findall(bare.replace("'", "").replace("’", "").replace("_", " "))
    return tuple(
        _NOT if word in _NEGATION_WORDS else word for word in matches if word not in _SMALL_WORDS
    )

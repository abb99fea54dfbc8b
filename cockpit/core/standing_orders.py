"""Find standing orders and corrections in a prompt of the user, in several languages.

The patterns are cautious. They match orders (always, never or no longer do something), complaints
that something was wrong, and policies of the project (see `policies`). Sentences with the same
words that describe behaviour, or a feature to build, are left out. The patterns match words, not
meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.order_patterns import (
    CORRECTIONS,
    EAST_ASIAN_ORDERS,
    EAST_ASIAN_STATEMENTS,
    ORDERS,
    STATEMENTS,
)
from cockpit.core.policies import is_policy

READ = 20_000
"""Maximum characters of a prompt that are read."""
LONGEST = 400
"""Maximum characters of an order; a longer sentence is probably pasted text."""


def _any_of(patterns: tuple[str, ...], at: str = "") -> re.Pattern[str]:
    """Join patterns for lower-case text to one expression that is tried only where `at` matches."""
    return deferred_pattern(at + "(?:" + "|".join(f"(?:{pattern})" for pattern in patterns) + ")")


_START = r"(?:^|\b(?=\w)|(?=[,;:(–—-]))"
"""Matches the beginning of a text, of a word or of a clause."""
_ORDER = _any_of(ORDERS, _START)
_EAST_ASIAN_ORDER = _any_of(EAST_ASIAN_ORDERS)
_EAST_ASIAN_STATEMENT = _any_of(EAST_ASIAN_STATEMENTS)
_STATEMENT = _any_of(STATEMENTS, _START)
_CORRECTION = _any_of(CORRECTIONS, _START)
_FENCE = deferred_pattern(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_END = deferred_pattern(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|(?<=[。！？])")
_NO_SENTENCE = deferred_pattern(r"\s{4,}\S|\t|[>|$#%]|\d{4}-\d\d-\d\d|at \S+ ?\(|File \"|[{}\[<]")
_BULLET = deferred_pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_LEAD = deferred_pattern(
    r"^(?:(?:hey|hi|so|hmm+|well|fyi|heads\s+up|note|and|also|und|et|y|e|ach\s+ja|übrigens|btw|by\s+the\s+way|oh|ps|p\.s\.|one\s+(?:more\s+)?thing|noch\s+was|außerdem|tra\s+l['’]altro"
    r"|por\s+cierto|au\s+fait|a\s+propósito|trouwens|кстати)\s*[,:.!–—-]*\s+)+"
)
"""Matches words before a sentence that are not part of the order, such as `btw`."""
_ASKED_FOR = deferred_pattern(
    r"^(?:and\s+|also,?\s+)?(?:can|could|would|will)\s+(?:you|we)\s+(?:please\s+)?(?:stop\s+\w+ing|quit\s+\w+ing|always|never)\b|^(?:kannst|könntest)\s+du\s+(?:bitte\s+)?(?:aufhören|künftig|immer|nie)\b"
    r"|^(?:peux|pourrais)-tu\s+(?:toujours|arrêter)\b|^¿puedes\s+dejar\s+de\b"
)
"""Matches a question that is an order, such as `can you please stop adding …`."""
_AGREED = deferred_pattern(
    r",\s*(?:¿)?(?:ok(?:ay)?|alright|deal|agreed|ja|gell?|d['’]accord|vale|va\s+bene|combinado|está\s+bem|oké)\s?\?$",
    re.IGNORECASE,
)
"""Matches a question at the end of an order that asks only for consent, such as `, ok?`."""
_WRITTEN_OUT = {
    "cant": "can't", "dont": "don't", "nix": "nichts", "pls": "please", "plz": "please", "thx": "",
    "u": "you",
}  # fmt: skip
_SHORT = deferred_pattern(r"\b(?:" + "|".join(_WRITTEN_OUT) + r")\b")
_EMPHASIS = deferred_pattern(r"\*\*|__")
_QUOTED = deferred_pattern(r"(?<!\w)\"[^\"\n]{12,}\"|“[^”\n]{12,}”|„[^“”\n]{12,}[“”]|«[^»\n]{12,}»")
"""Matches quoted text, such as a message or a label, which is not the user's own order."""
_FAULT = deferred_pattern(
    r"^(?:(?:please|can\s+you|could\s+you|bitte|por\s+favor),?\s+)*(?:fix\b|find\s+out|behebe?\b|bitte\s+beheben|korrigier|corrige|arréglal|corrígel|sistema\b|correggi|conserta)"
)
"""Matches a request to fix something. The sentence before such a request describes a bug in the
program, and is not an order."""


def standing_orders(prompt: str) -> list[str]:
    """Return the sentences of a prompt that are standing orders or corrections, word for word.

    Code, quotes, logs and questions are left out, except questions that are orders.
    """
    sentences = [*_sentences(prompt[:READ])]
    after = [*sentences[1:], ""]
    return [
        sentence
        for sentence, following in zip(sentences, after, strict=False)
        if _is_order(sentence) and _FAULT.search(following.lower()) is None
    ]


def _is_order(sentence: str) -> bool:
    if not 4 <= len(sentence) <= LONGEST:
        return False
    sentence = _AGREED.sub(".", sentence, count=1)
    if sentence.endswith(("?", "？")):
        return _ASKED_FOR.search(sentence.lower()) is not None
    if is_correction(sentence) or is_policy(sentence):
        return True
    text = _plain_words(sentence.lower())
    text = _QUOTED.sub('""', _LEAD.sub("", text, count=1))
    if _ORDER.search(text) is not None:
        return _STATEMENT.search(text) is None
    if text.isascii() or _EAST_ASIAN_ORDER.search(text) is None:
        return False
    return _EAST_ASIAN_STATEMENT.search(text) is None


def _plain_words(text: str) -> str:
    """Return the text with chat abbreviations written out."""
    return _SHORT.sub(lambda match: _WRITTEN_OUT[match[0]], text)


def is_correction(sentence: str) -> bool:
    """Return whether a sentence corrects an earlier one, or lifts a prohibition."""
    return _CORRECTION.search(sentence.lower()) is not None


def _sentences(text: str) -> Iterator[str]:
    for line in _FENCE.sub("\n", text).split("\n"):
        if _NO_SENTENCE.match(line):
            continue
        bare = _EMPHASIS.sub("", _BULLET.sub("", line, count=1)).strip()
        for sentence in _END.split(bare):
            if sentence.strip():
                yield sentence.strip()

"""Find the user's later correction of an order or an answer.

A later text counts if it is worded as a correction and shares enough words with the order or
answer. This shows that the two texts have the same subject, not that the user revoked the order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cockpit.core.facts import Constraint
from cockpit.core.standing_orders import is_correction

CAME_BACK = "the user came back to this in turn"
"""The note in a document beside an order that the user may have changed later."""
SHARE = 1 / 3
"""Share of the earlier statement's words that a correction must contain. One shared name is enough.
"""
SHORTEST = 4
"""Minimum letters of a word that is compared. Shorter words are compared only if they are names."""
STEM = 5
"""Words are compared by this many first letters, because endings vary. Names are compared whole."""
_WORD = re.compile(r"\w+(?:[./:@_-]+\w+)*")
_NAME = re.compile(r"\d|\w[./:@_-]\w")
"""Matches a word that is a name: with a digit, or with a sign such as `/` or `_` between
letters."""
_COMMON = (
    "after again anyth befor about chang corre could doing every forge going happe insta inste"
    " longe mista never other pleas shoul sorry still their there these thing those until using"
    " wante whate where which while would wrong yours"
    " also been does done dont find from have here into just keep like look made make mind"
    " more most must need only open over said some take that them then they this want were what"
    " when will with work yeah your"
    " aber alle auch beim dann dass dein denn dies doch eine habe hast hier mehr muss nach noch nur"
    " oder sein sich sind soll tust vom wenn werd wird"
    " bitte diese einem einen einer falsc habe immer jetzt keine korre meine nicht sollt"
    " überl verge werde wiede wurde"
    " como cosa esta este esto para pero pues sobre solo sólo tiene todo usar vamo"
    " ahora antes cuand desde donde equiv error hasta mejor nunca olvid perdo porqu puede siemp"
    " todas todos"
    " avec dans donc elle fait mais nous peux plus pour sans tout vous"
    " après avant cette final jamai maint oubli quand toujo"
)
_SAYS_NOTHING = frozenset(_COMMON.split())
"""Stems that are ignored: common words, and words about orders, in English, German, Spanish and
French."""


def correction_of(text: str, turn: int, constraints: Sequence[Constraint]) -> Constraint | None:
    """Return the user's correction, made after `turn`, of an earlier statement; None without one.

    `text` is the statement. Of several corrections, returns the one that shares the most words with
    the statement; if several share as many, the latest.
    """
    words = _words(text)
    later = (
        [
            constraint
            for constraint in constraints
            if constraint.turn > turn and is_correction(constraint.text)
        ]
        if words
        else []
    )
    shared = [
        (_in_common(words, _words(constraint.text)), at) for at, constraint in enumerate(later)
    ]
    best, at = max(shared, default=(0, 0))
    return later[at] if best else None


def answer_correction(
    question: str, answer: str, turn: int, constraints: Sequence[Constraint]
) -> Constraint | None:
    """Return the user's correction, made after `turn`, of an earlier answer; None without one.

    First compares the question and the answer together, then only the answer.
    """
    return correction_of(f"{question} {answer}", turn, constraints) or correction_of(
        answer, turn, constraints
    )


def _in_common(earlier: frozenset[str], later: frozenset[str]) -> int:
    """Return the number of shared words; 0 if the texts share too few to have the same subject."""
    shared = earlier & later
    is_named = any(_NAME.search(word) for word in shared)
    return len(shared) if is_named or len(shared) >= SHARE * len(earlier) else 0


def _words(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    names = {word for word in words if _NAME.search(word)}
    stems = {word[:STEM] for word in words if len(word) >= SHORTEST and word not in names}
    return frozenset(names | stems - _SAYS_NOTHING)

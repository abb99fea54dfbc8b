"""Find the user's later correction of an order or an answer.

The texts are compared by their words, so a match means that both are about the same subject, not
that the order was revoked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cockpit.core.facts import Constraint
from cockpit.core.standing_orders import is_correction

CAME_BACK = "the user came back to this in turn"
"""The note beside an order in a document that the user changed later."""
SHARE = 1 / 3
"""Share of the earlier statement's words that a correction must have; a name is enough."""
SHORTEST = 4
"""Letters of the shortest word that is compared; a shorter one is compared only if it is a name."""
STEM = 5
"""Words are compared by their first letters, because languages inflect their ends."""
_WORD = re.compile(r"\w+(?:[./:@_-]+\w+)*")
_NAME = re.compile(r"\d|\w[./:@_-]\w")
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
"""Stems of small words and of words about orders: English, German, Spanish, French."""


def correction_of(text: str, turn: int, constraints: Sequence[Constraint]) -> Constraint | None:
    """Return the correction after a turn that names what an earlier statement names.

    Of several, the one that has most words of the statement; of equal ones, the last.
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
    weighed = [(_in_common(words, _words(one.text)), at) for at, one in enumerate(later)]
    best, at = max(weighed, default=(0, 0))
    return later[at] if best else None


def answer_correction(
    question: str, answer: str, turn: int, constraints: Sequence[Constraint]
) -> Constraint | None:
    """Return the correction of an answer: it can name the question or only the answer."""
    return correction_of(f"{question} {answer}", turn, constraints) or correction_of(
        answer, turn, constraints
    )


def _in_common(earlier: frozenset[str], later: frozenset[str]) -> int:
    """Return the number of shared words; 0 if they are too few to be about the same."""
    shared = earlier & later
    is_named = any(_NAME.search(word) for word in shared)
    return len(shared) if is_named or len(shared) >= SHARE * len(earlier) else 0


def _words(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    names = {word for word in words if _NAME.search(word)}
    stems = {word[:STEM] for word in words if len(word) >= SHORTEST and word not in names}
    return frozenset(names | stems - _SAYS_NOTHING)

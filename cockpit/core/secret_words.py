"""The words of a text, gathered in one pass, so that most searches for one can be left out."""

from __future__ import annotations

import re
from dataclasses import dataclass

_IN_WORDS = "abcdefghijklmnopqrstuvwxyz0123456789_.-"
_APART = bytes(code if chr(code) in _IN_WORDS else 32 for code in range(256))
_RUN = re.compile(rf"[{re.escape(_IN_WORDS)}]+")
_WRITTEN = b"nrt"
"""Letters that may end an escape (`\\n`) and belong to no word."""
_COLOUR = re.compile(rb"[0-9]{1,4}m(?=.)")


@dataclass(frozen=True, slots=True)
class Words:
    """Every word once; a word that an escape or a colour runs into also without it."""

    each: frozenset[bytes]
    joined: bytes

    def may_hold(self, run: bytes) -> bool:
        """False where the text, in lower case, has no place with this run of `longest_run`."""
        return run in self.joined


def words_of(folded: str) -> Words:
    """The words of a text in lower case."""
    words = set(folded.encode("latin-1", "replace").translate(_APART).split())
    shorter = [word[1:] for word in words if word[0] in _WRITTEN]
    for word in words:
        if word[0] == 45:
            shorter.append(word.lstrip(b"-"))
        elif word[0] < 58 and (colour := _COLOUR.match(word)):
            shorter.append(word[colour.end() :])
    words.update(shorter)
    return Words(frozenset(words), b" ".join(words))


def longest_run(searched: str) -> bytes:
    """What of a searched text stands in one word, wherever that text is."""
    return max(_RUN.findall(searched), key=len, default="").encode()

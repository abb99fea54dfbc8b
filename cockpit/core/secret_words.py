"""The words of a text, collected in one pass, so that most searches can be skipped."""

from __future__ import annotations

import re

from cockpit.core.deferred_dataclass import dataclass

_IN_WORDS = "abcdefghijklmnopqrstuvwxyz0123456789_.-"
_APART = bytes(code if chr(code) in _IN_WORDS else 32 for code in range(256))
_RUN = re.compile(rf"[{re.escape(_IN_WORDS)}]+")
_WRITTEN = b"nrt"
"""Letters that may belong to an escape (`\\n`) instead of a word."""
_COLOUR = re.compile(rb"[0-9]{1,4}m(?=.)")


@dataclass(frozen=True, slots=True)
class Words:
    """The set of words in a text.

    A word that directly follows an escape (`\\n`), a colour code or dashes is included twice: with
    and without the letter of the escape, the end of the code, or the dashes.
    """

    each: frozenset[bytes]
    joined: bytes

    def may_hold(self, run: bytes) -> bool:
        """Return whether the text may contain a search text whose `longest_run` is `run`; False is
        certain."""
        return run in self.joined


def words_of(folded: str) -> Words:
    """Return the words of a text, which must be in lower case."""
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
    """Return the longest part of a search text that is within one word."""
    return max(_RUN.findall(searched), key=len, default="").encode()

"""The runs of characters in a text that are long enough to be a credential, and nothing else.

Ordinary text has few, so whatever looks for credentials looks there first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SHORTEST_RUN = 15
CHARACTERS = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/+=~%$!@?&|,;[]-"
)
_STAND_IN = "\x1a"
"""For a question mark, because the encoder writes one for each letter that is not ASCII."""
_APART = bytes(
    63 if chr(code) == _STAND_IN else code if chr(code) in CHARACTERS - {"?"} else 32
    for code in range(256)
)
_COLOURS = re.compile(r"(?:\x1b|\\(?:u001b|x1b|033|e))\[[0-9;]{0,12}m")
_RUN = re.compile(rf"[^ ]{{{SHORTEST_RUN},}}")


def token_runs(text: str) -> str:
    """Each long run once, a line each; colours and `\\n` as JSON writes it count as spaces."""
    long = dict.fromkeys([run for run in _apart(text).split() if len(run) >= SHORTEST_RUN])
    return "\n".join(long)


def placed_runs(text: str) -> Iterator[tuple[int, str]]:
    """Each long run wherever it stands, and where it begins in the text."""
    for run in _RUN.finditer(_apart(text)):
        yield run.start(), run[0]


def _apart(text: str) -> str:
    """The text with spaces for what is in no run; each character stays at its place."""
    text = spaced(text)
    if "?" in text:
        text = text.replace("?", _STAND_IN)
    return text.encode("ascii", "replace").translate(_APART).decode("ascii")


def spaced(text: str) -> str:
    """The text with spaces for colours, and for ends of lines as JSON writes them."""
    if "\\" in text:
        # Their letter would seem a part of the run that follows.
        for written in ("\\n", "\\r", "\\t"):
            text = text.replace(written, "  ")
    if "\x1b[" in text or "b[" in text or "\\033[" in text or "\\e[" in text:
        text = _COLOURS.sub(lambda colour: " " * len(colour[0]), text)
    return text


def is_run(value: str) -> bool:
    """Whether a value would stand in `token_runs` of every text that has it."""
    return len(value) >= SHORTEST_RUN and CHARACTERS.issuperset(value)

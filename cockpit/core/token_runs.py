"""Find the runs of characters in a text that are long enough to be a credential.

Ordinary text has few such runs, so searches for credentials read only the runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SHORTEST_RUN = 15
CHARACTERS = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/+=~%$!@?&|,;[]-"
)
_STAND_IN = "\x1a"
"""Replaces a question mark, because the encoder writes one for each character that is not ASCII."""
_APART = bytes(
    63 if chr(code) == _STAND_IN else code if chr(code) in CHARACTERS - {"?"} else 32
    for code in range(256)
)
_COLOURS = re.compile(r"(?:\x1b|\\(?:u001b|x1b|033|e))\[[0-9;]{0,12}m")
_RUN = re.compile(rf"[^ ]{{{SHORTEST_RUN},}}")


def token_runs(text: str) -> str:
    """Return each run of at least `SHORTEST_RUN` characters once, one run per line.

    Colour codes and escaped whitespace (`\\n`) are treated as spaces.
    """
    long = dict.fromkeys([run for run in _apart(text).split() if len(run) >= SHORTEST_RUN])
    return "\n".join(long)


def placed_runs(text: str) -> Iterator[tuple[int, str]]:
    """Yield start and text of every run of at least `SHORTEST_RUN` characters."""
    for run in _RUN.finditer(_apart(text)):
        yield run.start(), run[0]


def _apart(text: str) -> str:
    text = spaced(text)
    if "?" in text:
        text = text.replace("?", _STAND_IN)
    return text.encode("ascii", "replace").translate(_APART).decode("ascii")


def spaced(text: str) -> str:
    """Replace colour codes and escaped whitespace (`\\n`, `\\r`, `\\t`) with spaces, keeping the
    length."""
    if "\\" in text:
        # Otherwise the letter of the escape would be read as part of the next run.
        for written in ("\\n", "\\r", "\\t"):
            text = text.replace(written, "  ")
    if "\x1b[" in text or "b[" in text or "\\033[" in text or "\\e[" in text:
        text = _COLOURS.sub(lambda colour: " " * len(colour[0]), text)
    return text


def is_run(value: str) -> bool:
    """Return whether `token_runs` finds this value in every text that contains the value."""
    return len(value) >= SHORTEST_RUN and CHARACTERS.issuperset(value)

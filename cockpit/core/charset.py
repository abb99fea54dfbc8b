"""What an environment says of the characters and colours that its terminal can show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Colours = Literal["none", "16", "all"]
MOST = "unicode/all"
"""What `shows` says of a terminal that can show everything."""
_FEW_FIRST: tuple[Colours, ...] = ("none", "16", "all")


def speaks_unicode(environment: Mapping[str, str]) -> bool:
    """Whether the environment leaves room for more than ASCII.

    A language that is said to be in another charset, or none (`C`, `POSIX`), says no. Where nothing
    is said the terminal decides, and those have been able to for decades.
    """
    said = next(filter(None, map(environment.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "unknown.UTF-8")
    return said.upper().replace("-", "").partition("@")[0].endswith("UTF8")


def colours(environment: Mapping[str, str]) -> Colours:
    """How many colours the environment promises, and wants."""
    if environment.get("NO_COLOR"):
        return "none"
    term = environment.get("TERM", "")
    many = term.endswith(("256color", "direct", "kitty", "ghostty", "alacritty", "foot"))
    return "all" if many or environment.get("COLORTERM") else "16"


def shows(environment: Mapping[str, str]) -> str:
    """Both in a word, to be kept and compared."""
    return f"{'unicode' if speaks_unicode(environment) else 'ascii'}/{colours(environment)}"


def shows_less(environment: Mapping[str, str], drawn_for: str) -> bool:
    """Whether something that `shows` said once is too much for this environment's terminal."""
    letters, _, many = drawn_for.partition("/")
    if many not in _FEW_FIRST:
        return False
    fewer = _FEW_FIRST.index(colours(environment)) < _FEW_FIRST.index(many)
    return fewer or (letters == "unicode" and not speaks_unicode(environment))

"""Determine from an environment which characters and colours the terminal can show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Colours = Literal["none", "16", "all"]
MOST = "unicode/all"
"""The value of `shows` for a terminal that can show everything."""
_FEW_FIRST: tuple[Colours, ...] = ("none", "16", "all")


def speaks_unicode(environment: Mapping[str, str]) -> bool:
    """Return whether the locale uses UTF-8.

    False for another charset and for a locale without a charset (`C`, `POSIX`). True if no locale
    is set, because terminals support UTF-8.
    """
    locale = next(
        filter(None, map(environment.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "unknown.UTF-8"
    )
    return locale.upper().replace("-", "").partition("@")[0].endswith("UTF8")


def colours(environment: Mapping[str, str]) -> Colours:
    """Return the colours the terminal supports: `all`, `16`, or `none` if `NO_COLOR` is set."""
    if environment.get("NO_COLOR"):
        return "none"
    term = environment.get("TERM", "")
    many = term.endswith(("256color", "direct", "kitty", "ghostty", "alacritty", "foot"))
    return "all" if many or environment.get("COLORTERM") else "16"


def shows(environment: Mapping[str, str]) -> str:
    """Return charset and colours as one string, such as `unicode/all`, for `shows_less`."""
    return f"{'unicode' if speaks_unicode(environment) else 'ascii'}/{colours(environment)}"


def shows_less(environment: Mapping[str, str], drawn_for: str) -> bool:
    """Return whether this terminal shows less than `drawn_for`, which is a result of `shows`."""
    letters, _, many = drawn_for.partition("/")
    if many not in _FEW_FIRST:
        return False
    fewer = _FEW_FIRST.index(colours(environment)) < _FEW_FIRST.index(many)
    return fewer or (letters == "unicode" and not speaks_unicode(environment))

"""Environment variables that override the configuration of the screen in one terminal."""

from __future__ import annotations

from collections.abc import Mapping

WISHES = ("COCKPIT_THEME", "COCKPIT_REFRESH", "COCKPIT_GLYPHS", "COCKPIT_COLOURS")
NONE = "-"
LONGEST = 64
"""Maximum characters of a variable's value that are compared; every valid value is shorter."""


def wishes(environment: Mapping[str, str]) -> str:
    """Return the variables of `WISHES`, with their values, as one hexadecimal text to compare.

    `NONE` if none of them is set.
    """
    settings = [f"{name}={value[:LONGEST]}" for name in WISHES if (value := environment.get(name))]
    return "\0".join(settings).encode(errors="replace").hex() or NONE


def asks_for_another(environment: Mapping[str, str], drawn_for: str) -> bool:
    """Return whether this environment needs another screen than the one drawn for `drawn_for`.

    `drawn_for` is a result of `wishes`; an empty text differs from all. False if none of the
    variables is set.
    """
    own = wishes(environment)
    return own not in (NONE, drawn_for)

"""What an environment asks of the screen in its own terminal, over what the configuration says."""

from __future__ import annotations

from collections.abc import Mapping

WISHES = ("COCKPIT_THEME", "COCKPIT_REFRESH", "COCKPIT_GLYPHS", "COCKPIT_COLOURS")
NONE = "-"
LONGEST = 64
"""Characters of a wish that are compared; every value that is valid is shorter."""


def wishes(environment: Mapping[str, str]) -> str:
    """All of it in a word, to be kept and compared; hexadecimal, for a wish may hold anything."""
    said = [f"{name}={value[:LONGEST]}" for name in WISHES if (value := environment.get(name))]
    return "\0".join(said).encode(errors="replace").hex() or NONE


def asks_for_another(environment: Mapping[str, str], drawn_for: str) -> bool:
    """Whether a screen that was drawn for such wishes is not what this environment asks for.

    One that asks for nothing takes the screen that is there.
    """
    own = wishes(environment)
    return own not in (NONE, drawn_for)

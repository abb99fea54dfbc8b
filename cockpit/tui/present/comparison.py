"""Two documents as one: what was taken away, what came, and a little of what stayed around it."""

from __future__ import annotations

from difflib import unified_diff

from cockpit.core.front_matter import load
from cockpit.core.safetext import safe_text
from cockpit.tui.present.span import Span, broken

MOST = 262_144
"""Characters of each that are compared."""
AROUND = 3

_ROLES = {"+": "added", "-": "removed", "@": "chain"}


def compared(before: str, after: str) -> list[str]:
    """The lines of a unified comparison of what the documents say, under their front matter.

    Takes as long as the documents are long: seconds for two of the largest that share nothing.
    """
    old, new = (safe_text(load(text)[1], MOST).splitlines() for text in (before, after))
    lines = list(unified_diff(old, new, n=AROUND, lineterm=""))
    return lines[2:]  # the first two name files


def drawn(lines: list[str], width: int) -> list[list[Span]]:
    """The comparison for a width: long lines over several, each with its sign."""
    if not lines:
        return [[Span("  They say the same.", "muted")]]
    found = []
    for line in lines:
        sign, text = line[:1], line[1:]
        role = _ROLES.get(sign, "")
        if sign == "@":
            found.append([Span(" ┄┄┄", role)])
            continue
        found += [[Span(f" {sign} {piece}", role)] for piece in broken(text, width - 4) or [""]]
    return found

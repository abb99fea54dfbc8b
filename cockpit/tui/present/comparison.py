"""A unified diff of two documents."""

from __future__ import annotations

from difflib import unified_diff

from cockpit.core.front_matter import load
from cockpit.core.safetext import safe_text
from cockpit.tui.present.span import Span, broken

MOST = 262_144
"""Maximum characters of each document that are compared."""
AROUND = 3

_ROLES = {"+": "added", "-": "removed", "@": "chain"}


def compared(before: str, after: str) -> list[str]:
    """Return the unified diff of the documents' bodies, without their front matter.

    Takes seconds for two documents of the maximum size that have nothing in common.
    """
    old, new = (safe_text(load(text)[1], MOST).splitlines() for text in (before, after))
    lines = list(unified_diff(old, new, n=AROUND, lineterm=""))
    return lines[2:]  # without the two lines of file names


def drawn(lines: list[str], width: int) -> list[list[Span]]:
    """Return the lines of the diff, wrapped to a width; continuation lines repeat `+` or `-`."""
    if not lines:
        return [[Span("  The documents are identical.", "muted")]]
    wrapped = []
    for line in lines:
        sign, text = line[:1], line[1:]
        role = _ROLES.get(sign, "")
        if sign == "@":
            wrapped.append([Span(" ┄┄┄", role)])
            continue
        wrapped += [[Span(f" {sign} {piece}", role)] for piece in broken(text, width - 4) or [""]]
    return wrapped

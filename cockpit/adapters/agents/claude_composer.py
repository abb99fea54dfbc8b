"""Whether Claude Code's prompt box is empty, read from its screen.

The one thing that neither hook nor record nor presence tells. Everything else about the session
comes from those; nothing here decides whether the agent is busy.
"""

from __future__ import annotations

import re

from cockpit.ports.panes import Screen

PROMPT_SIGNS = ("❯", ">")

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_RULE = re.compile(r"[─━╭╰╮╯]{8,}")


def composer_empty(screen: Screen) -> bool | None:
    """True when the box holds nothing but a faint suggestion; None when there is no box."""
    plain = [_SGR.sub("", line).rstrip() for line in screen.lines]
    rules = [row for row, line in enumerate(plain) if _RULE.match(line.strip())]
    for top, bottom in zip(reversed(rules[:-1]), reversed(rules[1:]), strict=True):
        if plain[top + 1 : top + 2] and plain[top + 1].lstrip("│ ").startswith(PROMPT_SIGNS):
            typed = "".join(_strong(line) for line in screen.lines[top + 1 : bottom])
            return typed.strip("│ \xa0\n").lstrip("❯>").strip(" \xa0") == ""
    return None


def _strong(line: str) -> str:
    """The text of a line that is not faint: suggestions are, what was typed is not."""
    faint = False
    kept: list[str] = []
    for place, piece in enumerate(_SGR.split(line)):
        if place % 2:
            faint = _faint(piece, faint)
        elif not faint:
            kept.append(piece)
    return "".join(kept)


def _faint(parameters: str, faint: bool) -> bool:
    for parameter in parameters.split(";"):
        if parameter == "2":
            faint = True
        elif parameter in ("", "0", "22"):
            faint = False
    return faint

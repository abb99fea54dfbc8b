"""Read from the screen whether opencode's prompt box is empty.

The box has a line of `┃` at its left. Its last line contains the agent and the model; below the box
is a line of `▀` that begins with `╹`. A suggestion in an empty box is grey. While a dialog is open,
there is no such box.
"""

from __future__ import annotations

import re

from cockpit.ports.panes import Screen

FRAME = "┃"
FOOT = "╹▀"
SUGGESTION = ("Ask anything...", "Ask anything…")
_SGR = re.compile(r"\x1b\[[0-9;:]*m")


def composer_empty(screen: Screen) -> bool | None:
    """Return whether the prompt box has no typed text; None if there is no prompt box."""
    lines = [_SGR.sub("", line).strip() for line in screen.lines]
    feet = [place for place, line in enumerate(lines) if line.startswith(FOOT)]
    if not feet:
        return None
    rows = []
    for line in reversed(lines[: feet[-1]]):
        if not line.startswith(FRAME):
            break
        rows.append(line.removeprefix(FRAME).strip())
    typed = " ".join(row for row in rows[1:] if row)
    return not typed or typed.startswith(SUGGESTION) if rows else None

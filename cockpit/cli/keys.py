"""`cockpit keys`: print every key of the screen."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.tui.keys.action import Context
from cockpit.tui.keys.actions import PALETTE, table

TITLES: Mapping[Context, str] = {
    "fleet": "Fleet",
    "agent": "Agent",
    "review": "Review",
    "permission": "Permission or question",
    "inbox": "Inbox",
    "history": "History",
    "reading": "Reading a document",
    "comparing": "Comparing two documents",
    "worktrees": "Worktrees",
    "elsewhere": "Sessions elsewhere",
    "pane": "In an agent's pane",
}


def keys(keymap: Mapping[str, str] | None = None) -> int:
    """Print the keys, grouped by screen; return the exit code."""
    print(text(keymap), end="")
    return 0


def text(keymap: Mapping[str, str] | None = None) -> str:
    """Format keys, action ids and descriptions in columns."""
    rows = table(keymap)
    widths = [max(len(row[column]) for row in rows) for column in (1, 2)]
    lines: list[str] = []
    for context, title in TITLES.items():
        lines += ["", title, ""] if lines else [title, ""]
        lines += [
            f"  {pressed:<{widths[0]}}  {action:<{widths[1]}}  {sentence}"
            for where, pressed, action, sentence in rows
            if where == context
        ]
    lines += ["", f"Anywhere, Ctrl-P: {PALETTE}"]
    return "\n".join(lines) + "\n"

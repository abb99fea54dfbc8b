"""`cockpit keys`: print every key, as text or as tables for the documentation."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.tui.keys.action import Context
from cockpit.tui.keys.actions import BY_ID, PALETTE, keys_of, spoken, table

_TITLES: Mapping[Context, str] = {
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
README_ACTIONS = (
    "attach",
    "approve",
    "refuse",
    "document",
    "open",
    "inbox",
    "history",
    "handoff",
    "send",
    "start",
    "filter",
    "settings",
    "help",
    "quit",
    "pane.back",
)
"""The actions that a new user needs, in the order of the README's table."""


def keys(keymap: Mapping[str, str] | None = None) -> int:
    """Print the keys, grouped by screen; return the exit code."""
    print(text(keymap), end="")
    return 0


def text(keymap: Mapping[str, str] | None = None) -> str:
    """Format keys, action ids and descriptions in columns."""
    rows = table(keymap)
    widths = [max(len(row[column]) for row in rows) for column in (1, 2)]
    lines: list[str] = []
    for context, title in _TITLES.items():
        lines += ["", title, ""] if lines else [title, ""]
        lines += [
            f"  {pressed:<{widths[0]}}  {action:<{widths[1]}}  {sentence}"
            for where, pressed, action, sentence in rows
            if where == context
        ]
    lines += ["", f"Anywhere, Ctrl-P: {PALETTE}"]
    return "\n".join(lines) + "\n"


def markdown() -> str:
    """Format every key as Markdown, with one table per screen, for `docs/keys.md`."""
    rows = table()
    parts = []
    for context, title in _TITLES.items():
        parts += [f"## {title}", "", "| key | does | id in `[keys]` |", "| --- | --- | --- |"]
        parts += [
            f"| {_code(pressed)} | {sentence} | {f'`{action}`' if action else ''} |"
            for where, pressed, action, sentence in rows
            if where == context
        ]
        parts.append("")
    parts += ["## Anywhere", "", f"`Ctrl-P`: {PALETTE}"]
    return "\n".join(parts) + "\n"


def readme_table() -> str:
    """Format the keys that a new user needs as a Markdown table, for the README."""
    actions = [BY_ID[name] for name in README_ACTIONS]
    rows = [f"| {_code(spoken(keys_of(one, {})[0]))} | {one.sentence} |" for one in actions]
    return "\n".join(["| key | does |", "| --- | --- |", *rows]) + "\n"


def _code(pressed: str) -> str:
    """Format each key as Markdown code."""
    return pressed if "…" in pressed else " ".join(f"`{key}`" for key in pressed.split())

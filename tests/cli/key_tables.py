"""The keys as Markdown tables, for `docs/keys.md` and the README."""

from __future__ import annotations

from cockpit.cli.keys import TITLES
from cockpit.tui.keys.actions import BY_ID, PALETTE, key_label, keys_of, table

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


def markdown() -> str:
    """Format every key as Markdown, with one table per screen, for `docs/keys.md`."""
    rows = table()
    parts = []
    for context, title in TITLES.items():
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
    rows = [f"| {_code(key_label(keys_of(one, {})[0]))} | {one.sentence} |" for one in actions]
    return "\n".join(["| key | does |", "| --- | --- |", *rows]) + "\n"


def _code(pressed: str) -> str:
    """Format each key as Markdown code."""
    return pressed if "…" in pressed else " ".join(f"`{key}`" for key in pressed.split())

"""`cockpit keys`: every key, as text or as the tables in the documents."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.tui.actions import BY_ID, PALETTE, Context, keys_of, spoken, table

_TITLES: Mapping[Context, str] = {
    "fleet": "On the fleet",
    "agent": "On one agent",
    "review": "On a handoff's document",
    "inbox": "In the inbox",
    "history": "In the history",
    "reading": "On a document of the history",
    "comparing": "On two documents that are compared",
    "worktrees": "On the worktrees",
}
FIRST_DAY = (
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
)
"""The actions that a pilot needs on the first day, in the order of the README."""
_FROM_A_PANE = "Come back to the cockpit."


def keys(keymap: Mapping[str, str] | None = None) -> int:
    """Print the keys, grouped by where they work; the exit code."""
    print(text(keymap), end="")
    return 0


def text(keymap: Mapping[str, str] | None = None) -> str:
    """Keys, id and sentence in columns."""
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
    lines += ["", "In an agent's pane, F12 comes back, and so does Ctrl-F12."]
    return "\n".join(lines) + "\n"


def markdown() -> str:
    """Every key, a table for each place, for `docs/keys.md`."""
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
    parts += ["## Anywhere", "", f"`Ctrl-P`: {PALETTE}", ""]
    parts += ["## In an agent's pane", "", f"`F12` `Ctrl-F12`: {_FROM_A_PANE}"]
    return "\n".join(parts) + "\n"


def first_day() -> str:
    """The few keys of the first day, for the README."""
    actions = [BY_ID[name] for name in FIRST_DAY]
    rows = [f"| {_code(spoken(keys_of(one, {})[0]))} | {one.sentence} |" for one in actions]
    return (
        "\n".join(["| key | does |", "| --- | --- |", *rows, f"| `F12` | {_FROM_A_PANE} |"]) + "\n"
    )


def _code(pressed: str) -> str:
    """Each key as code."""
    return pressed if "…" in pressed else " ".join(f"`{key}`" for key in pressed.split())

"""`cockpit keys`: every key, as text or as the table in the README."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.tui.actions import table

_TITLES = {"fleet": "On the fleet", "review": "On a handoff's document"}


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
    lines += ["", "In an agent's pane, F12 comes back."]
    return "\n".join(lines) + "\n"


def markdown(keymap: Mapping[str, str] | None = None) -> str:
    """The same as a Markdown table, for the README."""
    rows = ["| where | key | does | id in `[keys]` |", "| --- | --- | --- | --- |"]
    rows += [
        f"| {where} | {pressed} | {sentence} | {f'`{action}`' if action else ''} |"
        for where, pressed, action, sentence in table(keymap)
    ]
    return "\n".join([*rows, "| an agent's pane | F12 | Come back to the cockpit. | |"]) + "\n"

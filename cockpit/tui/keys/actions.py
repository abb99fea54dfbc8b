"""The registry of all actions, in the order of the help.

Bindings, the command palette, the help screen, `cockpit keys` and the tables in the docs are
generated from this registry. `[keys]` in the configuration maps the ids to keys. The module does
not import Textual, so that printing the keys stays fast.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress

from cockpit.tui.keys.action import Action
from cockpit.tui.keys.agent_actions import AGENT
from cockpit.tui.keys.archive_actions import ARCHIVE
from cockpit.tui.keys.fleet_actions import FLEET
from cockpit.tui.keys.question_actions import QUESTIONS

ACTIONS: tuple[Action, ...] = (
    *FLEET,
    *AGENT,
    *QUESTIONS,
    *ARCHIVE,
    Action(
        "pane.back", "back from a pane", "Go back from an agent's pane to cockpit.",
        ("f12", "ctrl+f12"), "pane",
    ),
)  # fmt: skip

PALETTE = "Find any action by name."

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}

_SPOKEN = {
    "slash": "/", "enter": "Enter", "tab": "Tab", "escape": "Esc", "down": "↓", "up": "↑",
    "home": "Home", "end": "End", "pageup": "PgUp", "pagedown": "PgDn", "space": "Space",
    "left": "←", "right": "→", "plus": "+", "minus": "-", "comma": ",", "at": "@",
    "backslash": "\\", "underscore": "_", "insert": "Ins", "delete": "Del",
    "backspace": "Backspace",
}  # fmt: skip


def key_label(key: str) -> str:
    """Format a Textual key name as printed on a keyboard: `ctrl+l` becomes `Ctrl-L`."""
    *held, last = key.split("+")
    if key == "ctrl+@":
        return "Ctrl-Space"
    if held == ["alt", "shift"] and len(last) == 1:
        return f"Alt-{last.upper()}"
    word = _SPOKEN.get(last) or _character(last)
    if (held == ["ctrl"] and len(last) == 1) or re.fullmatch(r"f\d+", last):
        word = last.upper()
    return "-".join([*(name.capitalize() for name in held), word])


def _character(key: str) -> str:
    """Return the character for a key name such as `question_mark`; other names are unchanged."""
    for name in (key.replace("_", " "), key.replace("_", "-")) if len(key) > 1 else ():
        with suppress(KeyError):
            return unicodedata.lookup(name.upper())
    return key


def keys_of(action: Action, keymap: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of an action's keys: from the user's `[keys]`, else the default keys.

    A value in `[keys]` is a comma-separated list of Textual's key names.
    """
    own = keymap.get(action.id)
    if own is None:
        return action.keys
    return tuple(key.strip() for key in own.split(",") if key.strip())


NUMBERS = {
    "fleet": "Select the agent with that number.",
    "permission": "Select the choice with that number.",
}
"""The help sentence of the digit keys, by context."""


def table(keymap: Mapping[str, str] | None = None) -> list[tuple[str, str, str, str]]:
    """Return rows of context, keys, id and sentence: one per action, in the registry's order.

    The digit keys of a context form one row with an empty id.
    """
    rows: list[tuple[str, str, str, str]] = [
        (
            action.context,
            " ".join(key_label(key) for key in keys_of(action, keymap or {})) or "–",
            action.id,
            action.sentence,
        )
        for action in ACTIONS
    ]
    for context, sentence in NUMBERS.items():
        last = max(index for index, row in enumerate(rows) if row[0] == context)
        rows.insert(last + 1, (context, "1 … 9", "", sentence))
    return rows

"""The `[keys]` table: known actions, key names, and keys that cannot be used.

The screen defines the actions. Their ids and default keys are repeated here, so that files can be
checked without the screen. A test checks that they match the screen's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from cockpit.config.return_keys import (
    DEFAULT_RETURN_KEYS,
    RETURN_ACTION,
    impossible_return_key,
    return_keys,
)
from cockpit.config.terminal_keys import as_sent

DEFAULT_KEYS: Mapping[str, tuple[str, ...]] = {
    "approve": ("a",),
    "approve-straight": ("A",),
    "refuse": ("r",),
    "snooze": ("z",),
    "snooze-more": ("Z",),
    "let-compact": ("c",),
    "document": ("d",),
    "attach": ("enter",),
    "handoff": ("f",),
    "handoff-to": ("t",),
    "send": ("s",),
    "start": ("n",),
    "resume": ("R",),
    "stop": ("x",),
    "mark": ("space",),
    "forget": ("delete",),
    "rename": ("f2",),
    "duplicate": ("N",),
    "done": ("D",),
    "undo": ("u",),
    "open": ("o", "l", "right"),
    "copy-path": ("P",),
    "copy-branch": ("B",),
    "copy-id": ("I",),
    "down": ("j", "down"),
    "up": ("k", "up"),
    "first": ("g", "home"),
    "last": ("G", "end"),
    "next-needing": ("tab",),
    "pane-up": ("pageup", "ctrl+u"),
    "pane-down": ("pagedown", "ctrl+d"),
    "inbox": ("i",),
    "history": ("H",),
    "worktrees": ("W",),
    "elsewhere": ("E",),
    "filter": ("slash",),
    "unfilter": ("escape", "ctrl+g"),
    "sort": ("S",),
    "pane-more": ("plus",),
    "pane-less": ("minus",),
    "beside": ("b",),
    "settings": ("comma",),
    "events": ("e",),
    "redraw": ("ctrl+l",),
    "help": ("question_mark", "f1"),
    "quit": ("q",),
    "agent.enter": ("enter",),
    "agent.answer": ("a",),
    "agent.pane": ("1",),
    "agent.course": ("2",),
    "agent.facts": ("3",),
    "agent.diff": ("4",),
    "agent.events": ("5",),
    "agent.next": ("tab",),
    "agent.previous": ("shift+tab",),
    "agent.again": ("r", "ctrl+r"),
    "agent.since": ("b",),
    "agent.next-file": ("n",),
    "agent.previous-file": ("p",),
    "agent.edit": ("e",),
    "agent.copy-path": ("P",),
    "agent.copy-branch": ("B",),
    "agent.copy-id": ("I",),
    "agent.document": ("d",),
    "agent.handoff": ("f",),
    "agent.handoff-to": ("t",),
    "agent.send": ("s",),
    "agent.undo": ("u",),
    "agent.down": ("j", "down"),
    "agent.up": ("k", "up"),
    "agent.page-down": ("pagedown", "ctrl+d", "space"),
    "agent.page-up": ("pageup", "ctrl+u"),
    "agent.first": ("g", "home"),
    "agent.last": ("G", "end"),
    "agent.redraw": ("ctrl+l",),
    "agent.help": ("question_mark", "f1"),
    "agent.back": ("q", "escape", "left", "h"),
    "review.approve": ("a",),
    "review.approve-straight": ("A",),
    "review.edit": ("e",),
    "review.refuse": ("r",),
    "review.snooze": ("z",),
    "review.snooze-more": ("Z",),
    "review.let-compact": ("c",),
    "review.handoff-to": ("t",),
    "review.next": ("n",),
    "review.previous": ("p",),
    "review.down": ("j", "down"),
    "review.up": ("k", "up"),
    "review.page-down": ("pagedown", "space"),
    "review.page-up": ("pageup",),
    "review.first": ("g", "home"),
    "review.last": ("G", "end"),
    "review.missing": ("m",),
    "review.help": ("question_mark", "f1"),
    "review.back": ("q", "escape", "d", "left", "h"),
    "permission.answer": ("enter",),
    "permission.text": ("t",),
    "permission.check": ("space",),
    "permission.next": ("n",),
    "permission.previous": ("p",),
    "permission.attach": ("o",),
    "permission.down": ("j", "down"),
    "permission.up": ("k", "up"),
    "permission.page-down": ("pagedown", "ctrl+d"),
    "permission.page-up": ("pageup", "ctrl+u"),
    "permission.first": ("g", "home"),
    "permission.last": ("G", "end"),
    "permission.help": ("question_mark", "f1"),
    "permission.back": ("q", "escape", "left", "h"),
    "inbox.answer": ("a",),
    "inbox.refuse": ("r",),
    "inbox.snooze": ("z",),
    "inbox.open": ("enter", "d"),
    "inbox.down": ("j", "down", "tab"),
    "inbox.up": ("k", "up"),
    "inbox.first": ("g", "home"),
    "inbox.last": ("G", "end"),
    "inbox.help": ("question_mark", "f1"),
    "inbox.back": ("q", "escape", "i", "left", "h"),
    "history.open": ("enter",),
    "history.mark": ("space",),
    "history.compare": ("c",),
    "history.continue": ("n",),
    "history.search": ("slash",),
    "history.agent": ("f",),
    "history.down": ("j", "down"),
    "history.up": ("k", "up"),
    "history.page-down": ("pagedown", "ctrl+d"),
    "history.page-up": ("pageup", "ctrl+u"),
    "history.first": ("g", "home"),
    "history.last": ("G", "end"),
    "history.help": ("question_mark", "f1"),
    "history.back": ("q", "escape", "H", "left", "h"),
    "reading.down": ("j", "down"),
    "reading.up": ("k", "up"),
    "reading.page-down": ("pagedown", "space"),
    "reading.page-up": ("pageup",),
    "reading.first": ("g", "home"),
    "reading.last": ("G", "end"),
    "reading.continue": ("n",),
    "reading.help": ("question_mark", "f1"),
    "reading.back": ("q", "escape", "left", "h"),
    "comparing.down": ("j", "down"),
    "comparing.up": ("k", "up"),
    "comparing.page-down": ("pagedown", "space"),
    "comparing.page-up": ("pageup",),
    "comparing.first": ("g", "home"),
    "comparing.last": ("G", "end"),
    "comparing.help": ("question_mark", "f1"),
    "comparing.back": ("q", "escape", "c", "left", "h"),
    "worktrees.down": ("j", "down"),
    "worktrees.up": ("k", "up"),
    "worktrees.page-down": ("pagedown", "space"),
    "worktrees.page-up": ("pageup",),
    "worktrees.first": ("g", "home"),
    "worktrees.last": ("G", "end"),
    "worktrees.remove": ("x",),
    "worktrees.salvage": ("X",),
    "worktrees.again": ("r", "ctrl+r"),
    "worktrees.help": ("question_mark", "f1"),
    "worktrees.back": ("q", "escape", "W", "left", "h"),
    "elsewhere.open": ("enter", "o"),
    "elsewhere.down": ("j", "down"),
    "elsewhere.up": ("k", "up"),
    "elsewhere.page-down": ("pagedown", "space"),
    "elsewhere.page-up": ("pageup",),
    "elsewhere.first": ("g", "home"),
    "elsewhere.last": ("G", "end"),
    "elsewhere.adopt": ("a",),
    "elsewhere.watch": ("w",),
    "elsewhere.document": ("d",),
    "elsewhere.help": ("question_mark", "f1"),
    "elsewhere.back": ("q", "escape", "E", "left", "h"),
    RETURN_ACTION: DEFAULT_RETURN_KEYS,
}
"""The default keys of each action, with names as in `key_name`. The part of an action's id before
the dot is the action's screen; an id without a dot belongs to the screen with all agents."""

_NAMED = {
    "backspace", "delete", "down", "end", "enter", "escape", "home", "insert", "left", "pagedown",
    "pageup", "right", "space", "tab", "up", *(f"f{number}" for number in range(1, 25)),
}  # fmt: skip
_KEY_ALIASES = {
    "esc": "escape", "del": "delete", "ins": "insert", "pgup": "pageup", "pgdn": "pagedown",
    "return": "enter", "↑": "up", "↓": "down", "←": "left", "→": "right", " ": "space",
}  # fmt: skip
_SHORT = {
    "solidus": "slash", "reverse_solidus": "backslash", "commercial_at": "at",
    "hyphen_minus": "minus", "plus_sign": "plus", "low_line": "underscore",
}  # fmt: skip
_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_MODIFIED = re.compile(r"((?:(?:ctrl|alt|shift)[+-])+)(.+)", re.IGNORECASE | re.DOTALL)
_RESERVED_KEYS = {
    "ctrl+q": "it quits the screen",
    "ctrl+p": "it opens the command palette",
}
"""Keys that are reserved on every screen, and why."""
_CONFIRMED = frozenset(
    {
        "stop",
        "forget",
        "done",
        "undo",
        "agent.undo",
        "worktrees.remove",
        "worktrees.salvage",
        "elsewhere.adopt",
        "elsewhere.document",
    }
)
"""Actions that the user confirms with `y`."""
_DIGITS = "123456789"
_DIGITS_SELECT = {"": "agents", "permission": "choices"}
"""What the keys 1 to 9 select, by screen. The empty name is the screen with all agents."""


def key_name(written: str) -> str:
    """Return the canonical name of a key: `/` is `slash`, `Ctrl-L` is `ctrl+l`, `PgUp` is `pageup`.

    Raises `ValueError` for an unknown key, or a key that terminals cannot send.
    """
    match = _MODIFIED.fullmatch(written)
    if match is None:
        return as_sent((), _plain_name(written, written))
    held = match[1].lower().replace("-", "+").rstrip("+").split("+")
    word = match[2] if len(match[2]) == 1 else match[2].lower()
    return as_sent(held, _plain_name(word, written))


def key_names(written: object) -> object:
    """Normalise one key, a comma-separated text or a list into comma-separated names.

    An empty value is valid: the action then has no key, and is only in the command palette. Other
    types are returned unchanged. Raises `ValueError` for an invalid key.
    """
    if isinstance(written, str):
        apart = [written] if len(written) == 1 else written.split(",")
        written = [key.strip() for key in apart if key.strip()]
    if isinstance(written, list) and all(isinstance(key, str) for key in written):
        return ",".join(dict.fromkeys(key_name(key) for key in written))
    return written


def by_action(table: Any) -> Any:
    """Return the `[keys]` table by action id: TOML reads `review.edit = "E"` as a table `review`.

    Other types are returned unchanged.
    """
    if not isinstance(table, dict):
        return table
    out: dict[str, Any] = {}
    for name, value in table.items():
        inner = value if isinstance(value, dict) else {}
        out |= {f"{name}.{action}": keys for action, keys in inner.items()} or {name: value}
    return out


def _plain_name(word: str, written: str) -> str:
    if len(word) == 1 and word.isalnum():
        return word
    lower = _KEY_ALIASES.get(word.lower(), word.lower())
    if lower in _NAMED or lower in _PUNCTUATION_NAMES:
        return lower
    if len(word) == 1 and word.isprintable():
        with suppress(ValueError):  # a character without a name in Unicode
            return _punctuation(word)
    shown = written if written.isprintable() else ascii(written)
    raise ValueError(f'{shown} is not a key; expected one such as "x", "?", "ctrl+l" or "pageup"')


def _punctuation(character: str) -> str:
    name = unicodedata.name(character).lower().replace("-", "_").replace(" ", "_")
    return _SHORT.get(name, name)


_PUNCTUATION_NAMES = frozenset(map(_punctuation, _PUNCTUATION))


def clash(own: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return a key with two meanings on one screen, and both actions; None if there is none.

    `own` is the user's `[keys]` table, with canonical names of keys. The first action is one for
    which the user chose the key. The second action is empty if the key is a digit that selects an
    agent or a choice on that screen.
    """
    for action, key in _pairs(own):
        if key in _DIGITS and selected_by_digits(action):
            return key, action, ""
        for other, keys in DEFAULT_KEYS.items():
            if other != action and _place(other) == _place(action):
                theirs = tuple(own[other].split(",")) if other in own else keys
                if key in theirs:
                    return key, action, other
    return None


def selected_by_digits(action: str) -> str:
    """Return what the keys 1 to 9 select on the action's screen; empty if they select nothing."""
    return _DIGITS_SELECT.get(_place(action), "")


def reserved_key(own: Mapping[str, str]) -> tuple[str, str] | None:
    """Return an action for which the user's key is not allowed, and the reason; else None."""
    back = return_keys(own)
    if RETURN_ACTION in own:
        if (why := impossible_return_key(own[RETURN_ACTION])) is not None:
            return RETURN_ACTION, why
        for other, keys in DEFAULT_KEYS.items():
            taken = {*keys} if other not in own else ()
            if other != RETURN_ACTION and (shared := [key for key in back if key in taken]):
                return RETURN_ACTION, f'{shared[0]} is already taken: "{other}" uses the key too'
    for action, key in _pairs(own):
        if key in back and action != RETURN_ACTION:
            return action, f"{key} is reserved: it goes back from an agent's pane"
        if key in _RESERVED_KEYS:
            return action, f"{key} is reserved: {_RESERVED_KEYS[key]}"
        if key == "y" and action in _CONFIRMED:
            return action, f"{key} confirms this action, so it cannot be the action's key too"
    return None


def _pairs(own: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for action, keys in own.items():
        for key in keys.split(",") if keys else ():
            yield action, key


def _place(action: str) -> str:
    return action.rpartition(".")[0]

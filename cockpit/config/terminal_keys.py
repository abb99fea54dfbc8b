"""The keys that terminals can distinguish, and the name under which each key press arrives.

Tested in tmux, where the screen usually runs. tmux passes on only keys that every terminal can
send: Ctrl-Shift-X arrives as Ctrl-X, and Ctrl-Enter does not arrive.
"""

from __future__ import annotations

from collections.abc import Collection

_TRAVEL = {
    "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert", "delete",
    *(f"f{number}" for number in range(1, 13)),
}  # fmt: skip
"""Keys that a terminal can report together with Alt, Ctrl and Shift."""
_SAME = {
    "ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}  # fmt: skip
"""Key combinations that terminals cannot distinguish from another key."""
_ARRIVES = {
    "ctrl+space": "ctrl+@", "ctrl+at": "ctrl+@", "ctrl+slash": "ctrl+underscore",
}  # fmt: skip
_CONTROLS = {"backslash", "right_square_bracket", "circumflex_accent", "underscore"}
_NEVER_HELD = {"enter", "space", "escape", "backspace", "tab"}


def as_sent(held: Collection[str], key: str) -> str:
    """Return the name under which a key press arrives. `key` is a letter, a digit or a name, and
    `held` are its modifiers.

    Raises `ValueError` with the reason, and with a key to use instead.
    """
    held = sorted(set(held))
    name = "+".join([*held, key])
    if not held:
        return _alone(key)
    if key in _TRAVEL or name == "shift+tab":
        return name
    if len(key) == 1 and key.isalpha():
        return _letter(held, key)
    if name in _ARRIVES or name in _SAME:
        return _ARRIVES.get(name) or _SAME[name]
    if held == ["ctrl"] and key in _CONTROLS:
        return name
    raise ValueError(_cannot_send(name, key, held))


def _alone(key: str) -> str:
    if key.startswith("f") and key[1:].isdecimal() and int(key[1:]) > 12:
        instead = f"shift+f{int(key[1:]) - 12}"
        raise ValueError(f'terminals send {key} as {instead}; write "{instead}"')
    return key


def _letter(held: list[str], key: str) -> str:
    lower, upper = key.lower(), key.upper()
    if held == ["shift"] and len(upper) == 1:
        return upper
    if held == ["alt"] and key != lower:
        return f"alt+shift+{lower}"
    if held in (["alt"], ["alt", "shift"]):
        return "+".join([*held, lower])
    if held == ["ctrl"] and key.isascii():
        name = f"ctrl+{lower}"
        return _SAME.get(name, name)
    raise ValueError(_cannot_send("+".join([*held, lower]), lower, held))


def _cannot_send(name: str, key: str, held: list[str]) -> str:
    if held == ["shift"] and (len(key) == 1 or key not in _NEVER_HELD):
        return f'terminals cannot send {name}; write the character that the key types, such as "!"'
    if "ctrl" in held and len(key) == 1 and key.isascii() and key.isalpha():
        return f'terminals send {name} as ctrl+{key}; write "ctrl+{key}"'
    return f'terminals cannot send {name}; use a key such as "ctrl+l"'

"""The keys that go back from an agent's pane to cockpit's screen: `pane.back` in `[keys]`.

tmux binds these keys in every window, so that neither the agent's CLI nor the screen gets them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

RETURN_ACTION = "pane.back"
DEFAULT_RETURN_KEYS = ("f12", "ctrl+f12")
"""The default keys. There are two, because cockpit may run inside the user's own tmux, which may
already use the first."""

_POSSIBLE = re.compile(
    r"(?:(?:alt\+)?(?:ctrl\+)?(?:shift\+)?f\d{1,2}|ctrl\+[a-z]|alt\+(?:shift\+)?[a-z])"
)
_OF_THE_CLI = {
    "ctrl+c": "it interrupts the agent's CLI",
    "ctrl+d": "it ends the agent's CLI",
    "ctrl+j": "it begins a new line in the agent's CLI",
}


def return_keys(own: Mapping[str, str]) -> tuple[str, ...]:
    """Return the canonical names of the keys for `pane.back`. `own` is a valid `[keys]` table."""
    keys = own.get(RETURN_ACTION)
    return DEFAULT_RETURN_KEYS if keys is None else tuple(keys.split(","))


def impossible_return_key(keys: str) -> str | None:
    """Return why one of these comma-separated keys is not allowed for `pane.back`; None if all
    are."""
    if not keys:
        return "needs a key: it is the way back from an agent's pane"
    for key in keys.split(","):
        if key in _OF_THE_CLI:
            return f"{key} cannot be used to leave an agent's pane: {_OF_THE_CLI[key]}"
        if not is_return_key(key):
            return f"{key} cannot be used to leave an agent's pane: the agent's CLI uses it"
    return None


def is_return_key(key: str) -> bool:
    """Return whether this key (canonical name) is allowed for `pane.back`."""
    return key not in _OF_THE_CLI and _POSSIBLE.fullmatch(key) is not None

"""Permission modes as arguments for Copilot, and the rights of each mode.

The names are those of cockpit's configuration. Without a mode, and in `default`, the user's
settings apply (`defaultPermissionMode`); Copilot's own default is to ask about commands and edits.
"""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.core.errors import BadUsage
from cockpit.core.permission import ASKS_FIRST, EVERYTHING, Asks, Modes, Right, Rights

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "": (),
    "plan": ("--mode", "plan"),
    "default": ("--mode", "interactive"),
    "acceptEdits": ("--mode", "interactive", "--allow-tool", "write"),
    "bypassPermissions": ("--allow-all",),
}

MODES: Modes = {
    "plan": Rights(asks=Asks.ALL_BUT_EDITS),
    "default": ASKS_FIRST,
    "acceptEdits": Rights(frozenset({Right.EDIT})),
    "bypassPermissions": EVERYTHING,
}
SURE_MODES: Modes = {name: MODES[name] for name in ("plan", "bypassPermissions")}
"""The modes whose rights are certain. In the other modes, the user's `defaultPermissionMode` can
allow more."""


def permission_arguments(mode: str) -> tuple[str, ...]:
    """Return the arguments for a mode. Raises `BadUsage` for an unknown mode."""
    if mode not in ARGUMENTS:
        known = ", ".join(name for name in ARGUMENTS if name)
        raise BadUsage(
            f"Copilot has no permission mode {mode!a}",
            "The agent was not started, because another mode could allow more.",
            f"Set permission_mode to one of: {known}.",
        )
    return ARGUMENTS[mode]

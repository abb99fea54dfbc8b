"""Permission modes, as opencode's permissions and arguments.

The names are those of cockpit's configuration. Without a mode, only opencode's own configuration
applies; its default allows everything in the directory. With a mode, settings of the user and of
the repository can only narrow the permissions; see `cockpit-permissions.js`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cockpit.core.errors import BadUsage
from cockpit.core.permission import ASKS_FIRST, EVERYTHING, Asks, Modes, Right, Rights


@dataclass(frozen=True, slots=True)
class PermissionMode:
    """The permissions and arguments with which opencode is started in a mode."""

    arguments: tuple[str, ...] = ()
    edit: str = ""
    """`allow`, `ask` or `deny` for edits in the directory; "" to use opencode's own configuration.
    Unless this is "", opencode asks about commands, web pages and MCP tools."""


MODES: Mapping[str, PermissionMode] = {
    "": PermissionMode(),
    "plan": PermissionMode(("--agent", "plan"), "deny"),
    "default": PermissionMode((), "ask"),
    "acceptEdits": PermissionMode((), "allow"),
    "bypassPermissions": PermissionMode(("--auto",)),
}

RIGHTS: Modes = {
    "plan": Rights(asks=Asks.ALL_BUT_EDITS),
    "default": ASKS_FIRST,
    "acceptEdits": Rights(frozenset({Right.EDIT})),
    "bypassPermissions": EVERYTHING,
}


def permission_mode(mode: str) -> PermissionMode:
    """Return the mode with this name. Raises `BadUsage` for an unknown mode."""
    if mode not in MODES:
        known = ", ".join(name for name in MODES if name)
        raise BadUsage(
            f"opencode has no permission mode {mode!a}",
            "The agent was not started, because another mode could allow more.",
            f"Set permission_mode to one of: {known}.",
        )
    return MODES[mode]

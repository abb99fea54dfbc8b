"""Permission modes as arguments for Gemini CLI, and the rights of each mode.

The names are those of cockpit's configuration. Gemini has no mode that refuses without asking.
"""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.core.errors import BadUsage
from cockpit.core.permission import ASKS_FIRST, EVERYTHING, Asks, Modes, Right, Rights

APPROVAL_MODES: Mapping[str, str] = {
    "plan": "plan",
    "default": "default",
    "acceptEdits": "auto_edit",
    "bypassPermissions": "yolo",
}

MODES: Modes = {
    "plan": Rights(asks=Asks.ALL_BUT_EDITS),
    "default": ASKS_FIRST,
    # `auto_edit` allows web pages too; the policy of this run makes Gemini ask about them.
    "acceptEdits": Rights(frozenset({Right.EDIT})),
    "bypassPermissions": EVERYTHING,
}


def permission_arguments(mode: str) -> tuple[str, ...]:
    """Return the arguments for a mode; none for "", so that the user's settings apply.

    Raises `BadUsage` for an unknown mode.
    """
    if not mode:
        return ()
    if mode not in APPROVAL_MODES:
        raise BadUsage(
            f"Gemini has no permission mode {mode!a}",
            "The agent was not started, because another mode could allow more.",
            f"Set permission_mode to one of: {', '.join(APPROVAL_MODES)}.",
        )
    return ("--approval-mode", APPROVAL_MODES[mode])

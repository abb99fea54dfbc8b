"""Permission modes, as arguments for Codex and as Codex records them.

The names are those of cockpit's configuration. Every mode consists of two Codex settings: a sandbox
and an approval policy. Codex never asks before a command that stays in the sandbox (0.169.0 no
longer has the policy `untrusted`, and a hook cannot make Codex ask). So `default` equals
`acceptEdits`, and both allow more than in Claude Code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cockpit.core.errors import BadUsage
from cockpit.core.permission import EVERYTHING, Asks, Modes, Right, Rights

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "": (),
    "plan": ("--sandbox", "read-only", "--ask-for-approval", "on-request"),
    "default": ("--sandbox", "workspace-write", "--ask-for-approval", "on-request"),
    "acceptEdits": ("--sandbox", "workspace-write", "--ask-for-approval", "on-request"),
    "dontAsk": ("--sandbox", "workspace-write", "--ask-for-approval", "never"),
    "bypassPermissions": ("--dangerously-bypass-approvals-and-sandbox",),
}

_WORKSPACE = frozenset({Right.LOOK, Right.EDIT, Right.CONFINED})

MODES: Modes = {
    "plan": Rights(frozenset({Right.LOOK})),
    "default": Rights(_WORKSPACE),
    "acceptEdits": Rights(_WORKSPACE),
    "dontAsk": Rights(_WORKSPACE, Asks.NOTHING),
    "bypassPermissions": EVERYTHING,
}


def permission_arguments(mode: str) -> tuple[str, ...]:
    """Return the arguments for a mode; none for "", so that the user's configuration applies.

    Raises `BadUsage` for an unknown mode.
    """
    if mode not in ARGUMENTS:
        known = ", ".join(name for name in ARGUMENTS if name)
        raise BadUsage(
            f"Codex has no permission mode {mode!a}",
            "The agent was not started, because another mode could allow more.",
            f"Set permission_mode to one of: {known}.",
        )
    return ARGUMENTS[mode]


def recorded_mode(turn_context: Mapping[str, Any]) -> str | None:
    """Return the mode of a turn, from its line in the transcript; None if the line has no sandbox.

    Settings that match no mode are reported as the next mode that allows more.
    """
    policy = turn_context.get("sandbox_policy")
    sandbox = policy.get("type") if isinstance(policy, Mapping) else None
    asks = turn_context.get("approval_policy") != "never"
    if sandbox == "read-only":
        return "plan"
    if sandbox == "workspace-write":
        return "acceptEdits" if asks else "dontAsk"
    return "bypassPermissions" if isinstance(sandbox, str) else None

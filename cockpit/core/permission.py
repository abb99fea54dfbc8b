"""The permission mode of a successor: never wider than its predecessor's.

Modes are those of Claude Code 2.1.330. An unknown mode counts as the widest, so that a known mode
is preferred.
"""

from __future__ import annotations

WIDTH: dict[str, int] = {
    "plan": 0,
    "default": 1,
    "manual": 1,
    "acceptEdits": 2,
    "dontAsk": 3,
    "auto": 3,
    "bypassPermissions": 4,
}
UNKNOWN_WIDTH = 5
DEFAULT = "default"
"""Asks before each edit and each command."""


def width(mode: str) -> int:
    """How much a mode allows; larger is wider."""
    return WIDTH.get(mode, UNKNOWN_WIDTH)


def successors_mode(configured: str, observed: str | None) -> str:
    """The mode to start a successor with: the narrower of the configured and the observed one.

    The observed mode comes from a transcript that the agent can write, so it can only narrow. An
    empty `configured` means the CLI's own default, whose width is unknown: it is kept, unless
    `default` or a narrower mode was observed.
    """
    if not observed:
        return configured
    if not configured:
        return observed if width(observed) <= width(DEFAULT) else configured
    return configured if width(configured) <= width(observed) else observed

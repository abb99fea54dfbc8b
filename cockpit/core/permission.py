"""Which permission mode a successor may have: never a wider one than its predecessor had.

Modes are Claude Code's (2.1.330), from the narrowest to the widest. A mode that is not known is
taken for the widest, so that it is never chosen over one that is.
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


def width(mode: str) -> int:
    """How much a mode allows; larger is wider."""
    return WIDTH.get(mode, UNKNOWN_WIDTH)


def successors_mode(configured: str, observed: str | None) -> str:
    """The mode to start a successor with: the narrower of what was configured and last seen.

    What was seen comes from a record that the agent can write, so it narrows only. Empty means the
    CLI's own default, of which nobody here knows how wide it is: it is kept, unless `default` or a
    narrower mode was seen.
    """
    if not observed:
        return configured
    if not configured:
        return observed if width(observed) <= width("default") else configured
    return configured if width(configured) <= width(observed) else observed

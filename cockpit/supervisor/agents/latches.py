"""Names of latches: facts of a session that the database keeps until they are taken back."""

from __future__ import annotations

UNDONE = "undone"
"""The user reopened the session: the next handoff is asked about."""
LET_COMPACT = "let.compact"
"""The user lets the session compact: not asked about again before it did."""
BORN_FULL = "born.full"
"""The session began past the act threshold."""
SAID_DONE = "said.done"
"""The user called the job done; the time of the latch is when."""


def began(boot: str) -> str:
    """The latch whose time is when the session's process began, in seconds of that boot's clock."""
    return f"began.{boot}"

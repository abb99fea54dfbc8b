"""Names of latches: facts about a session that stay in the database until they are removed."""

from __future__ import annotations

UNDONE = "undone"
"""The user reopened the session: the next handoff asks first."""
LET_COMPACT = "let.compact"
"""The user lets the session compact: its band begins no handoff before that."""
BORN_FULL = "born.full"
"""The session began above the act threshold."""
MARKED_DONE = "said.done"
"""The user marked the job as done; the latch holds when, in steady seconds."""


def began(boot: str) -> str:
    """The latch with the start of the session's process, in monotonic seconds of that boot."""
    return f"began.{boot}"

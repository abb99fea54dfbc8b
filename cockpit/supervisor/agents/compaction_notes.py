"""Facts about a session's compactions.

Written by `observe/compaction.py`, `compaction_points.py` and `session_state.py`.
"""

from __future__ import annotations

from dataclasses import field

from cockpit.core.compaction_point import SeenPoint
from cockpit.core.deferred_dataclass import dataclass


@dataclass(slots=True)
class CompactionNotes:
    """The observed compactions of one session, and the facts saved before the last compaction."""

    point_key: str | None = None
    """The key of `seen_point` in the database; see `compaction_points.key_of`."""
    seen_point: SeenPoint = field(default_factory=SeenPoint)
    """Tokens at which this CLI compacts, as observed in all sessions with the same `point_key`."""
    passed: int | None = None
    """Largest token count, not yet stored, at which a request was sent without a compaction; else
    None."""
    prompted: bool = False
    """Whether a prompt came after the last reply."""
    by_itself_at: int | None = None
    """Token count, not yet stored, at which the CLI compacted automatically; else None."""
    before_last_reply: int | None = None
    """Token count before the last reply; None if it was unknown."""
    unexplained_at: int | None = None
    """Token count at the last compaction, until its trigger is known; else None."""
    last_trigger: str = "auto"
    """The trigger of the last compaction: `auto`, or `manual` by the user; empty if unknown."""
    held: bool = False
    """Whether the session's next compaction waits until the session's facts are saved."""
    kept_before: str | None = None
    """Path of the file with the facts that were saved before the last compaction; else None."""
    too_late: str | None = None
    """If the session compacted before a handoff could begin: how far the context was above the act
    threshold, as text. Else None."""

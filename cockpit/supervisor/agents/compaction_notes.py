"""Facts about a session's compactions. Written by `observe/compaction.py` and `agents/`."""

from __future__ import annotations

from dataclasses import dataclass, field

from cockpit.core.compaction_point import SeenPoint


@dataclass(slots=True)
class CompactionNotes:
    """The point at which this session's CLI compacts, and the facts that were saved before it
    did."""

    point_key: str | None = None
    """The key of `seen_point` in the database; see `compaction_points.key_of`."""
    seen_point: SeenPoint = field(default_factory=SeenPoint)
    """Where this CLI compacts automatically, as seen in all sessions with the same key."""
    passed: int | None = None
    """Most tokens at which a request was sent without a compaction; None once stored."""
    by_itself_at: int | None = None
    """Tokens at which the CLI compacted automatically; None once stored."""
    unexplained_at: int | None = None
    """Tokens at the last compaction, while it is unknown whether it was automatic."""
    last_trigger: str = "auto"
    """The start of the last compaction: `auto`, or `manual` if the user asked for it; empty if
    unknown."""
    held: bool = False
    """The session's next compaction waits until its facts are saved."""
    kept_before: str | None = None
    """Path of the facts that were saved before its last compaction."""
    too_late: str | None = None
    """How far above the act threshold the CLI compacted although a handoff was wanted, in words."""

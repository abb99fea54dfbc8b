"""What is known of a session's compactions. Written by `observe/compaction*.py` and the reading."""

from __future__ import annotations

from dataclasses import dataclass, field

from cockpit.core.compaction_point import SeenPoint


@dataclass(slots=True)
class CompactionNotes:
    """Where this session's CLI compacts, what it compacted, and what was kept before it."""

    point_key: str | None = None
    """What `seen_point` belongs to."""
    seen_point: SeenPoint = field(default_factory=SeenPoint)
    """What was seen, here or elsewhere, of where this CLI compacts by itself."""
    passed: int | None = None
    """The most tokens with which another request went out, until that is kept."""
    by_itself_at: int | None = None
    """The tokens at which the CLI compacted by itself, until that is kept."""
    last_trigger: str = "auto"
    """What started the last compaction: `auto`, or `manual` where you typed it."""
    held: bool = False
    """The session's next compaction waits until its facts are kept."""
    kept_before: str | None = None
    """The document of facts that was kept before its last compaction."""
    too_late: str | None = None
    """How far past the act mark the CLI compacted by itself, where a handoff was wanted."""

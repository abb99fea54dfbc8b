"""What is known of the session that sits in an agent, and is forgotten when another one does.

Holds values; what they are made of is `agent.py`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cockpit.adapters.transcripts.tail import Tail
from cockpit.core.collect import Collector
from cockpit.core.compaction_point import SeenPoint
from cockpit.core.conduct import Conduct
from cockpit.core.facts import BackgroundTask, Facts
from cockpit.core.gauge import Gauge
from cockpit.core.meter import Meter
from cockpit.core.running_tools import RunningTools


@dataclass(slots=True)
class SessionState:
    """One session while it is watched: everything that begins anew with the next one.

    Times are steady seconds, so that a jump of the wall clock makes nothing older or newer.
    """

    conduct: Conduct = field(default_factory=Conduct)
    gauge: Gauge = field(default_factory=Gauge)
    meter: Meter = field(default_factory=Meter)
    collector: Collector = field(default_factory=Collector)
    running: RunningTools = field(default_factory=RunningTools)
    tail: Tail | None = None
    unreadable: str | None = None
    """Why its record cannot be read, as a clause after the path; None where it can."""
    read_to: float = 0.0
    """When the last line that was read of it was made."""
    reply_at: float | None = None
    """When the last reply of the main chain that was read was made."""
    skipped: int = 0
    """Lines that were not read, `too_large` ones included."""
    too_large: int = 0
    """Lines that were too long, or had too many values, to be read."""
    reading_lost: bool = False
    """One of those may have been the last reply."""
    model: str | None = None
    cost_usd: float | None = None
    limit_resets: float | None = None
    """When a usage limit that is used up begins anew, by the status line; unix seconds."""
    permission_mode: str | None = None
    """The mode last seen in the record: the user may have changed it inside the session."""
    began_with: str | None = None
    """The first mode seen of a session that was begun here, before its agent did anything."""
    begun_here: bool = False
    """This supervisor began the session: nobody wrote in its record before it was followed."""
    replied: bool = False
    """Its record holds an assistant message."""
    read_paths: set[str] = field(default_factory=set)
    """Files that its tools read: the proof that a successor read its document."""
    prompt_files_named: set[str] = field(default_factory=set)
    """Files that a prompt in its record names and that its CLI has not read, as far as is known."""
    prompt_files_taken: set[str] = field(default_factory=set)
    """Files of its first prompt that its CLI has read, until they are removed."""
    heard: list[str] = field(default_factory=list)
    """Injected contexts and prompts, newest last: the proof that a request arrived."""
    pilot_prompts: list[tuple[float, str]] = field(default_factory=list)
    last_activity: float | None = None
    quiet_since_start: bool = True
    """Nothing at all was heard of it yet."""
    began_at: float | None = None
    """When its process was started, in monotonic seconds; None for one that was found."""
    background: tuple[BackgroundTask, ...] = ()
    """What runs in the background now, secrets taken out: for showing."""
    version: str | None = None
    """Of the CLI, by the status line."""
    point_key: str | None = None
    """What `seen_point` belongs to."""
    seen_point: SeenPoint = field(default_factory=SeenPoint)
    """What was seen, here or elsewhere, of where this CLI compacts by itself."""
    passed: int | None = None
    """The most tokens with which another request went out, until that is kept."""
    compacted_by_itself: int | None = None
    """The tokens at which the CLI compacted by itself, until that is kept."""
    last_compaction: str = "auto"
    """What started the last compaction: `auto`, or `manual` where you typed it."""
    compaction_held: bool = False
    """The session's next compaction waits until its facts are kept."""
    before_compaction: str | None = None
    """The document of facts that was kept before its last compaction."""
    before: Facts | None = None
    """Facts of the session that was cleared away for this one, until they are given back."""
    too_late: str | None = None
    """How far past the act mark the CLI compacted by itself, where a handoff was wanted."""
    catching_up: bool = True
    """What is read of the record is older than this watching: it is counted, not alarmed at."""

    def see_mode(self, mode: str | None) -> None:
        """Take in the permission mode that the record, or a hook, tells of."""
        if mode:
            self.permission_mode = mode
            if self.begun_here and self.began_with is None:
                self.began_with = mode

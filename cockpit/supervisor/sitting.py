"""What is known of the session that sits in a seat, and is forgotten when another one does.

Holds values; what they are made of is `seat.py`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cockpit.adapters.transcripts import Tail
from cockpit.core.collect import Collector
from cockpit.core.conduct import Conduct
from cockpit.core.facts import Facts
from cockpit.core.gauge import Gauge
from cockpit.core.meter import Meter
from cockpit.core.running_tools import RunningTools


@dataclass(slots=True)
class Sitting:
    """One session while it is watched: everything that begins anew with the next one.

    Times are steady seconds, so that a jump of the wall clock makes nothing older or newer.
    """

    conduct: Conduct = field(default_factory=Conduct)
    gauge: Gauge = field(default_factory=Gauge)
    meter: Meter = field(default_factory=Meter)
    collector: Collector = field(default_factory=Collector)
    running: RunningTools = field(default_factory=RunningTools)
    tail: Tail | None = None
    read_to: float = 0.0
    """When the last line that was read of it was made."""
    skipped: int = 0
    model: str | None = None
    cost_usd: float | None = None
    limit_resets: float | None = None
    """When a usage limit that is used up begins anew, by the status line; unix seconds."""
    permission_mode: str | None = None
    """The mode last seen in the record: the pilot may have changed it inside the session."""
    replied: bool = False
    """Its record holds an assistant message."""
    read_paths: set[str] = field(default_factory=set)
    """Files that its tools read: the proof that a successor read its document."""
    heard: list[str] = field(default_factory=list)
    """Injected contexts and prompts, newest last: the proof that a request arrived."""
    pilot_prompts: list[tuple[float, str]] = field(default_factory=list)
    last_activity: float | None = None
    quiet_since_start: bool = True
    """Nothing at all was heard of it yet."""
    began_at: float | None = None
    """When its process was started, in monotonic seconds; None for one that was found."""
    before: Facts | None = None
    """Facts of the session that was cleared away for this one, until they are given back."""
    too_late: str | None = None
    """How far past the act mark the CLI compacted by itself, where a handoff was wanted."""
    catching_up: bool = True
    """What is read of the record is older than this watching: it is counted, not alarmed at."""

"""How far a session's transcript is read, and what was found in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from cockpit.adapters.transcripts.tail import Tail
from cockpit.core.collect import Collector
from cockpit.core.meter import Meter
from cockpit.core.running_tools import RunningTools


@dataclass(slots=True)
class TranscriptReading:
    """One transcript while it is followed; another one begins with a new reading.

    Times are steady seconds, so that a jump of the wall clock makes nothing older or newer.
    """

    tail: Tail | None = None
    meter: Meter = field(default_factory=Meter)
    collector: Collector = field(default_factory=Collector)
    running: RunningTools = field(default_factory=RunningTools)
    unreadable: str | None = None
    """Why it cannot be read, as a clause after the path; None where it can."""
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

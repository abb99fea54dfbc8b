"""The position in a session's transcript, and the data read so far."""

from __future__ import annotations

from dataclasses import field

from cockpit.adapters.transcripts.tail import Tail
from cockpit.core.collect import Collector
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.meter import Meter
from cockpit.core.running_tools import RunningTools
from cockpit.core.steps_taken import StepsTaken


@dataclass(slots=True)
class TranscriptReading:
    """One transcript that is being read; another transcript gets a new object.

    Times are seconds of `Clock.steady`, which ignores changes of the wall clock.
    """

    tail: Tail | None = None
    meter: Meter = field(default_factory=Meter)
    collector: Collector = field(default_factory=Collector)
    running: RunningTools = field(default_factory=RunningTools)
    steps: StepsTaken = field(default_factory=StepsTaken)
    unreadable: str | None = None
    """Why the transcript cannot be read, as a clause after the path; None if it can be read."""
    answers_late: bool = False
    """Whether `unreadable` only means that the file system has not answered yet."""
    read_to: float = 0.0
    """Time of the last line that was read."""
    reply_at: float | None = None
    """Time of the last reply that was read, without the replies of subagents."""
    skipped: int = 0
    """Number of skipped lines, including `faults` and `too_large`."""
    faults: int = 0
    """Number of lines that were skipped because a record does not have the documented shape."""
    last_fault: str = ""
    """The error in the last line that `faults` counts."""
    too_large: int = 0
    """Number of lines that were skipped because of too many characters or values."""
    reading_lost: bool = False
    """Whether a skipped line may have the newest token count, which is then unknown."""

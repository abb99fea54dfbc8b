"""The context usage of a session that cockpit did not start, with the user's thresholds."""

from __future__ import annotations

from cockpit.config.thresholds import thresholds
from cockpit.core import bands
from cockpit.core.bands import Band, Marks
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.reading import Window
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.transcript_end import TranscriptEnd


@dataclass(frozen=True, slots=True)
class Filling:
    """The tokens in a context, and the limits with which they are compared."""

    tokens: int
    window: Window
    compacts_at: int | None
    """Tokens at which the CLI compacts, from a formula; None if the CLI does not compact."""
    marks: Marks

    @property
    def used(self) -> float:
        """Share of the window that is used; 1 is full."""
        return self.tokens / self.window.tokens

    @property
    def band(self) -> Band:
        return bands.band(self.tokens, self.marks)


def filling(
    dependencies: Dependencies, fleet: Fleet, runtime: str, reading: TranscriptEnd
) -> Filling | None:
    """Return the context usage at a transcript's last reply.

    None if there is no reply, or if no configuration is loaded.
    """
    if reading.tokens is None or fleet.loaded is None:
        return None
    settings, environment = fleet.loaded.settings.defaults.context, dependencies.environment
    window = reading.window(settings.override, environment)
    rule = dependencies.runtimes(runtime).compaction_rule(environment)
    compacts_at = rule.compacts_at(window.tokens)
    marks = bands.marks(thresholds(settings), window.tokens, compacts_at)
    return Filling(reading.tokens, window, compacts_at, marks)

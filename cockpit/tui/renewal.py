"""Settings that were read anew count on the screen that runs: keys, colours, calls and hosts.

Where they come from, and what there is of terminals and hosts, is given from outside. What the
supervisor makes of them is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.filter import LineFilter
from textual.message import Message

from cockpit.client.client import Supervisor
from cockpit.tui.drawing import filters
from cockpit.tui.pace import Pace, pace

if TYPE_CHECKING:
    from cockpit.config.loaded import Loaded
    from cockpit.config.schema import CockpitSettings, Settings

PAUSE = 0.2
"""Seconds after a file changed before it is read: an editor writes in more than one step."""


class SettingsRead(Message):
    """The files were read, and this is what holds now."""

    def __init__(self, loaded: Loaded) -> None:
        super().__init__()
        self.loaded = loaded


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a screen needs so that other settings count without another start."""

    drawn: Callable[[CockpitSettings], tuple[Sequence[LineFilter], Pace]]
    """What lines pass before they are sent, and how often."""
    hosts: Callable[[Settings], Mapping[str, Supervisor]]
    """Have these machines, and answer whom to follow; one that is as it was is the same object."""
    watch: Callable[[Callable[[], None]], Callable[[], None]]
    """Be called when a file may be another one; answers how to stop."""
    let_through: Callable[[], None] = lambda: None
    """Have our tmux pass on what it has no word for: messages to the desktop."""


def drawn_as(
    environment: Mapping[str, str], *, over_ssh: bool
) -> Callable[[CockpitSettings], tuple[Sequence[LineFilter], Pace]]:
    """How settings are drawn in a terminal of this environment."""

    def drawn(said: CockpitSettings) -> tuple[Sequence[LineFilter], Pace]:
        found = filters(said.glyphs, said.colours, environment)
        return found, pace(said.refresh, over_ssh=over_ssh)

    return drawn

"""Functions that apply changed settings to the screen: line filters, hosts, file watching."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual.filter import LineFilter
from textual.message import Message

from cockpit.client.client import Supervisor
from cockpit.core.deferred_dataclass import dataclass
from cockpit.tui.state.pace import Pace, pace
from cockpit.tui.terminal.capabilities import filters

if TYPE_CHECKING:
    from cockpit.config.loaded import Loaded
    from cockpit.config.schema import CockpitSettings, Settings

Drawn = Callable[["CockpitSettings", bool], tuple[Sequence[LineFilter], Pace]]
"""Returns the line filters and the pace for these settings. The second argument says whether the
terminal is connected over SSH."""
PAUSE = 0.2
"""Seconds to wait after a file change before the file is read: editors write in several steps."""


class SettingsRead(Message):
    """Posted when the configuration files were read."""

    def __init__(self, loaded: Loaded) -> None:
        super().__init__()
        self.loaded = loaded


@dataclass(frozen=True, slots=True)
class ReloadDependencies:
    """The functions needed to apply settings without a restart."""

    drawn: Drawn
    hosts: Callable[[Settings], Mapping[str, Supervisor]]
    """The clients to follow, by host; an unchanged host keeps its client object."""
    watch: Callable[[Callable[[], None]], Callable[[], None]]
    """Watches the files; calls the given function when a file may have changed. Returns a function
    that stops the watch."""
    let_through: Callable[[], None] = lambda: None
    """Sets `allow-passthrough` for the screen's pane in cockpit's tmux server, so that desktop
    notifications reach the outer terminal."""
    watch_terminals: Callable[[Callable[[bool], None]], Callable[[], None]] | None = None
    """Calls the given function at once and after each change, with True if an attached terminal is
    connected over SSH. Returns a function that stops the calls. None if the screen runs in a
    terminal of its own, not in cockpit's tmux server."""
    over_ssh: bool = False
    """Whether the terminal in which the screen was opened is connected over SSH."""


def drawn_as(environment: Mapping[str, str]) -> Drawn:
    """Return the `drawn` function for a terminal with these environment variables."""

    def drawn(settings: CockpitSettings, over_ssh: bool) -> tuple[Sequence[LineFilter], Pace]:
        own = pace(settings.refresh, over_ssh=over_ssh)
        return filters(settings.glyphs, settings.colours, environment, is_low=own.is_low), own

    return drawn

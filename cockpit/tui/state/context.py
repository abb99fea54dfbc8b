"""What every screen gets: the user's environment, and functions to act on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.core.deferred_dataclass import dataclass
from cockpit.tui.state.pace import PACES, Pace
from cockpit.tui.state.settings_reload import ReloadDependencies
from cockpit.tui.terminal.attach import Attach, Edit

if TYPE_CHECKING:
    from cockpit.config.files import Files


@dataclass(frozen=True, slots=True)
class UIContext:
    """The environment of the screens, and the functions that they can call."""

    attach: Attach
    edit: Edit
    copy: Callable[[str], Awaitable[None]] | None = None
    """Copies text to the terminal's clipboard; None: the screen writes to its terminal itself."""
    attached: Callable[[], Awaitable[int]] | None = None
    """Returns the number of terminals that show the screen; None: the screen has its own."""
    direct: bool = False
    """Whether the screen owns its terminal, so that attaching suspends the application."""
    pace: Pace = field(default_factory=lambda: replace(PACES["full"]))
    keys: dict[str, str] = field(default_factory=dict)
    """The user's own keys, by action; the dictionary is changed when the settings change."""
    host: str = "local"
    """The user's name for the main host."""
    home: str = ""
    """The user's home directory on the main host, shown as `~`."""
    directory: Path = Path("/")
    """The directory in which cockpit was started; the default for new agents."""
    files: Callable[[], Files] | None = None
    """Reads the configuration from disk; None if the screen cannot change the configuration."""
    ends_on_leaving: str = ""
    """What ends when the user leaves the screen, as a sentence; leaving then asks first."""
    has_tour: bool = False
    """Whether a line explains what can be seen, for the demo."""
    reload: ReloadDependencies | None = None
    """Functions to apply changed settings at once; None: changes apply at the next start."""

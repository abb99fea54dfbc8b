"""The context that every screen gets."""

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
    """The user's environment, and functions that the screens call."""

    attach: Attach
    edit: Edit
    copy: Callable[[str], Awaitable[None]] | None = None
    """Copies text to the terminal's clipboard; None if the screen writes to its own terminal."""
    attached: Callable[[], Awaitable[int]] | None = None
    """Returns the number of terminals that show the screen; None if the screen has a terminal of
    its own."""
    direct: bool = False
    """Whether the screen owns its terminal, so that attaching suspends the application."""
    pace: Pace = field(default_factory=lambda: replace(PACES["full"]))
    keys: dict[str, str] = field(default_factory=dict)
    """The user's own keys, by action; changed in place when the settings change."""
    host: str = "local"
    """The user's name for the main host: `local`, or the host given with `--host`."""
    home: str = ""
    """The user's home directory on the main host, shown as `~`."""
    directory: Path = Path("/")
    """The directory in which cockpit was started; the default for new agents."""
    files: Callable[[], Files] | None = None
    """Reads the configuration from disk; None if the screen cannot change the configuration."""
    ends_on_leaving: str = ""
    """A sentence about everything that quitting ends; if not empty, quitting asks to confirm."""
    has_tour: bool = False
    """Whether a line at the bottom explains the screen, as in the demo."""
    reload: ReloadDependencies | None = None
    """Functions to apply changed settings at once; None if changes apply at the next start."""

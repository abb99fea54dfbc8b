"""What every screen is given from outside: where the pilot stands, and what may be set going."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.tui.attach import Attach, Edit
from cockpit.tui.pace import PACES, Pace
from cockpit.tui.renewal import Renewal

if TYPE_CHECKING:
    from cockpit.config.files import Files


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the screen is given from outside: where it stands and what it may set going."""

    attach: Attach
    edit: Edit
    direct: bool = False
    """The screen owns its terminal, so attaching means to step aside."""
    pace: Pace = field(default_factory=lambda: replace(PACES["auto"]))
    keys: dict[str, str] = field(default_factory=dict)
    """The pilot's own, by action; changed where it stands when the pilot changes them."""
    host: str = "local"
    """The pilot's name for the machine that is looked at."""
    home: str = ""
    """The pilot's home directory there, to say `~` for."""
    directory: Path = Path("/")
    """Where the pilot stood: a new agent starts there unless another is named."""
    files: Callable[[], Files] | None = None
    """Reads the configuration that holds here, from the disk; None where nothing can be kept."""
    renewal: Renewal | None = None
    """Has other settings count at once; None where they count at the next start."""

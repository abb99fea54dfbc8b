"""The terminal panes that agents live in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cockpit.core.errors import CockpitError
from cockpit.core.ids import PaneId


class PanesSilent(CockpitError):
    """The multiplexer gave no answer: nothing is known, which is not the same as nothing there."""


class PaneOccupied(CockpitError):
    """A process still holds the pane, so no other was started in it."""


class PaneGone(CockpitError):
    """There is no such pane any more."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A lock on a place that agents of several cockpits know."""

    path: Path
    shared: bool
    """Others may work there too, but nobody who must be alone."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A process to start in a pane. Nothing in it is read by a shell or as a format."""

    argv: Sequence[str]
    directory: Path
    """Must be the process's real directory when it starts, or it does not start."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The whole environment of the process, not an addition to ours."""
    prompt: str | None = None
    """Goes last, after `--`, from a 0600 file: never through the multiplexer's arguments."""
    lease: Path | None = None
    """A file the process holds a kernel lock on while it or a child lives; if somebody holds it
    already, the process does not start. That makes "at most one" structural."""
    claim: Claim | None = None
    """A second lock, on the place it works in: whoever works there, of whatever cockpit."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One pane as it was when it was looked at."""

    id: PaneId
    label: str
    """What it was opened as; kept by us in a pane option, so renaming a window changes nothing."""
    pid: int
    dead: bool
    """Its terminal is closed. Only the pid proves that the process is gone."""
    exit_status: int | None = None
    exit_signal: int | None = None
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class Screen:
    """What a person would see in a pane. Lines hold text and SGR sequences, nothing else."""

    lines: tuple[str, ...]
    cursor_column: int = 0
    cursor_row: int = 0
    cursor_visible: bool = True


class Panes(Protocol):
    """Panes on a private server. Every call has a deadline and raises `PanesSilent` past it."""

    async def start_server(self) -> int:
        """Make sure that the server runs; its pid. Twice is the same as once."""

    async def server_pid(self) -> int | None:
        """The server's pid, or None when none runs."""

    async def look(self) -> dict[PaneId, Pane]:
        """Every pane of ours. Empty only if the server itself says so or is known to be gone."""

    async def open(self, label: str, launch: Launch) -> Pane:
        """Start a process in a new window."""

    async def reopen(self, pane: PaneId, launch: Launch) -> Pane:
        """Start a process in a pane whose last one has ended.

        Raises `PaneOccupied` if anything still holds it (a free interlock), `PaneGone`.
        """

    async def capture(self, pane: PaneId, *, history: int = 0) -> Screen:
        """The visible screen, and `history` lines above it. Raises `PaneGone`."""

    async def paste(self, pane: PaneId, text: str) -> None:
        """Put text into the pane as one bracketed paste, control bytes removed. Not submitted."""

    async def press(self, pane: PaneId, key: str) -> None:
        """Press one named key (`Enter`, `Escape`)."""

    async def hold_keys(self, pane: PaneId, seconds: float) -> None:
        """Let no key reach the pane for so long, whoever types. Raises `PaneGone`."""

    async def resize(self, pane: PaneId, columns: int, rows: int) -> None:
        """Give the pane's window a size, for when nobody is attached."""

    async def close(self, pane: PaneId) -> None:
        """Close a pane whose process has ended. Twice is the same as once."""

    async def stop_server(self) -> None:
        """End the server and remove its socket. Twice is the same as once."""

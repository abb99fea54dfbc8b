"""The terminal panes that agents run in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cockpit.core.errors import CockpitError
from cockpit.core.ids import PaneId


class PanesSilent(CockpitError):
    """The multiplexer did not answer, so the state of its panes is unknown."""


class PaneOccupied(CockpitError):
    """A process still runs in the pane, so no other was started."""


class PaneGone(CockpitError):
    """The pane no longer exists."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A lock on a directory that agents of several cockpits may use."""

    path: Path
    shared: bool
    """Whether other shared claims may hold the lock at the same time."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A process to start in a pane. No shell and no tmux format reads its values."""

    argv: Sequence[str]
    directory: Path
    """The working directory; without it the process does not start."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The whole environment of the process; nothing is inherited from the supervisor."""
    prompt: str | None = None
    """The last argument. Passed in a 0600 file, not through the multiplexer."""
    mention: Callable[[Sequence[Path]], str] | None = None
    """Makes the sentence that names the prompt's files and replaces the prompt, for a CLI that
    reads such files into its first request. None for others: the prompt is an argument."""
    by_file: bool = False
    """The model opens a file with the prompt itself: the CLI gets a sentence that names it. For a
    CLI without mentions; the process list then does not show the prompt."""
    by_cat: bool = False
    """With `by_file`: the model can open that file only with a command."""
    prompt_option: str = ""
    """The option that takes the prompt, with its `=`, for a CLI that ignores arguments after `--`.
    Empty: the prompt is the last argument, after `--`."""
    literal: bool = False
    """The CLI understands this prompt only as an argument. It is still passed in files if it
    contains a secret or is too long."""
    prompt_folder: Path | None = None
    """The folder for the prompt's files; None for the default folder."""
    prompt_file: Path | None = None
    """The prompt is written to this file, which `argv` names, instead of being an argument."""
    lease: Path | None = None
    """A file on which the process and its children hold a kernel lock. The process does not start
    if another one holds it, so at most one runs."""
    claim: Claim | None = None
    """A second lock, on the working directory, against agents of other cockpits."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One pane at the time it was listed."""

    id: PaneId
    label: str
    """The name it was opened with, stored as an option of the pane. Renaming its window does not
    change it."""
    pid: int
    dead: bool
    """Its terminal is closed. The process may still run; only the pid shows that."""
    exit_status: int | None = None
    exit_signal: int | None = None
    width: int = 0
    height: int = 0
    title: str = ""
    """The terminal's title, as the process set it."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The content of a pane. Lines have text and SGR sequences, no other control characters."""

    lines: tuple[str, ...]
    cursor_column: int = 0
    cursor_row: int = 0
    cursor_visible: bool = True


class Panes(Protocol):
    """Panes on a private server. Every call has a time limit and raises `PanesSilent` after it."""

    async def start_server(self) -> int:
        """Start the server if it does not run; returns its pid. Idempotent."""

    async def prepare(self) -> None:
        """Load what `open` and `reopen` need, so that they do not wait for it. Idempotent.

        Raises `Hindered` if panes could not be opened.
        """

    async def server_pid(self) -> int | None:
        """The server's pid; None if no server runs."""

    async def home_pid(self) -> int | None:
        """The pid of the screen in the home window; None if there is none."""

    async def look(self) -> dict[PaneId, Pane]:
        """All panes with a label. Empty only if the server has none or has ended."""

    async def open(self, label: str, launch: Launch) -> Pane:
        """Start a process in a new window."""

    async def reopen(self, pane: PaneId, launch: Launch) -> Pane:
        """Start a process in a pane whose process has ended.

        Raises `PaneOccupied` if a process still runs in it, and `PaneGone`.
        """

    async def capture(self, pane: PaneId, *, history: int = 0) -> Screen:
        """The visible screen and up to `history` lines above it. Raises `PaneGone`."""

    async def paste(self, pane: PaneId, text: str) -> None:
        """Paste text as one bracketed paste, without control bytes and without submitting it."""

    async def press(self, pane: PaneId, key: str) -> None:
        """Press one named key (`Enter`, `Escape`)."""

    async def hold_keys(self, pane: PaneId, seconds: float) -> None:
        """Hold back the keys typed into the pane for that time. Raises `PaneGone`."""

    async def close(self, pane: PaneId) -> None:
        """Close a pane whose process has ended. Idempotent."""

    async def stop_server(self) -> None:
        """End the server and remove its socket. Idempotent."""

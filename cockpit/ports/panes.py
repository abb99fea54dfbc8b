"""The terminal panes that agents run in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Protocol

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import CockpitError
from cockpit.core.ids import PaneId


class PanesSilent(CockpitError):
    """The multiplexer did not answer, so the state of its panes is unknown."""


class PaneOccupied(CockpitError):
    """A process is still running in the pane, so no other process was started."""


class PaneGone(CockpitError):
    """The pane no longer exists."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A lock on a directory in which agents of several cockpit installations may run."""

    path: Path
    shared: bool
    """Whether other shared claims may hold the lock at the same time."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A process to start in a pane. Neither a shell nor tmux formats expand its values."""

    argv: Sequence[str]
    directory: Path
    """The working directory; it must exist."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The environment of the process; nothing is inherited from the supervisor. The terminal's
    variables are replaced: `TERM`, `COLORTERM`, `TMUX` and `TMUX_PANE`."""
    prompt: str | None = None
    """The first prompt, by default the last argument; None for a start without a prompt. cockpit
    passes the prompt in a file of mode 0600, not through the multiplexer."""
    mention: Callable[[Sequence[Path]], str] | None = None
    """Builds the sentence that mentions the prompt's files and replaces the prompt, for a CLI that
    reads mentioned files into its first request. None for other CLIs."""
    by_file: bool = False
    """Whether to put the prompt into a file, and to pass a sentence that tells the model to open
    that file, so that the process list does not show the prompt. For a CLI without `mention`."""
    by_cat: bool = False
    """With `by_file`: whether the model can open the file only with a shell command (`cat`)."""
    prompt_option: str = ""
    """The option for the prompt, such as `--prompt-interactive=`, for a CLI that ignores arguments
    after `--`. Empty: the prompt is the last argument, after `--`."""
    literal: bool = False
    """Whether the CLI understands this prompt only as an argument. A prompt that contains a secret
    or is too long is passed in files even so."""
    prompt_folder: Path | None = None
    """Folder for the prompt's files; None means the default folder."""
    prompt_file: Path | None = None
    """The file into which cockpit writes the prompt, and whose path is in `argv`; None without such
    a file."""
    lease: Path | None = None
    """A file on which the process and its children hold a kernel lock. While another process holds
    the lock, the process does not start, so an agent has only one process. None for no lock."""
    claim: Claim | None = None
    """A second lock, on the working directory, against agents of other cockpit installations; None
    for no such lock."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One pane, with its state when the multiplexer was asked."""

    id: PaneId
    label: str
    """The name from `Panes.open` or `Panes.relabel`, stored as an option of the pane. Renaming the
    window does not change the label."""
    pid: int
    dead: bool
    """Whether the pane's terminal is closed. The process may still be running; check the pid."""
    exit_status: int | None = None
    exit_signal: int | None = None
    width: int = 0
    height: int = 0
    title: str = ""
    """The terminal's title, as the process set it."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The content of a pane. Lines contain text and SGR sequences, no other control characters."""

    lines: tuple[str, ...]
    cursor_column: int = 0
    cursor_row: int = 0
    cursor_visible: bool = True


class Panes(Protocol):
    """The panes on cockpit's own tmux server.

    Every call raises `PanesSilent` when its time limit is over.
    """

    async def start_server(self) -> int:
        """Start the server if it is not running; return its pid. Idempotent."""

    async def bind_return_keys(self, keys: Sequence[str]) -> None:
        """Bind the keys that go back from a pane to the screen, even on a server that starts later.

        `keys` are canonical key names of the configuration. Idempotent. Raises `OSError` if the
        keys cannot be stored.
        """

    async def prepare(self) -> None:
        """Load the code and data that `open` and `reopen` need, to make both fast. Idempotent.

        Raises `OsProblem` if panes could not be opened.
        """

    async def server_pid(self) -> int | None:
        """Return the server's pid; None if no server is running."""

    async def home_pid(self) -> int | None:
        """Return the pid of cockpit's own screen, in the home window.

        None if the screen is not running, or if several panes are marked as the home window's.
        """

    async def look(self) -> dict[PaneId, Pane]:
        """Return all panes with a label. Empty only if there are no such panes, or no server."""

    async def open(self, label: str, launch: Launch) -> Pane:
        """Start a process in a new window. Raises `BadUsage` for an invalid label."""

    async def reopen(self, pane: PaneId, launch: Launch) -> Pane:
        """Start a process in a pane whose process has ended.

        Raises `PaneOccupied` if a process is still running in the pane, and `PaneGone`.
        """

    async def capture(self, pane: PaneId, *, history: int = 0) -> Screen:
        """Return the pane's visible screen and up to `history` lines above it.

        Raises `PaneGone`.
        """

    async def paste(self, pane: PaneId, text: str) -> None:
        """Paste text as one bracketed paste, without control bytes. Does not submit the text.

        Raises `PaneGone`, also if the pane's process has ended.
        """

    async def press(self, pane: PaneId, key: str) -> None:
        """Press one key of `core.pane_keys`. Raises `BadUsage` for any other word, and
        `PaneGone`."""

    async def hold_keys(self, pane: PaneId, seconds: float) -> None:
        """Ignore the user's keys in the pane for this number of seconds. Raises `PaneGone`."""

    async def relabel(self, pane: PaneId, label: str) -> None:
        """Change the pane's label, and the name of the pane's window accordingly.

        Raises `BadUsage` for an invalid label, and `PaneGone`.
        """

    async def close(self, pane: PaneId) -> None:
        """Close a pane whose process has ended; else raise `PaneOccupied`. Idempotent."""

    async def stop_server(self) -> None:
        """End the server and remove its socket. Idempotent."""

"""Processes: their identity, their state, and how to end them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Protocol

from cockpit.core.capabilities import EndSignal
from cockpit.core.deferred_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ProcessId:
    """The identity of a process. A pid alone is not enough, because pids are reused."""

    pid: int
    started: int
    """When the process started, in the system's own unit: on Linux, clock ticks after boot
    (`/proc/PID/stat`, field 22)."""
    boot: str
    """The kernel's boot id."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The result of `Processes.end`."""

    gone: bool
    """Whether the process and all processes with the marker (`COCKPIT_RUN`) have ended."""
    killed: bool
    """Whether at least one process needed SIGKILL."""
    stragglers: tuple[int, ...] = ()
    """Pids of other processes with the marker (`COCKPIT_RUN`) that were still running when the
    process had ended."""
    survivors: tuple[int, ...] = ()
    """Pids of processes that SIGKILL did not end; no new process may be started while they run."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The marker and directory of a process, read from the process itself."""

    marker: str
    """Value of `COCKPIT_RUN` in the process's environment."""
    directory: Path
    """The process's current working directory."""


@dataclass(frozen=True, slots=True)
class Ancestor:
    """One process of `Processes.ancestry`, with values that show who started the process.

    All text is untrusted. Values that are missing or cannot be read are empty.
    """

    process: ProcessId
    run: str = ""
    """Value of `COCKPIT_RUN` in the process's environment."""
    agent: str = ""
    """Value of `COCKPIT_AGENT`: the name of the agent in whose pane the process runs."""
    socket: str = ""
    """Value of `COCKPIT_SOCKET`: the socket of the supervisor that started the process."""
    state: str = ""
    """Value of `COCKPIT_STATE`: the state folder of the supervisor that started the process."""
    hook: str = ""
    """Value of `COCKPIT_HOOK`: the name of the event for which the hook runs."""
    ssh: str = ""
    """Value of `SSH_CONNECTION`: addresses and ports of the SSH connection; empty without SSH."""
    terminal: str = ""
    """The process's controlling terminal (`pts/3`)."""
    arguments: tuple[str, ...] = ()
    """The process's command line."""
    tmux: str = ""
    """Value of `TMUX`: the tmux server's socket and pid, and the number of the tmux session."""
    pane: str = ""
    """Value of `TMUX_PANE`: the id of the tmux pane in which the process was started."""


@dataclass(frozen=True, slots=True)
class Occupant:
    """A process that uses a directory."""

    pid: int
    name: str
    """Name of the process's program; untrusted text."""
    file: Path | None = None
    """A file below the used directory that the process has open for writing; None if the process's
    working directory is the used directory or below it."""


class Terminal(Protocol):
    """A process's terminal, kept open so that no other process gets the same terminal."""

    def leave_full_screen(self) -> None:
        """Leave the alternate screen, and reset the terminal modes, after a signal ended a program.

        Ignores errors.
        """

    def write_line(self, text: str) -> None:
        """Write a line of safe text at the end of the output. Does not block; ignores errors."""

    def close(self) -> None:
        """Close the terminal. Idempotent."""


class Processes(Protocol):
    """The processes of this machine. Signals are sent only to a verified process, on Linux through
    a pidfd."""

    def identify(self, pid: int) -> ProcessId | None:
        """Return the process that has this pid now; None if there is none."""

    def alive(self, process: ProcessId) -> bool:
        """Return whether exactly this process is still running; False for a zombie."""

    def marked(self, marker: str) -> list[ProcessId]:
        """Return all processes with `COCKPIT_RUN=<marker>` in their environment, except this one.

        Empty for an empty marker.
        """

    def carries(self, process: ProcessId, marker: str) -> bool | None:
        """Return whether this process has `COCKPIT_RUN=<marker>` in its environment; False if the
        process has ended.

        None if the environment is hidden; only macOS can hide it.
        """

    def occupants(self, directories: Collection[Path]) -> dict[Path, list[Occupant]]:
        """Return, for each directory, the processes that use the directory or a path below it.

        This process is left out. Slow: reads files of every process. Do not call on the event loop.
        """

    def lineage(self, pid: int) -> list[int]:
        """Return the pids of the process, its parent, and all further ancestors."""

    def ancestry(self, pid: int) -> list[Ancestor]:
        """Return the process, its parent, and all further ancestors.

        Empty if the process does not exist.
        """

    def origin(self, pid: int) -> Origin | None:
        """Return the marker (`COCKPIT_RUN`) and directory of a process.

        None if the process has no marker, or if its environment or directory cannot be read.
        """

    def terminal(self, process: ProcessId) -> Terminal | None:
        """Return the process's controlling terminal; None if there is none, or if the
        process is another user's."""

    def on_exit(self, process: ProcessId, call: Callable[[], None]) -> Callable[[], None]:
        """Run `call` once, on the event loop, when the process has ended.

        Returns a cancel function.
        """

    async def wait_for_end(self, process: ProcessId, timeout: float) -> bool:
        """Wait until the process ends, at most `timeout` seconds; return whether it ended. Sends no
        signal."""

    async def ask_to_end(self, process: ProcessId, patience: float) -> bool:
        """Send SIGTERM only; return whether the process ended within `patience` seconds."""

    async def end(
        self,
        process: ProcessId | None,
        marker: str,
        *,
        patience: float = 6.0,
        first: EndSignal = "TERM",
    ) -> Ending:
        """End the process (signal `first`, wait, SIGKILL, wait), then all processes with
        `COCKPIT_RUN=<marker>` (SIGTERM, wait, SIGKILL, wait).

        Without a process, ends only the others. `patience` is the time before SIGKILL, in seconds;
        for the others, at most 2 s.
        """

"""Processes: who they are, that they are gone, and how they are ended."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process beyond doubt: a pid alone may be another process tomorrow."""

    pid: int
    started: int
    """Clock ticks after boot (`/proc/PID/stat`, field 22)."""
    boot: str
    """The kernel's boot id."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How an ending went."""

    gone: bool
    """Nobody with the marker is left, the process itself included."""
    killed: bool
    """TERM was not enough for at least one."""
    stragglers: tuple[int, ...] = ()
    """Pids found by the marker after the process itself was gone."""
    survivors: tuple[int, ...] = ()
    """Pids that even KILL did not end; nothing may be started over them."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a process itself tells of how it was started."""

    marker: str
    """The `COCKPIT_RUN` in its environment."""
    directory: Path
    """Where it works now."""


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A process, or one above it, with what tells who started it. All text is foreign."""

    process: ProcessId
    run: str = ""
    """The `COCKPIT_RUN` that it was started with; empty for none."""
    agent: str = ""
    """Its `COCKPIT_AGENT`."""
    socket: str = ""
    """Its `COCKPIT_SOCKET`: of the supervisor that started it."""
    state: str = ""
    """Its `COCKPIT_STATE`: the state folder of that supervisor."""
    hook: str = ""
    """Its `COCKPIT_HOOK`: the event that a hook runs for."""
    ssh: str = ""
    """Its `SSH_CONNECTION`."""
    terminal: str = ""
    """Its controlling terminal (`pts/3`); empty for none."""
    arguments: tuple[str, ...] = ()
    """Its command line."""


@dataclass(frozen=True, slots=True)
class Occupant:
    """A process that would notice if a directory went away."""

    pid: int
    name: str
    """Of its program; foreign text."""
    file: Path | None = None
    """What it has open for writing there; None for one whose working directory it is."""


class Processes(Protocol):
    """Only ever signals a process whose identity is the recorded one, through a pidfd."""

    def identify(self, pid: int) -> ProcessId | None:
        """The process that has this pid now; None if there is none."""

    def alive(self, process: ProcessId) -> bool:
        """Whether exactly this process is still there (a zombie is not)."""

    def marked(self, marker: str) -> list[ProcessId]:
        """Every process whose environment holds `COCKPIT_RUN=<marker>`."""

    def occupants(self, directories: Collection[Path]) -> dict[Path, list[Occupant]]:
        """Who uses each of these directories or what is below; nobody where that cannot be told.

        Reads something of every process of the machine: not for the event loop.
        """

    def lineage(self, pid: int) -> list[int]:
        """The process, its parent, and so on up."""

    def ancestry(self, pid: int) -> list[Ancestor]:
        """The process, its parent, and so on up, with what each was started with.

        Empty for a process that is not there. What may not be read of one is left empty.
        """

    def origin(self, pid: int) -> Origin | None:
        """What a process carries of how it was started; None where that cannot be read."""

    def on_exit(self, process: ProcessId, call: Callable[[], None]) -> Callable[[], None]:
        """Call once, on the event loop, when it has ended; answers how to stop waiting."""

    async def end(self, process: ProcessId | None, marker: str, *, patience: float = 6.0) -> Ending:
        """TERM, wait, KILL, wait; then the same for everything that carries the marker."""

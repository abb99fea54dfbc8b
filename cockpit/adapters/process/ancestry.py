"""Find the ancestors of a process, and read cockpit's variables from each one's environment.

A process can remove a variable from its own environment, but not from its ancestors' environments.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from cockpit.adapters.process import process_table
from cockpit.config.same_paths import same_path
from cockpit.core.deferred_dataclass import dataclass
from cockpit.ports.processes import Ancestor, ProcessId

MARKS = (
    "COCKPIT_RUN",
    "COCKPIT_AGENT",
    "COCKPIT_SOCKET",
    "COCKPIT_STATE",
    "COCKPIT_HOOK",
    "SSH_CONNECTION",
    "TMUX",
    "TMUX_PANE",
)


def ancestry(pid: int, boot: str | None = None) -> list[Ancestor]:
    """Return the process, its parent, and all further ancestors; empty if the process does not
    exist.

    `boot`: the kernel's boot id, if already known.
    """
    boot = boot or process_table.boot_id()
    ancestors: dict[int, Ancestor] = {}
    while pid > 0 and pid not in ancestors and (entry := process_table.entry(pid)):
        held = process_table.variables(pid, MARKS)
        ancestors[pid] = Ancestor(
            ProcessId(pid, entry.started, boot),
            run=held.get("COCKPIT_RUN", ""),
            agent=held.get("COCKPIT_AGENT", ""),
            socket=held.get("COCKPIT_SOCKET", ""),
            state=held.get("COCKPIT_STATE", ""),
            hook=held.get("COCKPIT_HOOK", ""),
            ssh=held.get("SSH_CONNECTION", ""),
            terminal=process_table.terminal(pid),
            arguments=process_table.arguments(pid),
            tmux=held.get("TMUX", ""),
            pane=held.get("TMUX_PANE", ""),
        )
        pid = entry.parent
    return list(ancestors.values())


def started_by_tmux(above: Sequence[Ancestor], socket: Path) -> Ancestor | None:
    """Return the process in `above` that the tmux server of this socket started.

    `above` is a process with its ancestors, nearest first; the search stops at the current process.
    None if the server started none of these processes.
    """
    for start in tmux_starts(above):
        if same_path(start.socket, socket):
            return start.process
    return None


@dataclass(frozen=True, slots=True)
class TmuxStart:
    """A process that a tmux server started, with the server's arguments."""

    process: Ancestor
    socket: str
    """The argument of the tmux server's option `-S`."""
    config: str
    """The argument of the tmux server's option `-f`; empty if not given."""


def tmux_starts(above: Sequence[Ancestor]) -> Iterator[TmuxStart]:
    """Yield the processes that a tmux server with `-S` on its command line started, nearest first.

    Stops at the current process.
    """
    for child, parent in pairwise(above):
        if parent.process.pid == os.getpid():
            return
        argv = parent.arguments
        if not argv or Path(argv[0]).name != "tmux":
            continue
        options = dict(reversed([pair for pair in pairwise(argv) if pair[0] in ("-S", "-f")]))
        if "-S" in options:
            yield TmuxStart(child, options["-S"], options.get("-f", ""))

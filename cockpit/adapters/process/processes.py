"""Identify processes, wait for their end, and end them.

With pidfds (Linux 5.3 and later), a reused pid is never signalled, because the process's identity
is compared while a pidfd refers to the process. The kernel then also reports the end of a process.
Without pidfds, the identity is compared just before a signal, and the process is polled four times
a second.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cockpit.adapters.process import process_table
from cockpit.adapters.process.ancestry import ancestry
from cockpit.adapters.process.terminals import OpenTerminal, open_terminal
from cockpit.config.kernel import USES_LINUX
from cockpit.config.same_paths import is_within
from cockpit.core.capabilities import EndSignal
from cockpit.ports.processes import Ancestor, Ending, Occupant, Origin, ProcessId

MARKER_VARIABLE = "COCKPIT_RUN"
END_SIGNALS: dict[EndSignal, signal.Signals] = {
    "TERM": signal.SIGTERM,
    "INT": signal.SIGINT,
    "HUP": signal.SIGHUP,
}
POLL = 0.25
"""Seconds between polls, if the kernel does not report the end of a process."""
KILL_PATIENCE = 2.0
"""Maximum seconds to wait after SIGKILL; a process that still exists afterwards hangs in the
kernel."""
ROUNDS = 5
"""Maximum number of searches for remaining processes: a process may start another one while it is
being ended."""


class LocalProcesses:
    """Identifies, watches and ends processes of this machine."""

    def __init__(self) -> None:
        self._boot_id: str | None = None
        self._has_pidfd = USES_LINUX and has_pidfd()

    @property
    def _boot(self) -> str:
        """The id of this boot, which is constant while this process runs."""
        if self._boot_id is None:
            self._boot_id = process_table.boot_id()
        return self._boot_id

    def identify(self, pid: int) -> ProcessId | None:
        """Return the identity of a pid's process; None if there is no process, or only a zombie."""
        entry = process_table.entry(pid)
        if entry is None or entry.ended:
            return None
        return ProcessId(pid, entry.started, self._boot)

    def alive(self, process: ProcessId) -> bool:
        return self.identify(process.pid) == process

    def marked(self, marker: str) -> list[ProcessId]:
        """Return all processes with `COCKPIT_RUN=<marker>`, except this process; none for an empty
        marker.

        Includes a process with a hidden environment if one of its ancestors has the marker.
        """
        if not marker:
            return []
        variable = os.fsencode(f"{MARKER_VARIABLE}={marker}")
        me = os.getpid()
        marked, hidden = dict[int, ProcessId](), dict[int, ProcessId]()
        seen = set[int]()
        # Read again: a parent may have started a process after the list of processes was made, and
        # ended before the parent's own environment was read.
        for _ in range(ROUNDS):
            new = set(process_table.pids()) - seen - {me}
            seen |= new
            for pid in new:
                # The identity is read first: a pid that is reused after this is not signalled.
                identity = self.identify(pid)
                carries = process_table.carries(pid, variable) if identity is not None else False
                if identity is not None and carries is not False:
                    (marked if carries else hidden)[pid] = identity
        below = (pid for pid in hidden if not marked.keys().isdisjoint(self.lineage(pid)))
        return [*marked.values(), *(hidden[pid] for pid in below)]

    def carries(self, process: ProcessId, marker: str) -> bool | None:
        if not self.alive(process):
            return False
        variable = os.fsencode(f"{MARKER_VARIABLE}={marker}")
        return process_table.carries(process.pid, variable)

    def _hidden_below(self, process: ProcessId) -> list[ProcessId]:
        """Return the descendants of a process that have a hidden environment."""
        if USES_LINUX or not self.alive(process):
            return []
        pids = (pid for pid in process_table.pids() if pid not in (process.pid, os.getpid()))
        hidden = (pid for pid in pids if process_table.carries(pid, b"") is None)
        below = (pid for pid in hidden if process.pid in self.lineage(pid))
        return [identity for pid in below if (identity := self.identify(pid))]

    def occupants(self, directories: Collection[Path]) -> dict[Path, list[Occupant]]:
        """Return the processes that use each folder, sorted by pid, except this process.

        A process uses a folder if its working directory is in the folder, or if it has a file below
        the folder open for writing.
        """
        tops = {directory: Path(os.path.realpath(directory)) for directory in directories}
        occupants: dict[Path, list[Occupant]] = {directory: [] for directory in directories}
        for pid in sorted(process_table.pids()) if tops else ():
            place = process_table.directory(pid) if pid != os.getpid() else None
            for directory, top in tops.items() if place else ():
                inside = place is not None and is_within(place, top)
                file = None if inside else process_table.written_below(pid, top)
                if inside or file:
                    name = process_table.name(pid) or "unknown"
                    occupants[directory].append(Occupant(pid, name, file))
        return occupants

    def lineage(self, pid: int) -> list[int]:
        pids: list[int] = []
        while pid > 0 and pid not in pids and (entry := process_table.entry(pid)):
            pids.append(pid)
            pid = entry.parent
        return pids

    def ancestry(self, pid: int) -> list[Ancestor]:
        return ancestry(pid, self._boot)

    def origin(self, pid: int) -> Origin | None:
        marker = process_table.variable(pid, os.fsencode(MARKER_VARIABLE))
        directory = process_table.directory(pid)
        if not marker or directory is None:
            return None
        return Origin(marker.decode("ascii", "replace"), directory)

    def terminal(self, process: ProcessId) -> OpenTerminal | None:
        terminal = open_terminal(process_table.terminal(process.pid))
        if terminal is not None and not self.alive(process):
            terminal.close()  # the name may belong to another process's terminal
            return None
        return terminal

    def signal(self, process: ProcessId, number: int) -> bool:
        """Signal exactly this process; return False if it has ended or belongs to another user."""
        with self._open_pidfd(process) as descriptor, suppress(ProcessLookupError, PermissionError):
            if descriptor is None:
                return False
            if descriptor < 0:
                os.kill(process.pid, number)
            else:
                signal.pidfd_send_signal(descriptor, number)
            return True
        return False

    async def wait_for_end(self, process: ProcessId, timeout: float) -> bool:
        ended = asyncio.Event()
        forget = self.on_exit(process, ended.set)
        try:
            async with asyncio.timeout(max(timeout, 0)):
                await ended.wait()
        except TimeoutError:
            return not self.alive(process)
        finally:
            forget()
        return True

    def on_exit(self, process: ProcessId, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` when the process ends; return a function that cancels this.

        If the process has already ended, `call` runs in the next iteration of the event loop.
        """
        loop = asyncio.get_running_loop()
        if not self._has_pidfd:
            return self._poll_exit(loop, process, call)
        with self._open_pidfd(process) as held:
            if held is None:
                return loop.call_soon(call).cancel
            descriptor = os.dup(held)
        open_still = True

        def forget() -> None:
            nonlocal open_still
            if open_still:
                open_still = False
                loop.remove_reader(descriptor)
                os.close(descriptor)

        def ended() -> None:
            forget()
            call()

        loop.add_reader(descriptor, ended)
        return forget

    async def ask_to_end(self, process: ProcessId, patience: float) -> bool:
        self.signal(process, signal.SIGTERM)
        return await self.wait_for_end(process, patience)

    async def end(
        self,
        process: ProcessId | None,
        marker: str,
        *,
        patience: float = 6.0,
        first: EndSignal = "TERM",
    ) -> Ending:
        """End the process first, then other processes with `COCKPIT_RUN=<marker>`, and descendants
        of the process with a hidden environment.

        The process gets `patience` seconds to exit before it is killed, the others at most 2 s.
        """
        killed, survivors, hidden = False, list[ProcessId](), list[ProcessId]()
        if process is not None:
            hidden = self._hidden_below(process)  # read before its children get another parent
            killed, survivors = await self._end_all([process], patience, END_SIGNALS[first])
        stragglers: dict[int, None] = {}
        for _ in range(ROUNDS):
            carriers = {*self.marked(marker), *filter(self.alive, hidden)}
            left = [carrier for carrier in carriers if carrier not in survivors]
            if not left:
                break
            stragglers.update(dict.fromkeys(carrier.pid for carrier in left))
            hard, stuck = await self._end_all(left, min(patience, 2.0), signal.SIGTERM)
            killed = killed or hard
            survivors += [carrier for carrier in stuck if carrier not in survivors]
        remaining = {*survivors, *hidden, *self.marked(marker)}
        survivors = [survivor for survivor in remaining if self.alive(survivor)]
        return Ending(
            gone=not survivors,
            killed=killed,
            stragglers=tuple(stragglers),
            survivors=tuple(sorted(survivor.pid for survivor in survivors)),
        )

    async def _end_all(
        self, processes: list[ProcessId], patience: float, first: int
    ) -> tuple[bool, list[ProcessId]]:
        """End all processes; return whether SIGKILL was needed, and the processes that remain."""
        for process in processes:
            self.signal(process, first)
            # A stopped process handles no other signal until it continues.
            self.signal(process, signal.SIGCONT)
        left = await self._remaining(processes, patience)
        if not left:
            return False, []
        for process in left:
            self.signal(process, signal.SIGKILL)
        return True, await self._remaining(left, KILL_PATIENCE)

    async def _remaining(self, processes: list[ProcessId], patience: float) -> list[ProcessId]:
        end = time.monotonic() + patience
        left = []
        for process in processes:
            if not await self.wait_for_end(process, end - time.monotonic()):
                left.append(process)  # noqa: PERF401  the waits share one deadline
        return left

    @contextmanager
    def _open_pidfd(self, process: ProcessId) -> Iterator[int | None]:
        """Yield a pidfd of this process, -1 without pidfd support, or None if it has ended."""
        if not self._has_pidfd:
            yield -1 if self.alive(process) else None
            return
        try:
            descriptor = os.pidfd_open(process.pid)
        except ProcessLookupError:
            yield None
            return
        try:
            yield descriptor if self.alive(process) else None
        finally:
            os.close(descriptor)

    def _poll_exit(
        self, loop: asyncio.AbstractEventLoop, process: ProcessId, call: Callable[[], None]
    ) -> Callable[[], None]:
        async def watch() -> None:
            while self.alive(process):  # noqa: ASYNC110  the end of a process can only be polled here
                await asyncio.sleep(POLL)
            call()

        task = loop.create_task(watch())

        def forget() -> None:
            task.cancel()

        return forget


def has_pidfd() -> bool:
    """Return whether this kernel supports pidfds (Linux 5.3 and later)."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True

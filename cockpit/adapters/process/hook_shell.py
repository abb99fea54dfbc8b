"""Runs the program of a shell hook: an argument vector, one line of JSON on its input, no shell.

It gets few variables, a session of its own, and a marker by which everything it starts is found.
When its time is up, or it has ended, whoever carries the marker is ended beside: the caller waits
for none of that. Its output is read as it comes and kept up to a bound. Decides nothing of what
follows from it.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cockpit.adapters.process.descriptors import with_given_limit
from cockpit.ports.processes import Processes, ProcessId

KEPT = 65_536
"""Bytes that are kept of what a hook prints, on each of its two outputs."""
FLOOD = 8_000_000
"""Bytes after which a hook that goes on printing is ended."""
PATIENCE = 0.4
"""Seconds between TERM and KILL."""
PASSED_ON = frozenset(
    {"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK"}
)
"""What a hook gets of the supervisor's environment, besides LC_*, XDG_* and what is cockpit's."""


Heard = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class ShellRun:
    """How a hook's program went."""

    seconds: float
    exit_code: int | None = None
    """Negative for a signal; None when it was never started or had to be ended."""
    output: bytes = b""
    complaint: bytes = b""
    """What it printed on its error output."""
    problem: str = ""
    """Why it counts as failed; empty when it went well."""


def hook_environment(
    environment: Mapping[str, str], more: Mapping[str, str], marker: str
) -> dict[str, str]:
    """The variables that pass, ours, and the marker that all its processes will carry."""
    passed = {
        name: value
        for name, value in environment.items()
        if name in PASSED_ON or name.startswith(("LC_", "XDG_"))
    }
    return {**passed, **more, "COCKPIT_RUN": marker}


class ShellHooks:
    """Runs programs, and knows those that are still being ended."""

    def __init__(
        self,
        processes: Processes,
        environment: Mapping[str, str],
        running: Path | None = None,
        mark: str = "hook",
    ) -> None:
        self._processes = processes
        self._environment = environment
        self._running = running
        """A folder with one empty file for each marker in use, for whoever comes after us."""
        self._kind = mark
        """What a marker begins with: `hook` acts for the user, anything else does not."""
        self._ending: set[asyncio.Task[None]] = set()

    async def run(
        self,
        command: Sequence[str],
        told: str,
        *,
        directory: Path,
        more: Mapping[str, str],
        timeout: float,
        heard: Heard | None = None,
    ) -> ShellRun:
        """Run it to its end, or to its time limit in seconds. Never raises for what it does.

        `heard` gets what it prints, on both outputs, as it comes.
        """
        started = time.monotonic()
        marker = self._mark()
        output, complaint = Drain(heard), Drain(heard)
        try:
            process = await self._start(
                command,
                told,
                directory,
                hook_environment(self._environment, more, marker),
                (output, complaint),
            )
        except OSError as error:
            output.close()
            complaint.close()
            self._unmark(marker)
            return ShellRun(time.monotonic() - started, problem=_not_started(error, directory))
        identity = self._processes.identify(process.pid)
        try:
            problem = await _wait(process, (output, complaint), timeout)
        finally:
            self._end_beside(process, identity, marker)
            output.finish()
            complaint.finish()
        code = process.returncode
        return ShellRun(
            seconds=time.monotonic() - started,
            exit_code=code if not problem else None,
            output=bytes(output.kept),
            complaint=bytes(complaint.kept),
            problem=problem or _ended(code),
        )

    async def _start(
        self,
        command: Sequence[str],
        told: str,
        directory: Path,
        environment: Mapping[str, str],
        drains: tuple[Drain, Drain],
    ) -> asyncio.subprocess.Process:
        with _input(told) as stdin:
            try:
                return await asyncio.create_subprocess_exec(
                    *_limited(command, directory, environment),
                    stdin=stdin,
                    stdout=drains[0].writing,
                    stderr=drains[1].writing,
                    cwd=directory,
                    env=dict(environment),
                    start_new_session=True,
                )
            finally:
                for drain in drains:
                    drain.begin()

    def _end_beside(
        self, process: asyncio.subprocess.Process, identity: ProcessId | None, marker: str
    ) -> None:
        """Whoever is left is ended while the caller goes on."""
        task = asyncio.get_running_loop().create_task(self._end(process, identity, marker))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(
        self, process: asyncio.subprocess.Process, identity: ProcessId | None, marker: str
    ) -> None:
        await self._processes.end(
            identity if process.returncode is None else None, marker, patience=PATIENCE
        )
        await process.wait()
        self._unmark(marker)

    def _mark(self) -> str:
        """A new marker, written down before anything carries it."""
        marker = f"{self._kind}-{secrets.token_hex(8)}"
        if self._running is not None:
            with suppress(OSError):
                self._running.mkdir(mode=0o700, exist_ok=True)
                (self._running / marker).touch(mode=0o600)
        return marker

    def _unmark(self, marker: str) -> None:
        if self._running is not None:
            with suppress(OSError):
                (self._running / marker).unlink(missing_ok=True)

    async def sweep(self) -> None:
        """End what hooks of a predecessor that was killed have left; before any run of our own."""
        if self._running is None or not self._running.is_dir():
            return
        for file in sorted(self._running.glob("*-*")):
            await self._processes.end(None, file.name, patience=PATIENCE)
            self._unmark(file.name)

    async def close(self) -> None:
        """Wait until everybody is ended; at most a few seconds."""
        while self._ending:
            await asyncio.gather(*tuple(self._ending), return_exceptions=True)


class Drain:
    """The reading end of a hook's output: keeps the beginning, counts the rest and drops it.

    The hook's grandchildren may hold the other end for ever; nobody waits for them.
    """

    def __init__(self, heard: Heard | None = None) -> None:
        self._heard = heard
        self._reading, self.writing = os.pipe()
        fcntl.fcntl(self._reading, fcntl.F_SETFL, os.O_NONBLOCK)
        self._watching = False
        self.kept = bytearray()
        self.seen = 0
        self.flooded = asyncio.Event()

    def begin(self) -> None:
        """Read as it comes; the writing end is the hook's alone from here on."""
        os.close(self.writing)
        self.writing = -1
        asyncio.get_running_loop().add_reader(self._reading, self._read)
        self._watching = True

    def _read(self) -> bool:
        try:
            block = os.read(self._reading, KEPT)
        except BlockingIOError:
            return False
        self.kept += block[: KEPT - len(self.kept)]
        self.seen += len(block)
        if self._heard is not None and block:
            self._heard(block)
        if self.seen > FLOOD:
            self.flooded.set()
        if not block:
            self._unwatch()
        return bool(block)

    def _unwatch(self) -> None:
        if self._watching:
            self._watching = False
            asyncio.get_running_loop().remove_reader(self._reading)

    def finish(self) -> None:
        """Take what is there still, and close. Twice is the same as once."""
        while self._reading >= 0 and self.seen <= FLOOD and self._read():
            pass
        self.close()

    def close(self) -> None:
        self._unwatch()
        for descriptor in (self._reading, self.writing):
            if descriptor >= 0:
                os.close(descriptor)
        self._reading = self.writing = -1


async def _wait(
    process: asyncio.subprocess.Process, drains: tuple[Drain, Drain], timeout: float
) -> str:
    """Until it ends, floods or runs out of time; the problem in words, if one of the latter."""
    loop = asyncio.get_running_loop()
    ended = loop.create_task(process.wait())
    floods = [loop.create_task(drain.flooded.wait()) for drain in drains]
    try:
        done, _ = await asyncio.wait(
            {ended, *floods}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        for task in (ended, *floods):
            task.cancel()
        await asyncio.gather(ended, *floods, return_exceptions=True)
    if ended in done:
        return ""
    return f"it printed more than {FLOOD // 1_000_000} MB" if done else f"timed out ({timeout:g} s)"


def _input(told: str) -> IO[bytes]:
    """A file without a name, so that a hook that never reads keeps nobody waiting."""
    stdin = tempfile.TemporaryFile()  # noqa: SIM115  the caller closes it
    stdin.write(told.encode("utf-8", "replace"))
    stdin.seek(0)
    return stdin


def _ended(code: int | None) -> str:
    if code is None:
        return "its end was not seen"
    if code < 0:
        return f"ended by signal {-code}"
    return f"ended with {code}" if code else ""


def _limited(
    command: Sequence[str], directory: Path, environment: Mapping[str, str]
) -> Sequence[str]:
    """The command under the given limit; as it is if nothing can be run, for the error's sake."""
    program, path = command[0] if command else "", environment.get("PATH", os.defpath)
    found = str(directory / program) if "/" in program else shutil.which(program, path=path)
    runs = found is not None and Path(found).is_file() and os.access(found, os.X_OK)
    return with_given_limit(command) if runs else command


def _not_started(error: OSError, directory: Path) -> str:
    if not directory.is_dir():
        return f"the directory {directory} is not there"
    if isinstance(error, FileNotFoundError):
        return "the program is not there"
    if isinstance(error, PermissionError):
        return "the program is not executable"
    return f"it could not be started: {error.strerror or error}"


def keep_output(path: Path, run: ShellRun, clean: Mapping[str, str]) -> None:
    """Write what a hook printed to its own file, 0600, in place of the last time's.

    `clean` holds the texts by heading, secrets taken out. A disk that refuses loses the file only.
    """
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{run.problem or 'ended with 0'} after {run.seconds:.2f} s\n")
            for heading, text in clean.items():
                if text:
                    file.write(f"--- {heading}\n{text.rstrip()}\n")

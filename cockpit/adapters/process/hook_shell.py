"""Run the program of a shell hook: an argument vector, one line of JSON on stdin, no shell.

The program gets few variables, its own session, and a marker (`COCKPIT_RUN`) by which all its
processes are found. When the program has ended or timed out, all remaining processes with the
marker are ended in the background. The program's output is read continuously and kept up to a
limit.
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
from pathlib import Path
from typing import IO

from cockpit.adapters.process.descriptors import with_given_limit
from cockpit.core.deferred_dataclass import dataclass
from cockpit.ports.processes import Processes, ProcessId

KEPT = 65_536
"""Maximum bytes kept of a hook's stdout and of its stderr."""
FLOOD = 8_000_000
"""Maximum bytes of a hook's stdout or stderr; with more, the hook is killed."""
PATIENCE = 0.4
"""Seconds between SIGTERM and SIGKILL for a hook that does not end."""
PASSED_ON = frozenset(
    {"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK"}
)
"""Variables of the supervisor that a hook gets, besides LC_*, XDG_* and cockpit's own."""


Heard = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class ShellRun:
    """The result of a hook's program."""

    seconds: float
    exit_code: int | None = None
    """Exit code of the program; negative for a signal, None if the program was not started or was
    killed by cockpit."""
    output: bytes = b""
    complaint: bytes = b""
    """The program's stderr."""
    problem: str = ""
    """Why the hook failed; "" after success."""


def hook_environment(
    environment: Mapping[str, str], more: Mapping[str, str], marker: str
) -> dict[str, str]:
    """Return a hook's environment: the variables of `environment` that hooks get, `more`, and the
    `COCKPIT_RUN` that all its processes inherit."""
    passed = {
        name: value
        for name, value in environment.items()
        if name in PASSED_ON or name.startswith(("LC_", "XDG_"))
    }
    return {**passed, **more, "COCKPIT_RUN": marker}


class ShellHooks:
    """Runs hook programs, and ends their remaining processes."""

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
        """A folder with one empty file per `COCKPIT_RUN` in use, so that a restarted supervisor
        finds the processes."""
        self._kind = mark
        """Prefix of a hook's `COCKPIT_RUN`. In the supervisor's API, processes with the prefix
        `hook` have the user's rights; processes with another prefix have an agent's rights."""
        self._ending: set[asyncio.Task[None]] = set()

    async def run(
        self,
        command: Sequence[str],
        payload: str,
        *,
        directory: Path,
        more: Mapping[str, str],
        timeout: float,
        heard: Heard | None = None,
    ) -> ShellRun:
        """Run a program until its end or its time limit in seconds. Never raises for a failure.

        `heard` is called with output of both streams as it arrives.
        """
        started = time.monotonic()
        marker = self._mark()
        output, complaint = Drain(heard), Drain(heard)
        try:
            process = await self._start(
                command,
                payload,
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
            self._end_in_background(process, identity, marker)
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
        payload: str,
        directory: Path,
        environment: Mapping[str, str],
        drains: tuple[Drain, Drain],
    ) -> asyncio.subprocess.Process:
        with _input(payload) as stdin:
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

    def _end_in_background(
        self, process: asyncio.subprocess.Process, identity: ProcessId | None, marker: str
    ) -> None:
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
        """End processes left by the hooks of a killed supervisor. Call this before the first
        run."""
        if self._running is None or not self._running.is_dir():
            return
        for file in sorted(self._running.glob("*-*")):
            await self._processes.end(None, file.name, patience=PATIENCE)
            self._unmark(file.name)

    async def close(self) -> None:
        """Wait until the remaining processes of finished hooks have ended; a few seconds at
        most."""
        while self._ending:
            await asyncio.gather(*tuple(self._ending), return_exceptions=True)


class Drain:
    """Reads a hook's output: keeps the beginning, counts and drops the rest.

    Does not wait for the hook's grandchildren, which may keep the pipe open.
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
        """Start to read. After this, only the hook has the pipe's write end."""
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
        """Read the rest of the output and close the pipe. Idempotent."""
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
    """Wait until the program ends, prints too much or times out; return the problem, "" for
    none."""
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
    return f"printed more than {FLOOD // 1_000_000} MB" if done else f"timed out ({timeout:g} s)"


def _input(payload: str) -> IO[bytes]:
    """Return the input as an unnamed temporary file, so that a hook that never reads does not block
    cockpit."""
    stdin = tempfile.TemporaryFile()  # noqa: SIM115  the caller closes it
    stdin.write(payload.encode("utf-8", "replace"))
    stdin.seek(0)
    return stdin


def _ended(code: int | None) -> str:
    if code is None:
        return "exit code unknown"
    if code < 0:
        return f"killed by signal {-code}"
    return f"exit code {code}" if code else ""


def _limited(
    command: Sequence[str], directory: Path, environment: Mapping[str, str]
) -> Sequence[str]:
    """Return the command with the original limit of open files; unchanged if the program cannot be
    run, so that the error names the program."""
    program, path = command[0] if command else "", environment.get("PATH", os.defpath)
    executable = str(directory / program) if "/" in program else shutil.which(program, path=path)
    runs = executable is not None and Path(executable).is_file() and os.access(executable, os.X_OK)
    return with_given_limit(command) if runs else command


def _not_started(error: OSError, directory: Path) -> str:
    if not directory.is_dir():
        return f"the directory {directory} does not exist"
    if isinstance(error, FileNotFoundError):
        return "the program does not exist"
    if isinstance(error, PermissionError):
        return "the program is not executable"
    return f"cockpit could not start the program: {error.strerror or error}"


def keep_output(path: Path, run: ShellRun, clean: Mapping[str, str]) -> None:
    """Write a hook's output to its file, with mode 0600, replacing the previous output.

    `clean`: the texts by heading, without secrets. Disk errors are ignored.
    """
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(f"{run.problem or 'exit code 0'} after {run.seconds:.2f} s\n")
            for heading, text in clean.items():
                if text:
                    file.write(f"--- {heading}\n{text.rstrip()}\n")

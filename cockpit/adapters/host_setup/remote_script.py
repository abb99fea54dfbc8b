"""Run a shell script on another machine, through the host's `connect` command.

The command is `connect` followed by `sh -s`, and the script goes through stdin. So the login shell,
which may be fish or csh, parses no word of the script. The same command works with `docker exec`
and `kubectl exec`, which use no shell; `exec sh -s` would need one.

A script marks its answers: each line is MARKER KEY VALUE, with a random marker. Banners and the
output of start-up files cannot be mistaken for an answer. Output is bounded. After the time limit,
the process is ended, which takes at most three seconds.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from cockpit.core.errors import CockpitError, Failed, ProgramMissing
from cockpit.core.safetext import quoted, safe_line

MOST_BYTES = 2_000_000
"""Maximum bytes that are read from a host; the rest is cut off."""
STDERR_BYTES = 4096
GRACE_SECONDS = 1.0
"""Seconds within which the process must exit after its script has ended."""
_LOOK_SECONDS = 0.2
"""Seconds between two checks whether a silent process has exited."""
_BLOCK = 65_536


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """The answer of a script that ran on another machine. Texts are safe to show."""

    lines: tuple[tuple[str, str], ...] = ()
    """Keys and values, in the order in which they arrived; values are not shortened."""
    complete: bool = False
    """Whether the script ran to its end."""
    code: int | None = None
    """Exit code; None if the process had to be ended."""
    timed_out: bool = False
    cut_off: bool = False
    """Whether the host sent more than `MOST_BYTES`."""
    round_trip: float | None = None
    """The round trip of one line on the open connection, in seconds; None if not measured."""
    errors: tuple[str, ...] = ()
    """The last lines of stderr, at most three."""
    noise: str = ""
    """The first line on stdout that was not an answer."""

    @property
    def started(self) -> bool:
        """Whether the script began to run on the host."""
        return any(key == "ready" for key, _ in self.lines)

    def value(self, key: str) -> str:
        """Return the last value of a key; empty if there is none."""
        return next((value for name, value in reversed(self.lines) if name == key), "")


def without_questions(connect: Sequence[str]) -> list[str]:
    """Return `connect`, with the options that keep `ssh` from asking and from opening a terminal.

    A terminal would echo the script, and change its line endings.
    """
    if PurePath(connect[0]).name == "ssh":
        return [connect[0], "-oBatchMode=yes", "-T", *connect[1:]]
    return list(connect)


def run_script(
    connect: Sequence[str],
    script: str,
    *,
    seconds: float,
    payload: bytes = b"",
    heard: Callable[[str, str], None] | None = None,
) -> ScriptAnswer:
    """Run a script on a host and return its answer, even if the script fails or is too slow.

    `payload` is sent when the script prints `send`; then the script's stdin ends. `heard` is called
    with each key and value that arrives. Raises `ProgramMissing` or `Failed` if `connect` does not
    start.
    """
    marker = secrets.token_hex(16)
    run = _Run(marker, f"marker={marker}\n{script}\n".encode(), payload, heard)
    argv = [*without_questions(connect), "sh", "-s"]
    try:
        process = subprocess.Popen(
            argv,
            env={**os.environ, "SSH_ASKPASS_REQUIRE": "never"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise _not_started(connect, error) from error
    with process:
        try:
            run.follow(process, time.monotonic() + seconds)
        finally:
            code = _end(process)
    return run.answer(code)


@dataclass
class _Run:
    """One script that is running on another machine."""

    marker: str
    _unsent: bytes
    _payload: bytes
    _heard: Callable[[str, str], None] | None
    _lines: list[tuple[str, str]] = field(default_factory=list)
    _rest: bytes = b""
    _errors: bytes = b""
    _noise: str = ""
    _received: int = 0
    _pinged: float = 0.0
    _round_trip: float | None = None
    _timed_out: bool = False
    _last: bool = False
    """Whether stdin ends after the unsent data."""

    def follow(self, process: subprocess.Popen[bytes], end: float) -> None:
        """Write and read until the script ends, the process exits, or a limit is reached."""
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for stream in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ, "out")
            ready.register(process.stderr, selectors.EVENT_READ, "err")
            ready.register(process.stdin, selectors.EVENT_WRITE, "in")
            while "out" in {key.data for key in ready.get_map().values()}:
                left = end - time.monotonic()
                if left <= 0:
                    self._timed_out = True
                    return
                # Checked before the wait, because a process can send its last output and exit
                # during the wait.
                exited = process.poll() is not None
                events = ready.select(min(left, _LOOK_SECONDS))
                if not events and exited:
                    return  # another process holds the output open, such as a shared connection
                for key, _ in events:
                    self._act(ready, key)
                if self._received > MOST_BYTES or self._is_over:
                    return
                self._write_again(ready, process)

    def _act(self, ready: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        if key.data == "in":
            self._write(ready, key)
            return
        data = _read(key.fd)
        if data is None:
            return
        if not data:
            ready.unregister(key.fileobj)
        self._received += len(data)
        if key.data == "err":
            self._errors = (self._errors + data)[-STDERR_BYTES:]
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line.decode(errors="replace").rstrip("\r"))

    def _take(self, line: str) -> None:
        mark, _, message = line.partition(" ")
        if mark != self.marker:
            self._noise = self._noise or safe_line(line.strip(), 200)
            return
        key, _, value = message.partition(" ")
        # Values may be shown in a terminal, so they are made safe here. The caller limits their
        # length.
        value = safe_line(value.strip(), MOST_BYTES)
        self._lines.append((key, value))
        if key == "ready":
            self._unsent += b"\n"
            self._pinged = time.monotonic()
        elif key == "echo" and self._pinged:
            self._round_trip = time.monotonic() - self._pinged
        elif key == "send":
            self._unsent, self._last = self._payload, True
        if self._heard is not None:
            self._heard(key, value)

    def _write(self, ready: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        try:
            sent = os.write(key.fd, self._unsent[:_BLOCK]) if self._unsent else 0
        except BlockingIOError:
            return
        except OSError:  # the program stopped reading; its exit code and its error show why
            sent, self._last = len(self._unsent), True
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            ready.unregister(key.fileobj)
            if self._last:
                _close(key.fileobj)

    def _write_again(self, ready: selectors.BaseSelector, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        waiting = {key.data for key in ready.get_map().values()}
        if self._unsent and "in" not in waiting and not process.stdin.closed:
            ready.register(process.stdin, selectors.EVENT_WRITE, "in")

    @property
    def _is_over(self) -> bool:
        return bool(self._lines) and self._lines[-1][0] == "end"

    def answer(self, code: int | None) -> ScriptAnswer:
        text = self._errors.decode(errors="replace")
        errors = [safe_line(line.strip(), 200) for line in text.splitlines()]
        return ScriptAnswer(
            tuple(self._lines),
            self._is_over,
            code,
            self._timed_out,
            self._received > MOST_BYTES,
            self._round_trip,
            tuple(line for line in errors if line)[-3:],
            self._noise,
        )


def _read(file: int) -> bytes | None:
    """Read available data. None if no data has arrived yet; empty at the end of the data or after
    an error."""
    try:
        return os.read(file, _BLOCK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _close(stream: object) -> None:
    with contextlib.suppress(OSError):
        stream.close()  # type: ignore[attr-defined]


def _end(process: subprocess.Popen[bytes]) -> int | None:
    """End the process group: close its input, wait, then SIGTERM, then SIGKILL.

    Return the process's exit code if the process exited by itself, else None.
    """
    _close(process.stdin)
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(GRACE_SECONDS)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
            break
    return None


def _not_started(connect: Sequence[str], error: OSError) -> CockpitError:
    if isinstance(error, FileNotFoundError | PermissionError):
        return ProgramMissing(
            f"Cannot run {quoted(connect[0])} on this machine",
            "The connection to the host needs this program.",
            "Install it, or use another command to connect.",
        )
    return Failed(
        "Cannot start the connection to the host", str(error), hint="Check the command to connect."
    )

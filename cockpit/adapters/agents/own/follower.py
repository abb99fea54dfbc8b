"""Pass new lines of an agent's record to the user's reader, which converts the lines for cockpit.

Usage: `python -I -S follower.py PID SPEC`. Until process PID has ended, new lines of the record go
to the reader's stdin, and the reader's output goes to one of cockpit's files. The reader is not a
child of the supervisor, so a restart of the supervisor neither loses lines nor reads a record
twice. If the reader fails or exceeds a limit, or the record is replaced too often, the script ends
the reader and appends the reason to the file. The script imports nothing of cockpit, because the
package is not on the script's import path, and runs no shell.
"""

from __future__ import annotations

import json
import os
import select
import selectors
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from typing import IO, Any

USES_LINUX = sys.platform == "linux" and not os.environ.get("COCKPIT_PORTABLE")
"""Whether Linux features are used, as in `config.kernel`, which cannot be imported here."""
LOOK = 0.1
"""Seconds between checks of the record and of the agent's process."""
PIECE = 64 * 1024
LONGEST_LINE = 1024 * 1024
"""Maximum bytes of one line of the reader's output."""
MOST_ANSWERED = 256 * 1024 * 1024
"""Maximum bytes of the reader's output."""
MOST_MEMORY = 512 * 1024 * 1024
"""Maximum bytes of memory of the reader and its children; checked on Linux only."""
PATIENCE = 30.0
"""Maximum seconds for which the reader may leave its pending input unread."""
REST_PATIENCE = 10.0
"""Seconds after the agent's end within which the reader must read all of its input."""
END_PATIENCE = 1.5
"""Seconds within which the reader must exit after the end of its input."""
MOST_RESTARTS = 20
"""Number of replacements or truncations of the record after which the follower gives up."""


class Fault(Exception):
    """The reader failed or exceeded a limit, or the record was replaced too often."""


class Replaced(Exception):
    """The record was replaced or truncated, and must be read from its start again."""


class Follower:
    """Passes one agent's record to the reader until the agent's process, `pid`, has ended."""

    def __init__(self, spec: dict[str, Any], pid: int) -> None:
        self.record: str = spec["record"]
        self.reader: list[str] = spec["reader"]
        self.first_line: str = spec["first_line"]
        self.pid = pid
        self.descriptor = _opened(pid)
        self.answers = os.open(
            spec["answers"], os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )

    def run(self) -> None:
        """Follow the record until the agent has ended. After a fault, stop earlier and write the
        fault's text to the output file."""
        try:
            for _ in range(MOST_RESTARTS):
                try:
                    return self._read_once()
                except Replaced:
                    continue
            raise Fault(f"the record was replaced or truncated {MOST_RESTARTS} times")
        except Fault as fault:
            self.write(json.dumps({"fault": str(fault)}).encode() + b"\n")

    def _read_once(self) -> None:
        os.ftruncate(self.answers, 0)
        os.lseek(self.answers, 0, os.SEEK_SET)
        self.write(self.first_line.encode() + b"\n")
        try:
            process = subprocess.Popen(
                self.reader,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise Fault(f"cannot run the reader {self.reader[0]}: {error.strerror}") from None
        try:
            Reading(self, process).run()
        finally:
            # Kills the reader's children too. The reader was not reaped yet, so no other process
            # can have its group id.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def write(self, data: bytes) -> None:
        """Append `data` to the output file."""
        while data:
            data = data[os.write(self.answers, data) :]

    def is_alive(self) -> bool:
        """Return whether the agent's process is still running."""
        if self.descriptor is not None:
            return not select.select([self.descriptor], [], [], 0)[0]
        try:
            os.kill(self.pid, 0)
        except OSError:
            return False
        return True


def _opened(pid: int) -> int | None:
    """Return a pidfd of the process; None if the system has no pidfds, or if the process has
    ended."""
    try:
        return os.pidfd_open(pid) if USES_LINUX else None
    except OSError:
        return None


class Reading:
    """Passes the whole record, from its beginning, to one process of the reader."""

    def __init__(self, follower: Follower, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.follower = follower
        self.process = process
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout
        self.offset = 0
        self.file: tuple[int, int] | None = None
        self.pending = b""
        self.line = b""
        self.answered = 0
        self.taken_at = time.monotonic()
        self.measured_at = 0.0
        for pipe in (self.stdin, self.stdout):
            os.set_blocking(pipe.fileno(), False)

    def run(self) -> None:
        """Follow the record until the agent has ended and the reader has exited.

        Raises `Fault` or `Replaced`.
        """
        rest_until = None
        while True:
            # Checked before the record is read, so that an ended agent's last lines are not lost.
            alive = self.follower.is_alive()
            if not self._give() and not alive:
                return self._end()
            self._exchange(LOOK)
            self._check_limits()
            if not alive:
                rest_until = rest_until or time.monotonic() + REST_PATIENCE
                if time.monotonic() > rest_until:
                    raise Fault(
                        f"the reader had unread input {REST_PATIENCE} s after the agent's end"
                    )

    def _give(self) -> bool:
        if not self.pending:
            self.pending = self._next_piece()
            self.taken_at = time.monotonic()
        return bool(self.pending)

    def _next_piece(self) -> bytes:
        try:
            before = os.stat(self.follower.record)  # noqa: PTH116  pathlib costs a slow import
            if not _is_ours(before):
                return b""
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            descriptor = os.open(self.follower.record, flags)
        except OSError:
            return b""
        try:
            file_status = os.fstat(descriptor)
            if not _is_ours(file_status):
                return b""
            file = file_status.st_dev, file_status.st_ino
            if (self.file not in (None, file)) or file_status.st_size < self.offset:
                raise Replaced
            self.file = file
            piece = os.pread(descriptor, PIECE, self.offset)
        except OSError:
            return b""
        finally:
            os.close(descriptor)
        self.offset += len(piece)
        return piece

    def _exchange(self, seconds: float) -> None:
        """Write pending input to the reader, and read its output. Waits for at most `seconds`."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.stdout, selectors.EVENT_READ)
            if self.pending:
                selector.register(self.stdin, selectors.EVENT_WRITE)
            ready = [key.fileobj for key, _ in selector.select(seconds)]
        if self.stdin in ready:
            try:
                self.pending = self.pending[os.write(self.stdin.fileno(), self.pending) :]
                self.taken_at = time.monotonic()
            except BlockingIOError:
                pass
            except BrokenPipeError:
                raise Fault(f"the reader {self._ending()}") from None
        if self.pending and time.monotonic() - self.taken_at > PATIENCE:
            raise Fault(f"the reader did not read its input for {PATIENCE:.0f} s")
        if self.stdout in ready and not self._take():
            raise Fault(f"the reader {self._ending()}")

    def _take(self) -> bool:
        """Write complete lines of the output to the file; return False at the end of the output."""
        try:
            piece = os.read(self.stdout.fileno(), PIECE)
        except BlockingIOError:
            return True
        if not piece:
            return False
        self.answered += len(piece)
        if self.answered > MOST_ANSWERED:
            raise Fault(f"the reader printed more than {MOST_ANSWERED >> 20} MiB")
        complete, newline, self.line = (self.line + piece).rpartition(b"\n")
        if len(self.line) > LONGEST_LINE or any(
            len(line) > LONGEST_LINE for line in complete.split(b"\n")
        ):
            raise Fault(f"the reader printed a line of more than {LONGEST_LINE >> 10} KiB")
        self.follower.write(complete + newline)
        return True

    def _end(self) -> None:
        """Close the reader's input, and read the rest of its output."""
        with suppress(OSError):
            self.stdin.close()
        until = time.monotonic() + END_PATIENCE
        while (left := until - time.monotonic()) > 0:
            with selectors.DefaultSelector() as selector:
                selector.register(self.stdout, selectors.EVENT_READ)
                if selector.select(left) and not self._take():
                    return
        raise Fault(f"the reader did not exit within {END_PATIENCE} s after the end of its input")

    def _ending(self) -> str:
        # Not reaped: the process group's id could be reused before the group is killed.
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        until = time.monotonic() + 1
        while (status := os.waitid(os.P_PID, self.process.pid, flags)) is None:
            if time.monotonic() > until:
                return "closed its stdout"
            time.sleep(0.01)
        if status.si_code == os.CLD_EXITED:
            return f"exited with code {status.si_status}"
        return f"was killed by signal {status.si_status}"

    def _check_limits(self) -> None:
        now = time.monotonic()
        if now - self.measured_at < 1:
            return
        self.measured_at = now
        if sum(map(_memory, _family(self.process.pid))) > MOST_MEMORY:
            raise Fault(f"the reader used more than {MOST_MEMORY >> 20} MiB of memory")


def _is_ours(file_status: os.stat_result) -> bool:
    """Return whether this is a regular file of the current user or of root.

    Reading other kinds of files could block.
    """
    return stat.S_ISREG(file_status.st_mode) and file_status.st_uid in (os.geteuid(), 0)


def _family(pid: int) -> list[int]:
    pids = [pid]
    for parent in pids:
        children = f"/proc/{parent}/task/{parent}/children"
        with suppress(OSError, ValueError), open(children, "rb") as file:  # noqa: PTH123
            pids += map(int, file.read().split())
    return pids


def _memory(pid: int) -> int:
    """Return the bytes of memory that a process uses; 0 if the system does not report it."""
    if not USES_LINUX:
        return 0
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    Follower(json.loads(sys.argv[2]), int(sys.argv[1])).run()

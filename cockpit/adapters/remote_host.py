"""Connect to another machine's supervisor, through a command such as `ssh`.

Each connection is a process that runs `connect` followed by `cockpit dial-stdio`, as one argument
vector without a local shell. `ssh` joins the words after the host with spaces, and the remote login
shell parses them. So only fixed words and checked names are appended to `connect`.

The process's stdin and stdout are one end of a socket pair. If the connection breaks, the process's
exit code and stderr give the reason.

The process has no terminal and may not open a window, so it cannot ask for a password on top of the
screen. An option makes `ssh` ask no questions either. Otherwise, `ssh` would try empty passwords
for every request, until the host locks the user out.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import PurePath

from cockpit.config.kernel import USES_LINUX
from cockpit.core.errors import DIAL_UNREACHABLE, CockpitError, Failed, NoSupervisor, ProgramMissing
from cockpit.core.ids import AgentName
from cockpit.core.safetext import quoted, safe_line

DIAL = ("cockpit", "dial-stdio")
STEP_COMMAND = ("cockpit", "move-step")
MULTIPLEX = "--multiplex"
"""Option of `dial-stdio` that carries several connections. Older versions do not have it."""
GRACE_SECONDS = 1.0
"""Seconds within which a process must exit by itself after its connection is closed."""
TERM_SECONDS = 1.0
STDERR_BYTES = 4096
"""Maximum bytes read from the end of stderr."""

NO_SUPERVISOR = 4
"""Exit code of `dial-stdio` if no supervisor is running."""
UNREACHABLE = "The supervisor is running but not answering"
"""The error message if `dial-stdio` exits with `DIAL_UNREACHABLE` and prints no error."""
WRONG_OPTION = 2
"""Exit code of `dial-stdio` for an unknown option."""
NOT_FOUND = (126, 127)
"""Exit codes of a shell and of `env` for a program that is missing or cannot be run."""


class RemoteHost:
    """A configured host; `name` is the user's name for it."""

    remark = ""

    def __init__(self, name: str, connect: Sequence[str], attach: Sequence[str] = ()) -> None:
        self.name = name
        self.connect = tuple(connect)
        self._attach = tuple(attach)

    def dial(self, *options: str) -> RemoteConnection:
        """Open a connection. Raises `ProgramMissing` or `Failed` if the command does not start.

        `options` are for `dial-stdio`.
        """
        return self._run(*DIAL, *options)

    def step(self) -> RemoteConnection:
        """Run `cockpit move-step` on the host. Raises like `dial`."""
        return self._run(*STEP_COMMAND)

    def _run(self, *command: str) -> RemoteConnection:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                return self.run_on(ours, theirs, *command)
        except CockpitError:
            ours.close()
            raise

    def run_on(self, ours: socket.socket, theirs: socket.socket, *command: str) -> RemoteConnection:
        """Run a command on the host with `theirs` as stdin and stdout; return the connection on
        `ours`.

        `ours` and `theirs` are the ends of a socket pair. `command` must be fixed words. The caller
        closes `theirs`, and on an error `ours` too. Raises like `dial`.
        """
        stderr = _unnamed_file()
        try:
            process = subprocess.Popen(
                [*self._without_questions(), *command],
                env={**os.environ, "SSH_ASKPASS_REQUIRE": "never"},
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            os.close(stderr)
            raise self._not_started(error) from error
        return RemoteConnection(self, ours, process, stderr)

    def _without_questions(self) -> tuple[str, ...]:
        """Return `connect`, with the option that keeps `ssh` from asking questions."""
        if PurePath(self.connect[0]).name == "ssh":
            return (self.connect[0], "-oBatchMode=yes", *self.connect[1:])
        return self.connect

    def attach_command(self, agent: AgentName) -> list[str]:
        """Return the argument vector that shows a remote agent's pane in the caller's terminal.

        Without an `attach` command, uses `connect`, and makes `ssh` allocate a terminal.
        """
        argv = self._attach or self.connect
        if not self._attach and PurePath(argv[0]).name == "ssh":
            argv = (argv[0], "-t", *argv[1:])
        return [*argv, "cockpit", "attach", agent, "--aside"]

    def command(self, *arguments: str) -> list[str]:
        """Return the argument vector that runs `cockpit` on the host. `arguments` must be fixed
        words or checked names.
        """
        return [*self.connect, "cockpit", *arguments]

    def by_hand(self, *arguments: str) -> str:
        """Return the command that runs `cockpit` on the host, for the user to type on this
        machine."""
        return shlex.join(self.command(*arguments))

    def broken(self, code: int | None, words: list[str], received: bytes = b"") -> CockpitError:
        """Return the error for a broken connection.

        `code` is the exit code of the process, None if it has not ended; `words` are its last lines
        on stderr; `received` has the bytes that did not come from a supervisor.
        """
        if code == DIAL_UNREACHABLE:
            return NoSupervisor(
                f"{self.name}: {words[0].removeprefix('cockpit: ') if words else UNREACHABLE}",
                "\n".join(words[1:2]),
                f"To check it: {self.by_hand('doctor')}",
            )
        if code == NO_SUPERVISOR:
            return NoSupervisor(
                f"No supervisor is running on {self.name}",
                "\n".join(words[1:2]),
                f"Start it with: {self.by_hand('up')}",
            )
        if code in NOT_FOUND:
            return NoSupervisor(
                f"cockpit was not found on {self.name}",
                "\n".join(words),
                "cockpit must be in the PATH of a non-login shell on the host. To see the fix: "
                f"cockpit hosts check {self.name}",
            )
        if received and code in (0, None):
            text = safe_line(received[:80].decode(errors="replace"), 60)
            return NoSupervisor(
                f"Host {self.name} did not answer like a supervisor",
                f"The host sent {quoted(text)}." if text else "The host sent control characters.",
                f"Another program answers on the host. Try: {self.by_hand('status')}",
            )
        if code in (0, None):
            return NoSupervisor(
                f"Lost connection to the supervisor on {self.name}",
                "\n".join(words) or "The connection ended.",
                f"To check it: {self.by_hand('doctor')}",
            )
        return NoSupervisor(
            f"Cannot reach host {self.name}",
            "\n".join(words) or f"{safe_line(self.connect[0])} {_end_of(code)}.",
            f"Try it manually: {self.by_hand('status')}",
        )

    def _not_started(self, error: OSError) -> CockpitError:
        if isinstance(error, FileNotFoundError | PermissionError):
            return ProgramMissing(
                f"Cannot run {quoted(self.connect[0])} on this machine",
                f"Host {self.name} needs this program.",
                "Install it, or change the host's `connect` in cockpit.toml.",
            )
        return Failed(
            f"Cannot start the connection to host {self.name}",
            str(error),
            hint="Check the host's `connect` in cockpit.toml.",
        )


class RemoteConnection:
    """A process that connects to a host, for one request."""

    slow_to_end = True

    def __init__(
        self,
        host: RemoteHost,
        channel: socket.socket,
        process: subprocess.Popen[bytes],
        stderr: int,
    ) -> None:
        self.channel = channel
        self._host = host
        self._process = process
        self._stderr: int | None = stderr

    def broken(self, received: bytes = b"") -> CockpitError:
        """Return the error for a broken connection, from exit code and stderr. Waits briefly for
        both."""
        code = self._exit_code(GRACE_SECONDS)
        return self._host.broken(code, self._last_error_lines(), received)

    def lacks_option(self, option: str) -> bool:
        """Return whether the process has ended because the host's `dial-stdio` does not have the
        option."""
        code = self._exit_code(GRACE_SECONDS)
        return code == WRONG_OPTION and any(option in line for line in self._last_error_lines())

    def silent(self, seconds: float) -> CockpitError:
        host = self._host
        return NoSupervisor(
            f"Host {host.name} does not answer",
            "\n".join(self._last_error_lines()) or f"No data in {seconds:g} s.",
            f"Try it manually: {host.by_hand('status')}",
        )

    def end(self) -> None:
        """Close the connection and end the process group: wait, then SIGTERM, then SIGKILL."""
        with contextlib.suppress(OSError):
            self.channel.shutdown(socket.SHUT_RDWR)
        self.channel.close()
        if self._exit_code(GRACE_SECONDS) is None:
            self._signal(signal.SIGTERM)
            if self._exit_code(TERM_SECONDS) is None:
                self._signal(signal.SIGKILL)
                self._process.wait()
        if self._stderr is not None:
            os.close(self._stderr)
            self._stderr = None

    def _signal(self, number: signal.Signals) -> None:
        # The process was not reaped yet, so the group's id is still valid.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _exit_code(self, patience: float) -> int | None:
        try:
            return self._process.wait(patience)
        except subprocess.TimeoutExpired:
            return None

    def _last_error_lines(self) -> list[str]:
        if self._stderr is None:
            return []
        size = os.fstat(self._stderr).st_size
        output = os.pread(self._stderr, STDERR_BYTES, max(0, size - STDERR_BYTES))
        text = output.decode(errors="replace")
        lines = (safe_line(line.strip(), 200) for line in text.splitlines())
        return [line for line in lines if line][-3:]


def _unnamed_file() -> int:
    if USES_LINUX:
        return os.memfd_create("words", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _end_of(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"

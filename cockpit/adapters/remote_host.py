"""Another machine's supervisor, reached by a command that runs a command there.

`connect` and `cockpit dial-stdio`, as one argument vector: no shell of ours reads it. (`ssh` joins
the words that follow its host with spaces and has the login shell there read them, so only fixed
words, and names that were checked, are ever put after `connect`.) A line is one such process; its
standard input and output are one socket, whose other end is ours. What it says on standard error
is kept and becomes the reason when the line breaks. It knows nothing of HTTP.

The process has no terminal and may open no window, so that it cannot ask for a password over a
screen that is drawn. `ssh` is told so too: it would try empty passwords, at every call, until the
host or its guard locks the user out.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import PurePath

from cockpit.core.errors import CockpitError, Failed, NoSupervisor, ProgramMissing
from cockpit.core.ids import AgentName
from cockpit.core.safetext import quoted, safe_line

DIAL = ("cockpit", "dial-stdio")
ITSELF_SECONDS = 1.0
"""How long a process may take to end by itself once its line is cut."""
TERM_SECONDS = 1.0
LAST_WORDS = 4096
"""Bytes of standard error that are looked at: the end of it."""

NO_SUPERVISOR = 4
"""Exit code of `dial-stdio` where nobody answers."""
NOT_FOUND = (126, 127)
"""Exit codes of a shell, and of `env`, for a program that is not there or cannot be run."""


class FarHost:
    """A configured host: `name` is the user's word for it."""

    def __init__(self, name: str, connect: Sequence[str], attach: Sequence[str] = ()) -> None:
        self.name = name
        self.connect = tuple(connect)
        self._attach = tuple(attach)

    def dial(self) -> FarLine:
        """A new line. Raises `ProgramMissing` and `Failed` when the command cannot be started."""
        ours, theirs = socket.socketpair()
        words = os.memfd_create("words", os.MFD_CLOEXEC)
        try:
            with theirs:
                process = subprocess.Popen(
                    [*self._silently(), *DIAL],
                    env={**os.environ, "SSH_ASKPASS_REQUIRE": "never"},
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=words,
                    start_new_session=True,
                )
        except OSError as error:
            ours.close()
            os.close(words)
            raise self._not_started(error) from error
        return FarLine(self, ours, process, words)

    def _silently(self) -> tuple[str, ...]:
        """`connect`, for when nobody can answer."""
        if PurePath(self.connect[0]).name == "ssh":
            return (self.connect[0], "-oBatchMode=yes", *self.connect[1:])
        return self.connect

    def attach_command(self, agent: AgentName) -> list[str]:
        """The argument vector that shows an agent's pane there in the caller's terminal.

        Without an `attach` of its own a host is reached as by `connect`, and `ssh` is told to
        have a terminal there.
        """
        argv = self._attach or self.connect
        if not self._attach and PurePath(argv[0]).name == "ssh":
            argv = (argv[0], "-t", *argv[1:])
        return [*argv, "cockpit", "attach", agent, "--aside"]

    def command(self, *words: str) -> list[str]:
        """The argument vector that runs `cockpit` there; only fixed words, see above."""
        return [*self.connect, "cockpit", *words]

    def by_hand(self, *words: str) -> str:
        """The command that runs `cockpit` there, as it would be typed here."""
        return shlex.join(self.command(*words))

    def _not_started(self, error: OSError) -> CockpitError:
        if isinstance(error, FileNotFoundError | PermissionError):
            return ProgramMissing(
                f"{quoted(self.connect[0])} cannot be run on this machine",
                f"Host {self.name} is reached with it.",
                "Install it, or change connect of that host in cockpit.toml.",
            )
        return Failed(f"Host {self.name} could not be called", str(error))


class FarLine:
    """One process that carries one exchange."""

    slow_to_end = True

    def __init__(
        self, host: FarHost, channel: socket.socket, process: subprocess.Popen[bytes], words: int
    ) -> None:
        self.channel = channel
        self._host = host
        self._process = process
        self._words: int | None = words

    def broken(self, said: bytes = b"") -> CockpitError:
        """The reason, from its exit code and last words; waits a moment for both."""
        host, words = self._host, self._last_words
        if said:
            return NoSupervisor(
                f"What host {host.name} says is no answer of a supervisor",
                f"It begins with {quoted(safe_line(said[:80].decode(errors='replace'), 60))}.",
                "A command that is run there must print nothing of its own (a greeting in a "
                f"shell's start-up file?). Try: {host.by_hand('status')}",
            )
        code = self._exit_code(ITSELF_SECONDS)
        if code == NO_SUPERVISOR:
            if said_there := _unreachable_there(words()):
                return NoSupervisor(
                    f"{host.name}: {said_there}",
                    "\n".join(words()[1:2]),
                    f"See what it does with: {host.by_hand('doctor')}",
                )
            return NoSupervisor(
                f"No supervisor is running on {host.name}",
                "\n".join(words()[1:2]),
                f"Start it with: {host.by_hand('up')}",
            )
        if code in NOT_FOUND:
            return NoSupervisor(
                f"There is no cockpit on {host.name}",
                "\n".join(words()),
                "It must be on the PATH of a command that is run there without a login, or "
                f"connect must say where it is. Try: {host.by_hand('--version')}",
            )
        if code in (0, None):
            return NoSupervisor(
                f"Lost connection to the supervisor on {host.name}",
                "\n".join(words()) or "The connection ended.",
                f"See what it does with: {host.by_hand('doctor')}",
            )
        return NoSupervisor(
            f"Host {host.name} is not reached",
            "\n".join(words()) or f"{safe_line(host.connect[0])} {_end_of(code)}.",
            f"Try it by hand: {host.by_hand('status')}",
        )

    def silent(self, seconds: float) -> CockpitError:
        host = self._host
        return NoSupervisor(
            f"Host {host.name} does not answer",
            "\n".join(self._last_words()) or f"Nothing came in {seconds:g} s.",
            f"Try it by hand: {host.by_hand('status')}",
        )

    def end(self) -> None:
        """Cut the line, and see the process and what it began out: by itself, TERM, KILL."""
        with contextlib.suppress(OSError):
            self.channel.shutdown(socket.SHUT_RDWR)
        self.channel.close()
        if self._exit_code(ITSELF_SECONDS) is None:
            self._signal(signal.SIGTERM)
            if self._exit_code(TERM_SECONDS) is None:
                self._signal(signal.SIGKILL)
                self._process.wait()
        if self._words is not None:
            os.close(self._words)
            self._words = None

    def _signal(self, number: signal.Signals) -> None:
        # Not waited for yet, so the group's number is still its own.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _exit_code(self, patience: float) -> int | None:
        try:
            return self._process.wait(patience)
        except subprocess.TimeoutExpired:
            return None

    def _last_words(self) -> list[str]:
        """The last lines of its standard error, safe to be shown."""
        if self._words is None:
            return []
        size = os.fstat(self._words).st_size
        said = os.pread(self._words, LAST_WORDS, max(0, size - LAST_WORDS))
        text = said.decode(errors="replace")
        lines = (safe_line(line.strip(), 200) for line in text.splitlines())
        return [line for line in lines if line][-3:]


def _unreachable_there(words: list[str]) -> str:
    """What `cockpit` said there of a supervisor that runs and is not reached; empty otherwise."""
    title = words[0].removeprefix("cockpit: ") if words else ""
    return title if title.startswith("A supervisor runs ") else ""


def _end_of(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

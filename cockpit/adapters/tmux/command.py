"""Run commands on the private tmux server, and convert tmux's errors to cockpit's.

One call starts one `tmux` client, which runs a sequence of commands and has a time limit. The
server runs a sequence as one step: no other client's command runs in between.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cockpit.adapters.process.descriptors import with_given_limit
from cockpit.adapters.tmux.config import OLDEST
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import Failed, ProgramMissing
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import PaneGone, PaneOccupied, PanesSilent

LONGEST_SOCKET_PATH = 107 if sys.platform == "linux" else 103
"""Maximum bytes of a socket's path. tmux's own error is only "File name too long"."""

NEEDED = frozenset({"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TERMINFO", "TERMINFO_DIRS"})

INSTALL_HINT = "Install tmux (Debian: apt-get install tmux; macOS: brew install tmux)."
NEWER_SOURCES = (
    "from your distribution's backports, with brew install tmux, or from source: "
    "https://github.com/tmux/tmux/wiki/Installing"
)
UPGRADE_HINT = f"Install a newer tmux: {NEWER_SOURCES}"


class ServerGone(PanesSilent):
    """No process is listening on the tmux server's socket. The server may still be running, without
    its socket."""


class NoSession(Failed):
    """The tmux server is running, but has no cockpit session."""


@dataclass(frozen=True, slots=True)
class TmuxCommand:
    """Runs commands on one private tmux server."""

    socket: Path
    config: Path
    environment: Mapping[str, str]
    """The source of the variables in `NEEDED`, for clients and for a server that a client
    starts."""
    program: str = "tmux"
    deadline: float = 5.0
    """Seconds after which a client that does not answer is killed."""

    def argv(self, *commands: Sequence[str], flags: Sequence[str] = ("-u",)) -> list[str]:
        """Return the argument vector of a client that runs these commands in sequence."""
        vector = [self.program, *flags, "-S", str(self.socket), "-f", str(self.config)]
        for number, command in enumerate(commands):
            if number:
                vector.append(";")
            vector.extend(literal(word) for word in command)
        return vector

    async def run(
        self, *commands: Sequence[str], stdin: bytes = b"", start: bool = False
    ) -> list[str]:
        """Run tmux commands on a thread; see `call`."""
        return await asyncio.to_thread(self.call, *commands, stdin=stdin, start=start)

    def call(self, *commands: Sequence[str], stdin: bytes = b"", start: bool = False) -> list[str]:
        """Run tmux commands in sequence; return the lines they print. Stops at the first error.

        The client may start the server only with `start`. Raises `PanesSilent` (`ServerGone` if no
        process is listening), `PaneGone`, `PaneOccupied`, `NoSession`, `Failed` or
        `ProgramMissing`.
        """
        check_socket_path(self.socket)
        argv = self.argv(*commands, flags=("-u",) if start else ("-u", "-N"))
        if start:
            argv = with_given_limit(argv)  # every agent inherits the server's limit
        try:
            answer = subprocess.run(
                argv,
                input=stdin,
                capture_output=True,
                timeout=self.deadline,
                check=False,
                env=client_environment(self.environment),
                cwd="/",
            )
        except FileNotFoundError:
            raise missing(self.program) from None
        except subprocess.TimeoutExpired:
            raise PanesSilent(
                "tmux does not answer",
                f"No reply to {commands[0][0]} within {self.deadline:g} s.",
                "cockpit changes no pane until tmux answers. To check tmux: cockpit doctor",
            ) from None
        except OSError as error:
            raise PanesSilent("Cannot run tmux", str(error.strerror)) from error
        if answer.returncode:
            raise self._error(answer.stderr.decode("utf-8", "replace").strip(), commands[0][0])
        # Only a newline ends a line: str.splitlines would split at other characters that a pane may
        # contain.
        text = answer.stdout.decode("utf-8", "replace")
        return text.removesuffix("\n").split("\n") if text else []

    def _error(self, message: str, command: str) -> Exception:
        detail = safe_line(message) or f"{command} failed without a message."
        if "no server running" in message or (
            "error connecting to" in message
            and ("No such file" in message or "Connection refused" in message)
        ):
            return ServerGone("The tmux server does not answer", detail)
        if message.startswith(("error connecting", "lost server", "server exited", "protocol")):
            return PanesSilent("Cannot reach the tmux server", detail)
        if "can't find pane" in message or "can't find window" in message:
            return PaneGone("The pane no longer exists", detail)
        if "still active" in message:
            return PaneOccupied("The pane is still in use", detail)
        if (
            "no current target" in message
            or "can't find session" in message
            or "no sessions" in message
        ):
            return NoSession("The tmux server has no cockpit session", detail)
        return Failed(
            "tmux refused a command", f"{command}: {detail}", hint="To check tmux: cockpit doctor"
        )


def literal(word: str) -> str:
    """Escape a semicolon at the end of a word, which tmux would read as the end of the command."""
    return word[:-1] + "\\;" if word.endswith(";") else word


def client_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a client, and for a server that the client starts.

    Other variables are left out, because panes that the user opens inherit the server's
    environment. Agents get their environment from the launch file.
    """
    kept = {
        name: value
        for name, value in environment.items()
        if name in NEEDED or name.startswith("LC_")
    }
    kept.setdefault("PATH", os.defpath)
    return kept


def missing(program: str) -> ProgramMissing:
    return ProgramMissing("tmux is not installed", f"{program!a} is not on PATH.", INSTALL_HINT)


def check_socket_path(socket: Path) -> None:
    """Raise `Failed` if the path is too long for a socket."""
    length = len(os.fsencode(socket))
    if length > LONGEST_SOCKET_PATH:
        raise Failed(
            f"The socket path is too long ({length} bytes, at most {LONGEST_SOCKET_PATH})",
            str(socket),
            "Set XDG_RUNTIME_DIR or COCKPIT_HOME to a shorter folder.",
        )


def check_version(program: str, environment: Mapping[str, str]) -> str:
    """Return tmux's version. Raises `ProgramMissing` if tmux is too old, not installed, or cannot
    be run."""
    executable = shutil.which(program, path=environment.get("PATH", os.defpath))
    if executable is None:
        raise missing(program)
    try:
        answer = subprocess.run(
            [executable, "-V"], capture_output=True, timeout=5, check=False, text=True
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProgramMissing("Cannot run tmux", str(error), INSTALL_HINT) from error
    version = safe_line(answer.stdout.strip())
    if not new_enough(version):
        raise ProgramMissing(
            "tmux is too old",
            f"This is {version or 'unknown'}; cockpit needs 3.3a or later.",
            UPGRADE_HINT,
        )
    return version


def new_enough(version: str) -> bool:
    """Return whether a version of `tmux -V` is 3.3a or later. True for builds of the master branch
    and of OpenBSD."""
    if "master" in version or "openbsd" in version:
        return True
    match = re.search(r"(\d+)\.(\d+)([a-z]?)", version)
    return match is not None and (int(match[1]), int(match[2]), match[3]) >= OLDEST

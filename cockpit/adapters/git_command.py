"""Running git without letting a repository run anything, wait for anybody, or lock anything.

A repository's configuration can name programs for the most innocent questions. Here they are
switched off one by one, what a surrounding git left in the environment is dropped, and every call
has a deadline. Knows nothing of worktrees.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cockpit.core.errors import Failed, Hindered, ProgramMissing
from cockpit.core.safetext import safe_line

QUIET = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.sshCommand": "false",
    "core.quotePath": "false",
    "diff.external": "",
    "log.showSignature": "false",
    "i18n.logOutputEncoding": "UTF-8",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
"""Settings that outrank the repository's own."""

ALONE = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "",
}

NOTHING: Mapping[str, str] = {}

INSTALL_HINT = "Install it (Debian: apt-get install git; macOS: xcode-select --install)."


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """How a call ended."""

    status: int
    output: bytes
    error: str
    """Made safe to show, one line."""
    cut: bool = False
    """There was more output than was asked for."""

    @property
    def ok(self) -> bool:
        return self.status == 0

    @property
    def line(self) -> str:
        """The output as the one line it is, byte for byte (undecodable bytes escaped)."""
        return os.fsdecode(self.output.removesuffix(b"\n"))


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call, before it is made."""

    directory: Path
    arguments: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=lambda: QUIET)
    variables: Mapping[str, str] = field(default_factory=lambda: NOTHING)

    def words(self) -> list[str]:
        """Everything behind the program and its own options."""
        said = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        # Safe for a bare repository that somebody laid here: all that it could name is off.
        said += ["--git-dir=."] if is_bare(self.directory) else []
        return [*said, *self.arguments]

    @property
    def verb(self) -> str:
        """What git is asked to do."""
        return next((word for word in self.arguments if not word.startswith("-")), "")


@dataclass(frozen=True, slots=True)
class GitCommand:
    """How git is called."""

    environment: Mapping[str, str]
    program: str = "git"

    async def run(
        self,
        directory: Path,
        *arguments: str,
        deadline: float = 10.0,
        settings: Mapping[str, str] = QUIET,
        variables: Mapping[str, str] = NOTHING,
    ) -> GitAnswer:
        """Run git in a directory. A refusal of git's is an answer, not an error.

        Raises `Failed` past the deadline (seconds) or when the directory cannot be entered, and
        `ProgramMissing`.
        """
        asked = _Asked(directory, arguments, settings, variables)
        return await asyncio.to_thread(self._call, asked, deadline)

    async def beginning(
        self, directory: Path, *arguments: str, most: int, deadline: float = 10.0
    ) -> GitAnswer:
        """As `run`, for output that may be without end: git is ended after `most` bytes of it.

        A cut answer is `ok`; one that failed carries no words of git's.
        """
        return await asyncio.to_thread(self._begin, _Asked(directory, arguments), most, deadline)

    def _call(self, asked: _Asked, deadline: float) -> GitAnswer:
        with self._started(asked, subprocess.PIPE) as process:
            try:
                output, said = process.communicate(timeout=deadline)
            except subprocess.TimeoutExpired:
                _kill(process)
                process.communicate()
                raise _too_late(asked, deadline) from None
        return GitAnswer(process.returncode, output, safe_line(said.decode("utf-8", "replace")))

    def _begin(self, asked: _Asked, most: int, deadline: float) -> GitAnswer:
        late = threading.Event()

        def give_up() -> None:
            late.set()
            _kill(process)

        with self._started(asked, subprocess.DEVNULL) as process:
            timer = threading.Timer(deadline, give_up)
            timer.start()
            try:
                assert process.stdout is not None
                output = process.stdout.read(most + 1)
                if len(output) > most:
                    _kill(process)
                process.wait()
            finally:
                timer.cancel()
                timer.join()
        if late.is_set():
            raise _too_late(asked, deadline)
        cut = len(output) > most
        return GitAnswer(0 if cut else process.returncode, output[:most], "", cut)

    def _started(self, asked: _Asked, errors: int) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                [self.program, "--no-optional-locks", "--no-pager", *asked.words()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=asked.directory,
                env={**self._environment(), **asked.variables},
                start_new_session=True,
            )
        except OSError as error:
            raise self._refused(error, asked.directory) from error

    def _environment(self) -> dict[str, str]:
        kept = {n: v for n, v in self.environment.items() if not n.startswith("GIT_")}
        return {**kept, **ALONE}

    def _refused(self, error: OSError, directory: Path) -> Exception:
        if directory.is_dir() and isinstance(error, FileNotFoundError):
            return ProgramMissing(
                "git is not installed",
                f"There is no program {self.program!a} on the PATH.",
                INSTALL_HINT,
            )
        return Hindered("git could not be run", f"{directory}: {error.strerror}")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The whole group: what git has started would hold the pipes open."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _too_late(asked: _Asked, deadline: float) -> Failed:
    return Failed(
        f"git {asked.verb} took longer than {deadline:g} s",
        str(asked.directory),
        "Is the disk slow, or does the repository wait for somebody?",
    )


def is_bare(directory: Path) -> bool:
    """Whether a folder looks like a bare repository itself."""
    return (directory / "HEAD").is_file() and all(
        (directory / name).is_dir() for name in ("objects", "refs")
    )

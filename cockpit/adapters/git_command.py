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
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
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

INSTALL_HINT = "Install it (Debian: apt-get install git; macOS: xcode-select --install)."


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """How a call ended."""

    status: int
    output: bytes
    error: str
    """Made safe to show, one line."""

    @property
    def ok(self) -> bool:
        return self.status == 0

    @property
    def line(self) -> str:
        """The output as the one line it is, byte for byte (undecodable bytes escaped)."""
        return os.fsdecode(self.output.removesuffix(b"\n"))


@dataclass(frozen=True, slots=True)
class GitCommand:
    """How git is called."""

    environment: Mapping[str, str]
    program: str = "git"

    async def run(self, directory: Path, *arguments: str, deadline: float = 10.0) -> GitAnswer:
        """Run git in a directory. A refusal of git's is an answer, not an error.

        Raises `Failed` past the deadline (seconds) or when the directory cannot be entered, and
        `ProgramMissing`.
        """
        return await asyncio.to_thread(self._call, directory, arguments, deadline)

    def _call(self, directory: Path, arguments: tuple[str, ...], deadline: float) -> GitAnswer:
        settings = [word for name, value in QUIET.items() for word in ("-c", f"{name}={value}")]
        argv = [self.program, "--no-optional-locks", "--no-pager", *settings, *arguments]
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                env=self._environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise self._refused(error, directory) from error
        with process:
            try:
                output, said = process.communicate(timeout=deadline)
            except subprocess.TimeoutExpired:
                # The whole group: what git has started would hold the pipes open.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise Failed(
                    f"git {arguments[0]} took longer than {deadline:g} s",
                    str(directory),
                    "Is the disk slow, or does the repository wait for somebody?",
                ) from None
        return GitAnswer(process.returncode, output, safe_line(said.decode("utf-8", "replace")))

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

"""Run git so that the repository cannot make it run programs, wait for input or take locks.

A repository's configuration can contain programs that even harmless git commands run. git reads a
copy without these programs (`sealed_config.py`), some settings are overridden, variables of a
surrounding git are dropped, and every call has a deadline.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from io import BytesIO
from pathlib import Path
from typing import IO, TypeVar

from cockpit.adapters.git.sealed_config import Places, Snapshot, Snapshots, sealed
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import Failed, OsProblem, ProgramMissing
from cockpit.core.safetext import safe_line

Taken = TypeVar("Taken")

QUIET = {
    "core.alternateRefsCommand": "true",
    "core.editor": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.sshCommand": "false",
    "core.quotePath": "false",
    "diff.external": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "log.showSignature": "false",
    "i18n.logOutputEncoding": "UTF-8",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
"""git settings that override the repository's own."""

DURABLE = {**QUIET, "core.fsync": "all", "core.fsyncMethod": "fsync"}
"""Settings for git calls that write objects and references which must be on disk before a
deletion."""

NO_REPLACEMENTS = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    # A path below a device never exists. git does not warn about a missing graft file.
    "GIT_GRAFT_FILE": f"{os.devnull}/none",
}
"""Variables that disable `refs/replace` and grafts. Replacements and grafts make git use another
object instead of the real one; any process that can write to the repository can add them."""

ALONE = {
    **NO_REPLACEMENTS,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "",
}

UNSEALED = ("rev-parse", "check-ref-format", "config", "worktree")
"""git commands that run with the repository's own configuration.

They report or record paths, and read no file content. `worktree add` is only called with
`--no-checkout`, and `worktree remove` only with `--force`, which compares no file. With `QUIET`,
these commands run no programs (see SECURITY.md).
"""

SEARCH_LIMITS = ("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
"""Variables of a surrounding git that are kept. They determine in which parent folders git looks
for a repository."""

NOTHING: Mapping[str, str] = {}

INSTALL_HINT = "Install git (Debian: apt-get install git; macOS: xcode-select --install)."


@dataclass(frozen=True, slots=True)
class GitAnswer:
    """The result of a git call."""

    status: int
    output: bytes
    error: str
    """git's error as one line, safe to show."""
    cut: bool = False
    """Whether the output was truncated to the requested length."""

    @property
    def ok(self) -> bool:
        return self.status == 0

    @property
    def line(self) -> str:
        """The output without its last newline; undecodable bytes are escaped."""
        return os.fsdecode(self.output.removesuffix(b"\n"))


NO_REPOSITORY = GitAnswer(128, b"", "not a git repository")


@dataclass(frozen=True, slots=True)
class _Call:
    """A git command, with its directory, settings and input."""

    directory: Path
    arguments: tuple[str, ...]
    settings: Mapping[str, str] = field(default_factory=lambda: QUIET)
    variables: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    folder: Path | None = None
    """The git directory for the files in `directory`; with None, git searches for it."""
    stdin: bytes = b""
    """The text for git's stdin."""
    source: int | None = None
    """The descriptor of an open file that git reads as stdin, from its current position."""

    def words(self, *, bare: bool) -> list[str]:
        """Return git's arguments: the `-c` settings, then the command.

        `bare` allows a bare repository.
        """
        options = [
            word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")
        ]
        # Safe for an untrusted bare repository, because everything that it could configure is
        # disabled.
        options += ["--git-dir=."] if bare and is_bare(self.directory) else []
        return [*options, *self.arguments]

    @property
    def verb(self) -> str:
        """The git command, such as `status`."""
        return next((word for word in self.arguments if not word.startswith("-")), "")


class GitCommand:
    """Runs git. Safe to use from many tasks at once."""

    def __init__(
        self, environment: Mapping[str, str], program: str = "git", private: Path | None = None
    ) -> None:
        self.environment = environment
        self.program = program
        self.private = private
        """A folder to which only cockpit writes; None means the system's folder for temporary
        files."""
        self._snapshots = Snapshots(self._ask, environment)

    async def snapshot(self, directory: Path, folder: Path | None = None) -> Snapshot | None:
        """Return the git settings that apply to a directory; None outside a repository.

        `folder` is as in `run`. Raises `Failed` if the settings cannot be read.
        """
        return await asyncio.to_thread(self._snapshot, directory, folder)

    async def places(self, directory: Path) -> Places | None:
        """Return the git directories and the top folder of a directory's repository; None outside a
        repository."""
        snapshot = await self.snapshot(directory)
        return snapshot.places if snapshot else None

    @contextmanager
    def sealed(
        self, directory: Path, folder: Path | None = None, *, bare: bool = False
    ) -> Iterator[dict[str, str]]:
        """Yield variables with which git, or a program that calls git, runs none of the
        repository's programs.

        Yields no variables outside a repository. With `bare`, git reads neither the worktree's
        files nor submodules. Blocks. Raises as `run` does.
        """
        snapshot = self._snapshot(directory, folder)
        if snapshot is None:
            yield {}
            return
        try:
            seal = sealed(snapshot, self.private, bare=bare)
            variables = seal.__enter__()
        except OSError as error:
            raise OsProblem(
                "Cannot run git",
                f"{directory}: {error.strerror}",
                hint="Check that the directory exists and that processes can be started.",
            ) from error
        try:
            yield variables
        finally:
            seal.__exit__(None, None, None)

    def _snapshot(self, directory: Path, folder: Path | None) -> Snapshot | None:
        if folder is not None:
            return self._snapshots.at(directory, folder)
        return self._snapshots.of(directory)

    def _ask(self, directory: Path, arguments: Sequence[str]) -> tuple[int, bytes, str]:
        # Without `QUIET`, whose settings would be in the listing.
        answer = self._call(_Call(directory, tuple(arguments), NOTHING), 10.0)
        return answer.status, answer.output, answer.error

    async def run(
        self,
        directory: Path,
        *arguments: str,
        deadline: float = 10.0,
        settings: Mapping[str, str] = QUIET,
        variables: Mapping[str, str] = NOTHING,
        folder: Path | None = None,
        stdin: bytes = b"",
        source: int | None = None,
    ) -> GitAnswer:
        """Run git in a directory. An error of git is returned, not raised.

        `folder`: the git directory for the files in `directory`, so that git does not search for
        it. `stdin`: bytes for git's stdin; `source`: the descriptor of a file instead. Raises
        `Failed` after the deadline (in seconds) or if the directory cannot be entered, and
        `ProgramMissing` if git is not installed.
        """
        call = _Call(directory, arguments, settings, variables, folder, stdin, source)
        return await asyncio.to_thread(self._call, call, deadline)

    async def run_limited(
        self, directory: Path, *arguments: str, most: int, deadline: float = 10.0
    ) -> GitAnswer:
        """Like `run`, for output of any length: git is killed after `most` bytes.

        A truncated answer is `ok`. A failed answer does not contain git's error.
        """
        return await asyncio.to_thread(self._begin, _Call(directory, arguments), most, deadline)

    async def run_streaming(
        self,
        directory: Path,
        *arguments: str,
        taking: Callable[[IO[bytes]], Taken],
        stdin: bytes,
        variables: Mapping[str, str],
        folder: Path,
        deadline: float,
    ) -> Taken:
        """Like `run`, for output of any length: return the result of `taking`, which reads the
        output while git writes.

        git's exit code is not returned, so `taking` must detect truncated output.
        """
        call = _Call(directory, arguments, QUIET, variables, folder, stdin)
        return await asyncio.to_thread(self._read, call, taking, deadline)

    def _read(self, call: _Call, taking: Callable[[IO[bytes]], Taken], deadline: float) -> Taken:
        late = threading.Event()

        def give_up(process: subprocess.Popen[bytes]) -> None:
            late.set()
            _kill(process)

        def feed(process: subprocess.Popen[bytes]) -> None:
            assert process.stdin is not None
            with suppress(BrokenPipeError), process.stdin:
                process.stdin.write(call.stdin)

        with self._start(call, subprocess.DEVNULL) as process:
            if process is None:
                return taking(BytesIO())
            timer = threading.Timer(deadline, give_up, (process,))
            feeder = threading.Thread(target=feed, args=(process,))
            timer.start()
            feeder.start()
            try:
                assert process.stdout is not None
                taken = taking(process.stdout)
            finally:
                _kill(process)
                timer.cancel()
                timer.join()
                feeder.join()
        if late.is_set():
            raise _timed_out(call, deadline)
        return taken

    def _call(self, call: _Call, deadline: float) -> GitAnswer:
        with self._start(call, subprocess.PIPE) as process:
            if process is None:
                return NO_REPOSITORY
            try:
                output, errors = process.communicate(call.stdin or None, timeout=deadline)
            except subprocess.TimeoutExpired:
                _kill(process)
                process.communicate()
                raise _timed_out(call, deadline) from None
        return GitAnswer(process.returncode, output, safe_line(errors.decode("utf-8", "replace")))

    def _begin(self, call: _Call, most: int, deadline: float) -> GitAnswer:
        late = threading.Event()

        def give_up(process: subprocess.Popen[bytes]) -> None:
            late.set()
            _kill(process)

        with self._start(call, subprocess.DEVNULL) as process:
            if process is None:
                return NO_REPOSITORY
            timer = threading.Timer(deadline, give_up, (process,))
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
            raise _timed_out(call, deadline)
        cut = len(output) > most
        return GitAnswer(0 if cut else process.returncode, output[:most], "", cut)

    @contextmanager
    def _start(self, call: _Call, errors: int) -> Iterator[subprocess.Popen[bytes] | None]:
        """Start git. Yields None, without starting git, outside a repository; a command in
        `UNSEALED` is started in any case."""
        if call.verb in UNSEALED:
            with self._process(call, errors, NOTHING) as process:
                yield process
            return
        with self.sealed(call.directory, call.folder) as seal:
            if not seal:
                yield None
                return
            with self._process(call, errors, seal) as process:
                yield process

    def _process(
        self, call: _Call, errors: int, seal: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        stdin = subprocess.PIPE if call.stdin else subprocess.DEVNULL
        try:
            return subprocess.Popen(
                [self.program, "--no-optional-locks", "--no-pager", *call.words(bare=not seal)],
                stdin=stdin if call.source is None else call.source,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=call.directory,
                env={**self._environment(), **call.variables, **seal},
                start_new_session=True,
            )
        except OSError as error:
            raise self._refused(error, call.directory) from error

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in self.environment.items()
            if not name.startswith("GIT_") or name in SEARCH_LIMITS
        }
        return {**kept, **ALONE}

    def _refused(self, error: OSError, directory: Path) -> Exception:
        if directory.is_dir() and isinstance(error, FileNotFoundError):
            return ProgramMissing(
                "git is not installed",
                f"{self.program!a} is not on PATH.",
                INSTALL_HINT,
            )
        return OsProblem(
            "Cannot run git",
            f"{directory}: {error.strerror}",
            hint="Check that the directory exists and that processes can be started.",
        )


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the whole process group, because git's child processes would keep the pipes open."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _timed_out(call: _Call, deadline: float) -> Failed:
    return Failed(
        f"git {call.verb} took longer than {deadline:g} s",
        str(call.directory),
        "Check whether the disk is slow, then try again.",
    )


def is_bare(directory: Path) -> bool:
    """Return whether a folder has the files of a bare repository."""
    return (directory / "HEAD").is_file() and all(
        (directory / name).is_dir() for name in ("objects", "refs")
    )

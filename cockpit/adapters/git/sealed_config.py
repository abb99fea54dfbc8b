"""Run git with a copy of the repository's configuration that contains no programs.

A check before the git call would not be safe: another process can change `.git/config` between the
check and git's own read. So `GIT_COMMON_DIR` points git to a private folder, with cockpit's
configuration and symlinks to the repository's objects and references. The git call does not read
the repository's configuration files. A cached copy may be old, but this is safe, because the copy
contains no programs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from cockpit.adapters.git.scratch import make_scratch
from cockpit.core import git_settings
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import Failed
from cockpit.core.git_settings import Setting
from cockpit.core.safetext import safe_line

LINKED = (
    "objects", "refs", "packed-refs", "reftable", "info", "logs", "shallow", "worktrees", "lfs",
)  # fmt: skip
"""The files that git needs from the git directory that all worktrees share.

Without `config`, `hooks`, and the old `remotes` and `branches`. `lfs` is linked even if it is
missing, so that git-lfs fails instead of storing content in a folder that will be deleted.
"""
ALWAYS = ("objects", "refs", "packed-refs", "lfs")
MOST = 200
"""Maximum number of directories whose settings are cached."""

Asking = Callable[[Path, Sequence[str]], tuple[int, bytes, str]]
"""Runs git in a directory with these arguments; returns exit code, output and error. Blocks."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of the repository that a directory belongs to."""

    folder: Path
    """The git directory of the worktree that contains the directory."""
    common: Path
    """The git directory that all worktrees of the repository share."""
    top: Path | None
    """The top folder of the worktree; None for a bare repository."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The git settings that apply to a directory, and the folders of the directory's repository, at
    one point in time."""

    places: Places
    settings: tuple[Setting, ...]

    @property
    def whole(self) -> bool:
        """Whether the repository's settings are all from its two configuration files, without
        includes."""
        return not any(
            setting.section in (b"include", b"includeif")
            for setting in self.settings
            if not setting.own
        )


class Snapshots:
    """A cache of git settings by directory. Settings are read again if one of their files changes:
    of the repository, the user or the system."""

    def __init__(self, ask: Asking, environment: Mapping[str, str]) -> None:
        """`environment` is git's environment, with the paths of the user's configuration files."""
        self._ask = ask
        self._user_files = tuple(_user_files(environment))
        self._kept: dict[Path, _Kept] = {}

    def of(self, directory: Path) -> Snapshot | None:
        """Return the git settings that apply to a directory; None outside a repository.

        Raises `Failed` if the settings cannot be read. Blocks. Starts no process for cached
        settings whose files have not changed.
        """
        kept = self._kept.get(directory)
        if kept is not None and kept.is_current(directory, self._user_files):
            return kept.snapshot
        places = self._places(directory)
        if places is None:
            self._kept.pop(directory, None)
            return None
        signature = _signature(directory, places, self._user_files)
        snapshot = Snapshot(places, self._settings(directory, ()))
        if len(self._kept) >= MOST:
            self._kept.clear()
        if places.top is not None and snapshot.whole:
            # Only git's answer names the files that the user's files include.
            others = map(os.fsdecode, git_settings.own_files(snapshot.settings))
            included = {file: _stamp(file) for file in map(Path, others)}
            self._kept[directory] = _Kept(snapshot, signature, included)
        return snapshot

    def at(self, where: Path, folder: Path) -> Snapshot:
        """Return the settings for the files in `where`; `folder` is the git directory of these
        files.

        Raises `Failed`. Blocks.
        """
        option = (f"--git-dir={folder}",)
        status, output, error = self._ask(where, (*option, "rev-parse", "--git-common-dir"))
        if status:
            raise Failed(
                f"Not a git worktree: {safe_line(str(where))}",
                error,
                hint="To list the worktrees: git worktree list",
            )
        places = Places(folder, _real(where, output), where)
        return Snapshot(places, self._settings(where, option))

    def _places(self, directory: Path) -> Places | None:
        """Return the folders of a directory's repository; None outside a repository, and for a
        repository that git refuses because of its owner."""
        status, folder, _ = self._ask(directory, ("rev-parse", "--absolute-git-dir"))
        if status:
            return None
        status, common, _ = self._ask(directory, ("rev-parse", "--git-common-dir"))
        no_top, top, _ = self._ask(directory, ("rev-parse", "--show-toplevel"))
        if status:
            return None
        top_folder = None if no_top else Path(_line(top))
        if top_folder is not None and not os.path.lexists(top_folder / ".git"):
            return None  # core.worktree is set to a folder that is not a checkout
        return Places(Path(_line(folder)), _real(directory, common), top_folder)

    def _settings(self, directory: Path, options: Sequence[str]) -> tuple[Setting, ...]:
        arguments = (*options, "config", "--list", "-z", "--show-scope", "--show-origin")
        status, output, error = self._ask(directory, arguments)
        title = "Cannot read the repository's git configuration"
        if status:
            raise Failed(title, error, "To check it: git config --list --show-origin")
        try:
            return git_settings.parse(output)
        except ValueError as error:
            raise Failed(
                title, str(error), hint="To check it: git config --list --show-origin"
            ) from error


@contextmanager
def sealed(
    snapshot: Snapshot, private: Path | None, *, bare: bool = False
) -> Iterator[dict[str, str]]:
    """Yield variables with which git reads the snapshot instead of the repository's configuration.

    They are valid inside the `with` block. With `bare`, git reads neither the worktree's files nor
    submodules. `private` is a folder that only cockpit writes to, created if missing; None means
    the system's folder for temporary files. Raises `OSError`.
    """
    seal = make_scratch(private)
    places = snapshot.places
    try:
        for name in LINKED:
            if name in ALWAYS or os.path.lexists(places.common / name):
                (seal / name).symlink_to(places.common / name)
        (seal / "config").write_bytes(git_settings.sealed(snapshot.settings))
        variables = {"GIT_DIR": str(places.folder), "GIT_COMMON_DIR": str(seal)}
        if bare:
            variables["GIT_IMPLICIT_WORK_TREE"] = "0"
        elif places.top is not None:
            variables["GIT_WORK_TREE"] = str(places.top)
        yield variables
    finally:
        shutil.rmtree(seal, ignore_errors=True)


Stamp = tuple[int, ...] | None
"""The state of a file; None if it is missing."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A snapshot, and the states of the files from which git read it."""

    snapshot: Snapshot
    signature: tuple[object, ...]
    included: dict[Path, Stamp]

    def is_current(self, directory: Path, user_files: Sequence[Path]) -> bool:
        """Return whether no file has changed since git read the settings."""
        return self.signature == _signature(directory, self.snapshot.places, user_files) and all(
            _stamp(file) == stamp for file, stamp in self.included.items()
        )


def _user_files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the paths at which git looks for the configuration of the user and the system."""
    yield Path("/etc/gitconfig")
    if home := environment.get("HOME"):
        yield Path(home, ".gitconfig")
    if folder := environment.get("XDG_CONFIG_HOME") or (home and f"{home}/.config"):
        yield Path(folder, "git", "config")


def _signature(directory: Path, places: Places, user_files: Sequence[Path]) -> tuple[object, ...]:
    """Return the state of the files that determine the repository and its settings."""
    top = places.top or directory
    above = [up for up in (directory, *directory.parents) if up == top or top in up.parents]
    files = [up / ".git" for up in above or [top]]
    files += [top / ".git", places.folder / "commondir", places.folder / "config.worktree"]
    files += [places.common / "config", *user_files]
    return (os.path.realpath(directory), *map(_stamp, files))


def _stamp(path: Path) -> Stamp:
    try:
        entry = path.stat()
    except OSError:
        return None
    own = (entry.st_dev, entry.st_ino, entry.st_size, entry.st_mtime_ns, entry.st_ctime_ns)
    # Only a folder's identity: its modification time changes with every file in it.
    return own[:2] if path.is_dir() else own


def _line(output: bytes) -> str:
    return os.fsdecode(output.removesuffix(b"\n"))


def _real(directory: Path, output: bytes) -> Path:
    return Path(os.path.realpath(directory / _line(output)))

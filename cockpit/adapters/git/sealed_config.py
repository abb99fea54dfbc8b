"""Run git with a copy of the repository's configuration that can name no program.

A check before git runs could be raced: whoever can write to `.git/config` can change it between the
check and git's own read. So `GIT_COMMON_DIR` points git at a private folder with our own
configuration and links to the repository's objects and references. git does not read the
repository's files, whatever happens to them. For the same reason a cached copy may be old without
being dangerous: it names no program either.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cockpit.adapters.git.scratch import make_scratch
from cockpit.core import git_settings
from cockpit.core.errors import Failed
from cockpit.core.git_settings import Setting

LINKED = (
    "objects", "refs", "packed-refs", "reftable", "info", "logs", "shallow", "worktrees", "lfs",
)  # fmt: skip
"""What git needs of the folder that all worktrees share, without `config`, `hooks` and the old
`remotes` and `branches`. `lfs` is linked even if it is missing, so that git-lfs fails instead of
storing content in a folder that will be deleted."""
ALWAYS = ("objects", "refs", "packed-refs", "lfs")
MOST = 200
"""Maximum directories whose settings are cached."""

Asking = Callable[[Path, Sequence[str]], tuple[int, bytes, str]]
"""Runs git in a directory with these arguments; returns status, output, error. Blocks."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of the repository that a directory belongs to."""

    folder: Path
    """git's folder for this worktree."""
    common: Path
    """The folder that all worktrees share."""
    top: Path | None
    """Top of the worktree; None for a bare repository."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A repository's settings at one moment."""

    places: Places
    settings: tuple[Setting, ...]

    @property
    def whole(self) -> bool:
        """Whether all of the repository's settings come from its own two files."""
        return not any(
            one.section in (b"include", b"includeif") for one in self.settings if not one.own
        )


class Snapshots:
    """Settings by directory, read again when a file of the repository changes."""

    def __init__(self, ask: Asking) -> None:
        self._ask = ask
        self._kept: dict[Path, tuple[object, Snapshot]] = {}

    def of(self, directory: Path) -> Snapshot | None:
        """Return the settings; None outside a repository. Raises `Failed` if they cannot be read.

        Blocks. Starts no process if nothing changed.
        """
        kept = self._kept.get(directory)
        if kept is not None and _signature(directory, kept[1].places) == kept[0]:
            return kept[1]
        places = self._places(directory)
        if places is None:
            self._kept.pop(directory, None)
            return None
        signature = _signature(directory, places)
        snapshot = Snapshot(places, self._settings(directory, ()))
        if len(self._kept) >= MOST:
            self._kept.clear()
        if places.top is not None and snapshot.whole:
            self._kept[directory] = (signature, snapshot)
        return snapshot

    def at(self, where: Path, folder: Path) -> Snapshot:
        """Return the settings of the files in `where`, given git's folder for them. Raises
        `Failed`. Blocks.
        """
        option = (f"--git-dir={folder}",)
        status, output, error = self._ask(where, (*option, "rev-parse", "--git-common-dir"))
        if status:
            raise Failed("git does not know this worktree", error)
        places = Places(folder, _real(where, output), where)
        return Snapshot(places, self._settings(where, option))

    def _places(self, directory: Path) -> Places | None:
        """Return where the repository of a directory is; git also checks its owner."""
        status, folder, _ = self._ask(directory, ("rev-parse", "--absolute-git-dir"))
        if status:
            return None
        status, common, _ = self._ask(directory, ("rev-parse", "--git-common-dir"))
        no_top, top, _ = self._ask(directory, ("rev-parse", "--show-toplevel"))
        if status:
            return None
        found = None if no_top else Path(_line(top))
        if found is not None and not os.path.lexists(found / ".git"):
            return None  # core.worktree names a folder that is not a checkout
        return Places(Path(_line(folder)), _real(directory, common), found)

    def _settings(self, directory: Path, options: Sequence[str]) -> tuple[Setting, ...]:
        words = (*options, "config", "--list", "-z", "--show-scope")
        status, output, error = self._ask(directory, words)
        title = "Cannot read the repository's git configuration"
        if status:
            raise Failed(title, error, "Check it with git config --list --show-origin.")
        try:
            return git_settings.parse(output)
        except ValueError as error:
            raise Failed(title, str(error)) from error


@contextmanager
def sealed(
    snapshot: Snapshot, private: Path | None, *, bare: bool = False
) -> Iterator[dict[str, str]]:
    """Yield variables under which git reads the snapshot instead of the repository's configuration.

    They are valid inside the block. With `bare`, git reads no file of the worktree either.
    `private` is a folder that only we write to, created if missing; None is the system's for
    temporary files. Raises `OSError`.
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


def _signature(directory: Path, places: Places) -> tuple[object, ...]:
    """Return the state of the files that decide the repository and its settings."""
    top = places.top or directory
    above = [up for up in (directory, *directory.parents) if up == top or top in up.parents]
    files = [up / ".git" for up in above or [top]]
    files += [top / ".git", places.folder / "commondir", places.folder / "config.worktree"]
    return (os.path.realpath(directory), *map(_stamp, [*files, places.common / "config"]))


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    own = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    # A folder's time changes with every file in it; its identity is enough.
    return own[:2] if path.is_dir() else own


def _line(output: bytes) -> str:
    return os.fsdecode(output.removesuffix(b"\n"))


def _real(directory: Path, output: bytes) -> Path:
    return Path(os.path.realpath(directory / _line(output)))

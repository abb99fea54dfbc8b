"""Running git under a copy of the repository's configuration that can name no program.

A check of the configuration before git runs would not do: whoever can write to `.git/config` can
change it between the check and git's own look. So git is pointed (`GIT_COMMON_DIR`) at a private
folder that has a configuration of ours and links to the repository's objects and references.
However the repository's files change meanwhile, git does not read them. For the same reason the
answers kept here may be old without being dangerous: an old copy names no program either.
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
"""What git needs of the folder that all worktrees share. `config`, `hooks` and the old `remotes`
and `branches` are not among it. `lfs` is linked even if missing, so that git-lfs fails rather than
stores a file's content where it would be deleted."""
ALWAYS = ("objects", "refs", "packed-refs", "lfs")
MOST = 200
"""Directories whose settings are remembered."""

Asking = Callable[[Path, Sequence[str]], tuple[int, bytes, str]]
"""Runs git in a directory with these words; status, output, error. Blocks."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where a repository keeps what belongs to a directory."""

    folder: Path
    """git's folder for this worktree."""
    common: Path
    """The folder that all worktrees share."""
    top: Path | None
    """Where the worktree begins; None for a bare repository."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A repository's settings at one moment."""

    places: Places
    settings: tuple[Setting, ...]

    @property
    def whole(self) -> bool:
        """Whether all of the repository's settings come from the two files of its own."""
        return not any(
            one.section in (b"include", b"includeif") for one in self.settings if not one.own
        )


class Snapshots:
    """Settings by directory, looked up again when a file of the repository changed."""

    def __init__(self, ask: Asking) -> None:
        self._ask = ask
        self._kept: dict[Path, tuple[object, Snapshot]] = {}

    def of(self, directory: Path) -> Snapshot | None:
        """None where git finds no repository. Raises `Failed` when it cannot be read. Blocks.

        Costs no process when nothing changed.
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
        """Of the files in `where`, with git's folder for them given. Raises `Failed`. Blocks."""
        option = (f"--git-dir={folder}",)
        status, output, said = self._ask(where, (*option, "rev-parse", "--git-common-dir"))
        if status:
            raise Failed("git does not know this worktree", said)
        places = Places(folder, _real(where, output), where)
        return Snapshot(places, self._settings(where, option))

    def _places(self, directory: Path) -> Places | None:
        """What git calls the repository of a directory; git checks who owns it, too."""
        status, folder, _ = self._ask(directory, ("rev-parse", "--absolute-git-dir"))
        if status:
            return None
        status, common, _ = self._ask(directory, ("rev-parse", "--git-common-dir"))
        no_top, top, _ = self._ask(directory, ("rev-parse", "--show-toplevel"))
        if status:
            return None
        found = None if no_top else Path(_line(top))
        if found is not None and not os.path.lexists(found / ".git"):
            return None  # core.worktree names a folder that is no checkout of anything
        return Places(Path(_line(folder)), _real(directory, common), found)

    def _settings(self, directory: Path, options: Sequence[str]) -> tuple[Setting, ...]:
        words = (*options, "config", "--list", "-z", "--show-scope")
        status, output, said = self._ask(directory, words)
        title = "The repository's git configuration cannot be read"
        if status:
            raise Failed(title, said, "Check it with git config --list --show-origin.")
        try:
            return git_settings.parse(output)
        except ValueError as error:
            raise Failed(title, str(error)) from error


@contextmanager
def sealed(
    snapshot: Snapshot, private: Path | None, *, bare: bool = False
) -> Iterator[dict[str, str]]:
    """Variables under which git reads the snapshot in place of the repository's configuration.

    They hold inside the block. With `bare`, git looks at no file of the worktree either. `private`
    is a folder that only we write to, made if missing; None is the system's for temporary files.
    Raises `OSError`.
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
    """What the files say that decide which repository it is, and its settings."""
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
    # The time of a folder changes with every file in it; that it is the same folder is enough.
    return own[:2] if path.is_dir() else own


def _line(output: bytes) -> str:
    return os.fsdecode(output.removesuffix(b"\n"))


def _real(directory: Path, output: bytes) -> Path:
    return Path(os.path.realpath(directory / _line(output)))

"""Move and delete the folders of a removed worktree: the checkout and `.git/worktrees/NAME`."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_file
from cockpit.adapters.git.facts import real
from cockpit.adapters.git.raw_files import GitPaths
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line


def points_to(directory: Path, folder: Path) -> bool:
    """Return whether the `.git` of a worktree is a file that points to this git directory."""
    try:
        text = read_file(directory / ".git", 8192, follow_links=False)
    except OSError:
        return False
    named = os.fsdecode(text).strip().removeprefix("gitdir:").strip()
    return real(directory / named) == real(folder)


def move_back(moved: Path, directory: Path) -> None:
    """Rename the folder `moved` back to `directory`. Raises `Failed`."""
    try:
        moved.rename(directory)
    except OSError as error:
        raise Failed(
            f"Cannot move {safe_line(str(directory))} back after a failed removal",
            f"{error.strerror}. All files of the worktree are in {safe_line(str(moved))}.",
            f"Move the worktree back: mv {safe_line(str(moved))} {safe_line(str(directory))}",
        ) from error


def copy_index(git_paths: GitPaths) -> None:
    """Copy the worktree's index, so that git does not write the original."""
    with suppress(FileNotFoundError):
        shutil.copy2(git_paths.folder / "index", git_paths.index)


def unregister(folder: Path) -> None:
    """Delete a worktree's `.git/worktrees/NAME`; after a crash, `git worktree prune` deletes the
    rest. Raises `Failed`."""
    try:
        for name in ("locked", "gitdir"):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder)
        with suppress(OSError):  # the repository has other worktrees
            folder.parent.rmdir()
    except OSError as error:
        raise Failed(
            f"Cannot delete git's files for the worktree: {safe_line(str(folder))}",
            f"{error.strerror}: {safe_line(str(error.filename))}",
            "The worktree's files are removed. Run: git worktree prune",
        ) from error


def delete(folder: Path) -> None:
    """Delete a folder and its contents, including read-only folders; follows no symlinks.

    Raises `Failed`.
    """

    def allow(function: object, path: str, _: object) -> None:
        Path(path).parent.chmod(0o700)
        target = Path(path)
        if target.is_dir() and not target.is_symlink():
            target.chmod(0o700)
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    if not os.path.lexists(folder):
        return
    try:
        shutil.rmtree(folder, onerror=allow)
    except OSError as error:
        raise Failed(
            f"Cannot delete all of {safe_line(str(folder))}",
            f"{error.strerror}: {safe_line(str(error.filename))}",
            "The whole worktree is saved in git; delete the rest of the folder manually.",
        ) from error

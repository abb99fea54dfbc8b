"""Find a folder's repository, and the configuration file in it.

Follows git's rules by reading a few files; does not run git. Uses the standard library only,
because reattaching to a screen imports this module.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

FILE_NAME = "cockpit.toml"
_HEAD = re.compile(rb"ref:\s*refs/|[0-9a-f]{40}")
_LONGEST = 4096
"""Maximum bytes read from one of git's files."""


def project_file(cwd: Path) -> Path | None:
    """Return the nearest `cockpit.toml` from `cwd` up to the root of its repository, else None.

    Outside a repository only `cwd` itself is searched: a file in a parent folder, which may be
    shared, belongs to no project.
    """
    root = repository_root(cwd)
    for folder in (cwd, *cwd.parents):
        if is_there(folder / FILE_NAME):
            return folder / FILE_NAME
        if folder == (root or cwd):
            break
    return None


def repository_root(folder: Path) -> Path | None:
    """Return the root of the checkout that contains this folder; None if git would find none.

    As with git: a `.git` that is not a repository is skipped; a `.git` file that points nowhere
    ends the search, and so do `GIT_CEILING_DIRECTORIES` and file system boundaries.
    """
    for up in _searched(folder):
        if is_checkout(up):
            return up
        if (up / ".git").is_file():
            return None
    return None


def folder_in_worktree(worktree: Path, directory: Path) -> Path:
    """Return the folder of a worktree that corresponds to a directory of the original checkout.

    The returned folder need not exist. Returns the worktree itself if the directory is in no
    checkout, or is already in the worktree.
    """
    root = repository_root(directory)
    if root is None or root == worktree:
        return worktree
    return worktree / directory.relative_to(root)


def is_checkout(folder: Path) -> bool:
    """Return whether a checkout starts here: `.git` is, or points at, a git directory."""
    mark = folder / ".git"
    return is_git_folder(_pointed_at(mark) if mark.is_file() else mark)


def foreign_part(file: Path) -> Path | None:
    """Return a folder that another user owns: the file's folder, its repository's root or `.git`.

    None if no other user owns one of these folders. The owner of such a folder could put any file
    into it. Folders of root are allowed; for root, folders of the user who called `sudo` are
    allowed too, as with git.
    """
    allowed = {0, os.geteuid()}
    sudo = os.environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and sudo.isdecimal():
        allowed.add(int(sudo))
    root = repository_root(file.parent)
    parts = [file.parent] if root is None else [file.parent, root, root / ".git"]
    for part in parts:
        try:
            owner = part.stat().st_uid
        except OSError:
            continue
        if owner not in allowed:
            return part
    return None


def is_there(path: Path) -> bool:
    """Return whether the path exists, even if it is a broken symlink."""
    return path.exists() or path.is_symlink()


def _searched(folder: Path) -> Iterator[Path]:
    """Yield the folder and its parents, as far as git searches."""
    ceilings = os.environ.get("GIT_CEILING_DIRECTORIES", "").split(":")
    across = os.environ.get("GIT_DISCOVERY_ACROSS_FILESYSTEM", "").lower() in ("1", "true", "yes")
    device = _device(folder)
    for up in (folder, *folder.parents):
        stopped = str(up) in ceilings or (_device(up) != device and not across)
        if up != folder and stopped:
            return
        yield up


def _device(path: Path) -> int | None:
    try:
        return path.stat().st_dev
    except OSError:
        return None


def is_git_folder(path: Path | None) -> bool:
    """Return whether git accepts this path as the git directory of a repository or of a linked
    worktree."""
    if path is None or not _is_head(path / "HEAD"):
        return False
    common = _content(path / "commondir").strip()
    shared = path / os.fsdecode(common) if common else path
    return (shared / "objects").is_dir() and (shared / "refs").is_dir()


def _is_head(head: Path) -> bool:
    try:
        if head.is_symlink():
            return str(head.readlink()).startswith("refs/")
    except OSError:
        return False
    return _HEAD.match(_content(head)) is not None


def _pointed_at(mark: Path) -> Path | None:
    """Return the folder that a `.git` file points to; None if the file has another format."""
    key, _, place = _content(mark).rstrip(b"\r\n").partition(b": ")
    if key != b"gitdir" or not place or b"\0" in place:
        return None
    return mark.parent / os.fsdecode(place)


def _content(file: Path) -> bytes:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        plain = stat.S_ISREG(os.fstat(handle).st_mode)
        return os.read(handle, _LONGEST) if plain else b""
    except OSError:
        return b""
    finally:
        os.close(handle)

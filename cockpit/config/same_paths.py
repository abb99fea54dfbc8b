"""Compare paths as the file system does.

On macOS `~/Code` and `~/code` are usually the same folder, and the system reports the name that the
folder was created with, whatever the user typed. A plain comparison would miss that two agents work
in one folder, or that a process is running in a worktree that the user removes.
"""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path


def same_path(one: Path | str, other: Path | str) -> bool:
    """Return whether two paths lead to the same file or folder. Follows symlinks."""
    first, second = os.path.realpath(one), os.path.realpath(other)
    return first == second or (_folded(first) == _folded(second) and _is_one_file(first, second))


def is_within(path: Path, folder: Path) -> bool:
    """Return whether a path is the folder or below it. Both must be real paths, without
    symlinks."""
    if path.is_relative_to(folder):
        return True
    depth = len(folder.parts)
    top = os.path.join(*path.parts[:depth])  # noqa: PTH118  a path with fewer parts is compared too
    return _folded(top) == _folded(str(folder)) and _is_one_file(top, str(folder))


def _folded(path: str) -> str:
    """Return the path case-folded and in Unicode form NFC, for comparison."""
    return unicodedata.normalize("NFC", path).casefold()


def _is_one_file(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except OSError:
        return False

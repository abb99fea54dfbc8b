"""Find the main checkout of a directory from git's files, without running git."""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_text

_LARGEST_POINTER = 8192
"""Maximum bytes of a `.git` file or a `commondir` file; each contains one path."""


def main_checkout(directory: Path) -> Path | None:
    """Return the root of the main checkout for a directory, which may be in a linked worktree.

    None outside a repository. For a worktree of a bare repository, returns the bare repository.
    """
    for folder in (directory, *directory.parents):
        marker = folder / ".git"
        if marker.is_dir():
            return folder
        if marker.is_file():
            return _owner_of(marker) or folder
    return None


def _owner_of(marker: Path) -> Path | None:
    """Return a worktree's main checkout, from its `.git` file.

    None for another `.git` file, such as a submodule's.
    """
    try:
        pointer = read_text(marker, _LARGEST_POINTER).removeprefix("gitdir:").strip()
        private = marker.parent / pointer
        common = private / read_text(private / "commondir", _LARGEST_POINTER).strip()
    except OSError:
        return None
    folder = Path(os.path.normpath(common))
    return folder.parent if folder.name == ".git" else folder

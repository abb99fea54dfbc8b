"""Detect paths inside a `.git` directory or a bare repository.

cockpit lets no agent work in such a folder, and writes no document or copied file into one, because
the files in a git directory control what git runs (hooks, configuration, the repositories of
submodules).
"""

from __future__ import annotations

import os
from pathlib import Path

from cockpit.config.project import is_checkout, is_git_folder
from cockpit.core.git_names import is_git_name


def git_folder_around(path: Path, *, also: Path | None = None) -> Path | None:
    """Return the `.git` directory or bare repository that contains the path or is the path; None if
    there is none.

    Symlinks are resolved, and other spellings of `.git` are recognised. A checkout inside a bare
    repository's folder is not part of the repository. `also` is another git directory to check. The
    path need not exist.
    """
    written, real = Path(os.path.normpath(path)), Path(os.path.realpath(path))
    for place in (written, real):
        for up in (place, *place.parents):
            if is_git_name(up.name) or (also is not None and _same(up, also)):
                return up
    for up in (real, *real.parents):
        if is_git_folder(up):
            return up
        if is_checkout(up):
            return None
    return None


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False

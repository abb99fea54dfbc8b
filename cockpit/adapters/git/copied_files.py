"""Copy untracked files, such as `.env`, from a checkout into a new worktree.

Overwrites nothing, follows no symlink out of the repository, and runs no program.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from cockpit.config.git_folders import git_folder_around
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line


def bring(source: Path, target: Path, names: tuple[str, ...]) -> list[str]:
    """Copy files or folders by name; return the names that were copied.

    Skips names that are missing in `source` or already exist in `target`. Raises `Failed`.
    """
    return [name for name in names if _bring(source, target, name)]


def _bring(source: Path, target: Path, name: str) -> bool:
    there, here = source / name, target / name
    if not there.exists() or os.path.lexists(here):
        return False
    for path, root in ((there, source), (here.parent, target)):
        if not path.resolve().is_relative_to(root.resolve()):
            raise Failed(
                f"{name} is outside the repository",
                f"{path} resolves to {path.resolve()}.",
                "Remove this path from worktree.copy_files.",
            )
        if (folder := git_folder_around(path)) is not None:
            raise Failed(
                f"{safe_line(name)} is in a .git directory",
                f"{safe_line(str(path))} is in {safe_line(str(folder))}.",
                "Remove this path from worktree.copy_files.",
            )
    try:
        here.parent.mkdir(parents=True, exist_ok=True)
        if there.is_dir():
            shutil.copytree(there, here, symlinks=True)
        else:
            shutil.copy2(there, here)
    except (OSError, shutil.Error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)[:300]
        raise Failed(
            f"Cannot copy {name} into the worktree",
            why,
            hint="Make the file readable, or remove it from worktree.copy_files.",
        ) from error
    return True

"""Which repository a folder belongs to, and which file of it configures cockpit.

Looks at names and reads nothing. Standard library only: coming back to a screen goes through here.
"""

from __future__ import annotations

from pathlib import Path

FILE_NAME = "cockpit.toml"


def project_file(cwd: Path) -> Path | None:
    """The nearest `cockpit.toml` from here up to the root of the repository.

    Outside any repository only `cwd` itself is looked at: what stands above it, in a shared
    folder perhaps, is nobody's project.
    """
    root = repository_root(cwd)
    for folder in (cwd, *cwd.parents):
        if is_there(folder / FILE_NAME):
            return folder / FILE_NAME
        if folder == (root or cwd):
            break
    return None


def repository_root(folder: Path) -> Path | None:
    """The folder with `.git` in it (a folder, or a worktree's file) at or above this one."""
    return next((up for up in (folder, *folder.parents) if (up / ".git").exists()), None)


def is_there(path: Path) -> bool:
    """A link that leads nowhere is there too: it is refused, not passed over."""
    return path.exists() or path.is_symlink()

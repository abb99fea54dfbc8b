"""`cockpit init`: write a first configuration for the current repository."""

from __future__ import annotations

import re
from pathlib import Path

from cockpit.adapters.files.foreign_files import read_text
from cockpit.cli.agent_guard import refuse_inside_agent
from cockpit.cli.output import say
from cockpit.config.project import FILE_NAME, foreign_part, repository_root
from cockpit.config.write import first_file, write_first_file
from cockpit.core.errors import Failed
from cockpit.core.safetext import safe_line


def init(folder: Path | None = None) -> int:
    """Write `cockpit.toml` at the root of the repository, else in the current directory.

    Prints the path of the file. Raises `Failed` if the file exists, or if another user owns the
    repository.
    """
    refuse_inside_agent("write a configuration")
    here = (folder or Path.cwd()).absolute()
    root = repository_root(here)
    path = (root or here) / FILE_NAME
    if root is not None and (part := foreign_part(path)) is not None:
        raise Failed(
            f"{safe_line(str(root))} is not your own repository",
            f"{safe_line(str(part))} belongs to another user. No file was written.",
            "If the repository is yours, change its owner with chown. Otherwise run this command "
            "in your own repository.",
        )
    write_first_file(path, first_file(path.parent.name, default_branch(root) if root else None))
    print(safe_line(str(path)))
    if root is None:
        say("Not a git repository: agents can work here, but cannot get their own worktrees.")
    say(f"Edit the agents in {FILE_NAME}, then run: cockpit start NAME; cockpit")
    return 0


def default_branch(root: Path) -> str:
    """Return the branch that worktrees start from: the remote's default, else the current branch.

    Reads git's files directly, because running git could run programs that the repository
    configures. Falls back to `main`.
    """
    git = _git_folder(root)
    common = _first_line(git / "commondir")
    shared = (git / common) if common else git
    for head in (shared / "refs" / "remotes" / "origin" / "HEAD", git / "HEAD"):
        if match := re.fullmatch(r"ref: refs/(?:heads|remotes/origin)/(\S+)", _first_line(head)):
            return match[1]
    return "main"


def _git_folder(root: Path) -> Path:
    git = root / ".git"
    if git.is_file() and (match := re.fullmatch(r"gitdir: (.+)", _first_line(git))):
        return root / match[1]
    return git


def _first_line(file: Path) -> str:
    try:
        return read_text(file, 4096, cut=True).partition("\n")[0].strip()
    except OSError:
        return ""

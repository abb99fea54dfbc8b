"""`cockpit init`: a first configuration for the repository that the pilot stands in."""

from __future__ import annotations

import re
from pathlib import Path

from cockpit.cli.speech import say
from cockpit.config.project import FILE_NAME, repository_root
from cockpit.config.write import first_file, write_first_file
from cockpit.core.safetext import safe_line


def init(folder: Path | None = None) -> int:
    """Write `cockpit.toml` at the root of the repository, else right here.

    Prints its path. Raises `Failed` when there is one already.
    """
    here = (folder or Path.cwd()).absolute()
    root = repository_root(here)
    path = (root or here) / FILE_NAME
    write_first_file(path, first_file(path.parent.name, default_branch(root) if root else None))
    print(safe_line(str(path)))
    if root is None:
        say("This is no git repository: agents can work here, but not in worktrees of their own.")
    say("Say in it what the agents are for, then: cockpit start NAME; cockpit")
    return 0


def default_branch(root: Path) -> str:
    """The branch that worktrees would start at: the remote's main one, else the present one.

    Read from git's own files, so that nothing a repository names is run; `main` where they do
    not tell.
    """
    git = _git_folder(root)
    common = _first_line(git / "commondir")
    shared = (git / common) if common else git
    for head in (shared / "refs" / "remotes" / "origin" / "HEAD", git / "HEAD"):
        if found := re.fullmatch(r"ref: refs/(?:heads|remotes/origin)/(\S+)", _first_line(head)):
            return found[1]
    return "main"


def _git_folder(root: Path) -> Path:
    git = root / ".git"
    if git.is_file() and (found := re.fullmatch(r"gitdir: (.+)", _first_line(git))):
        return root / found[1]
    return git


def _first_line(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return stream.readline(4096).strip()
    except OSError:
        return ""

"""A worktree whose creation is cut off is completed by the next start, and never looks as if the
agent had deleted files.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cockpit.adapters.git.creation import NOTE
from cockpit.adapters.git.worktrees import Git
from cockpit.core.errors import Failed


def run(directory: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=directory, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(own_home: Path) -> Path:
    repository = own_home / "repository"
    repository.mkdir()
    run(repository, "init", "-q")
    for name in ("changed", "missing"):
        (repository / name).write_text("one\n")
    run(repository, "add", ".")
    run(repository, "commit", "-q", "-m", "one")
    return repository


async def unfinished(repository: Path, tree: Path) -> Path:
    """Make a worktree as a kill leaves it while git writes the files; return its git folder."""
    await Git().ensure(repository, tree, "agent/api", "", agent="api", job="j")
    folder = Path(run(tree, "rev-parse", "--absolute-git-dir"))
    for file in (folder / NOTE, folder / "index", tree / "missing"):
        file.unlink()
    return folder


async def test_a_completion_that_is_killed_too_is_completed(
    repository: Path, own_home: Path
) -> None:
    tree = own_home / "tree"
    folder = await unfinished(repository, tree)
    (tree / "changed").write_text("by the user\n")
    killed = own_home / "killed-git"
    killed.write_text(
        '#!/bin/sh\ncase " $* " in *" checkout-index "*) kill -9 $$;; esac\nexec git "$@"\n'
    )
    killed.chmod(0o700)

    with pytest.raises(Failed, match="incomplete"):
        await Git(os.environ, program=str(killed)).ensure(repository, tree, "agent/api", "")
    made = await Git().ensure(repository, tree, "agent/api", "")

    assert not made.created
    assert (tree / "missing").read_text() == "one\n"
    assert (tree / "changed").read_text() == "by the user\n"
    assert run(tree, "status", "--porcelain") == "M changed"
    assert sorted(path.name for path in folder.iterdir() if "cockpit" in path.name) == [NOTE]


async def test_a_lock_of_the_killed_git_is_said(repository: Path, own_home: Path) -> None:
    tree = own_home / "tree"
    folder = await unfinished(repository, tree)
    (folder / "index.lock").touch()

    with pytest.raises(Failed, match=r"index\.lock"):
        await Git().ensure(repository, tree, "agent/api", "")

    (folder / "index.lock").unlink()
    await Git().ensure(repository, tree, "agent/api", "")
    assert run(tree, "status", "--porcelain") == ""

"""Git settings are read once, and again when one of their files changes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cockpit.adapters.git.command import GitCommand


def run(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=directory, check=True)


def set_global(own_home: Path, repository: Path) -> None:
    run(repository, "config", "--global", "core.pager", "less")


def set_xdg(own_home: Path, repository: Path) -> None:
    file = own_home / "config" / "git" / "config"
    file.parent.mkdir()
    run(repository, "config", "--file", str(file), "core.pager", "less")


def set_included(own_home: Path, repository: Path) -> None:
    run(repository, "config", "--file", str(own_home / "home" / "more"), "core.pager", "less")


def set_here(own_home: Path, repository: Path) -> None:
    run(repository, "config", "core.pager", "less")


@pytest.mark.parametrize("change", [set_global, set_xdg, set_included, set_here])
async def test_a_changed_file_is_read_again(
    own_home: Path, tmp_path: Path, change: Callable[[Path, Path], None]
) -> None:
    run(tmp_path, "init", "-q")
    more = own_home / "home" / "more"
    more.write_text("[core]\n\teditor = vi\n")
    run(tmp_path, "config", "--global", "include.path", str(more))
    git = GitCommand(os.environ)
    before = await git.snapshot(tmp_path)
    assert before is not None
    assert await git.snapshot(tmp_path) is before
    change(own_home, tmp_path)
    after = await git.snapshot(tmp_path)
    assert after is not None
    assert b"core.pager" in {setting.key for setting in after.settings}
    assert await git.snapshot(tmp_path) is after

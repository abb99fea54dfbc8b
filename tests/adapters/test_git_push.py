"""A push to a folder of this machine is refused where git would run that folder's hooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.adapters.git.worktrees import Git
from cockpit.core.errors import Failed
from tests.adapters.test_git_worktrees import run


@pytest.fixture
def repository(own_home: Path) -> Path:
    """With a bare remote beside it, `far.git`."""
    repository = own_home / "repository"
    repository.mkdir()
    run(repository, "init", "-q")
    run(repository, "commit", "-q", "--allow-empty", "-m", "one")
    run(repository, "branch", "agent/api")
    run(own_home, "init", "-q", "--bare", "far.git")
    run(repository, "remote", "add", "origin", str(own_home / "far.git"))
    return repository


async def push(repository: Path) -> str:
    return await Git().push(repository, "agent/api")


def hook(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pre-receive").write_text("#!/bin/sh\nexit 1\n")
    (folder / "pre-receive").chmod(0o755)


@pytest.mark.parametrize("written", ["checks", "ABSOLUTE", "~/checks"])
async def test_hooks_of_another_folder_count(
    repository: Path, own_home: Path, written: str
) -> None:
    far = own_home / "far.git"
    places = {"checks": far / "checks", "~/checks": own_home / "home" / "checks"}
    folder = places.get(written, own_home / "checks")
    hook(folder)
    path = str(folder) if written == "ABSOLUTE" else written
    run(far, "config", "core.hooksPath", path)
    with pytest.raises(Failed, match="Nothing was pushed") as refused:
        await push(repository)
    assert str(folder / "pre-receive") in refused.value.detail
    assert "To do it manually: git -C" in refused.value.hint
    (folder / "pre-receive").unlink()
    assert await push(repository) == "origin"


async def test_hooks_of_a_checkouts_configuration_count(repository: Path, own_home: Path) -> None:
    near = own_home / "near"
    run(own_home, "init", "-q", "near")
    run(near, "config", "core.hooksPath", "checks")
    hook(near / ".git" / "checks")
    run(repository, "remote", "set-url", "origin", str(near))
    with pytest.raises(Failed, match="Nothing was pushed"):
        await push(repository)


async def test_a_name_without_its_ending_is_looked_up_as_git_does(
    repository: Path, own_home: Path
) -> None:
    run(repository, "remote", "set-url", "origin", str(own_home / "far"))
    assert await push(repository) == "origin"
    hook(own_home / "far.git" / "hooks")
    with pytest.raises(Failed, match="Nothing was pushed"):
        await push(repository)


async def test_hooks_in_a_remotes_configuration_count(repository: Path, own_home: Path) -> None:
    run(own_home / "far.git", "config", "hook.check.command", "true")
    with pytest.raises(Failed, match="Nothing was pushed") as refused:
        await push(repository)
    assert "hook.check" in refused.value.detail


@pytest.mark.parametrize("way", ["encoded", "file"])
async def test_a_folder_by_another_name_is_found(
    repository: Path, own_home: Path, way: str
) -> None:
    far = own_home / "far.git"
    hook(far / "hooks")
    (own_home / "pointer").write_text(f"gitdir: {far}\n")
    written = {
        "encoded": f"file://{own_home}/%66ar.git",
        "file": str(own_home / "pointer"),
    }
    run(repository, "remote", "set-url", "origin", written[way])
    with pytest.raises(Failed, match="Nothing was pushed"):
        await push(repository)
    assert run(far, "for-each-ref") == ""

"""`cockpit init`: a first file, once."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from cockpit.cli.init import default_branch, init
from cockpit.core.errors import Failed
from tests.repositories import lay_repository


def _repository(folder: Path, head: str = "ref: refs/heads/trunk\n") -> Path:
    lay_repository(folder)
    (folder / ".git" / "HEAD").write_text(head)
    return folder


def test_it_writes_to_the_root_of_the_repository_and_prints_the_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = _repository(tmp_path / "My Project")
    (root / "deep").mkdir()
    assert init(root / "deep") == 0
    assert capsys.readouterr().out == f"{root}/cockpit.toml\n"
    text = (root / "cockpit.toml").read_text()
    assert tomllib.loads(text)["agents"][0]["name"] == "my-project"
    assert '# base = "trunk"' in text


def test_one_that_is_there_is_not_touched(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    (root / "cockpit.toml").write_text("mine")
    with pytest.raises(Failed, match="already exists"):
        init(root)
    assert (root / "cockpit.toml").read_text() == "mine"


def test_without_a_repository_it_is_written_here_and_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert init(tmp_path) == 0
    assert "Not a git repository" in capsys.readouterr().err
    assert "git_worktree" not in (tmp_path / "cockpit.toml").read_text()


def test_the_remotes_main_branch_comes_before_the_present_one(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    assert default_branch(root) == "trunk"
    remote = root / ".git" / "refs" / "remotes" / "origin"
    remote.mkdir(parents=True)
    (remote / "HEAD").write_text("ref: refs/remotes/origin/release/next\n")
    assert default_branch(root) == "release/next"


def test_a_worktree_asks_the_repository_it_belongs_to(tmp_path: Path) -> None:
    main = _repository(tmp_path / "main")
    git = main / ".git" / "worktrees" / "side"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/side\n")
    (git / "commondir").write_text("../..\n")
    side = tmp_path / "side"
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {git}\n")
    assert default_branch(side) == "side"
    remote = main / ".git" / "refs" / "remotes" / "origin"
    remote.mkdir(parents=True)
    (remote / "HEAD").write_text("ref: refs/remotes/origin/trunk\n")
    assert default_branch(side) == "trunk"


@pytest.mark.parametrize("head", ["", "4b825dc642cb6eb9a060e54bf8d69288fbee4904\n", "\xff\n"])
def test_a_detached_or_strange_head_is_main(tmp_path: Path, head: str) -> None:
    assert default_branch(_repository(tmp_path, head)) == "main"

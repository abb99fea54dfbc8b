"""Worktrees made of real repositories of every kind, and adopted; what they are locked with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cockpit.adapters.git.worktrees import Git
from cockpit.core.errors import BadUsage, Failed
from cockpit.ports.worktrees import Worktree


def run(directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=directory, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


async def make(
    repository: Path, directory: Path, branch: str = "agent/api", base: str = ""
) -> Worktree:
    made = Git().ensure(repository, directory, branch, base, agent="api", job="j")
    return await made


async def home(directory: Path) -> Path | None:
    return await Git().home(directory)


@pytest.fixture
def repository(own_home: Path) -> Path:
    repository = own_home / "repository"
    (repository / "packages" / "web").mkdir(parents=True)
    run(repository, "init", "-q")
    (repository / "packages" / "web" / "file").write_text("one\n")
    run(repository, "add", ".")
    run(repository, "commit", "-q", "-m", "one")
    return repository


async def test_a_worktree_is_noted_and_locked_against_other_tools(
    repository: Path, own_home: Path
) -> None:
    made = (await make(repository, own_home / "tree")).made
    assert made is not None
    head = run(repository, "rev-parse", "HEAD")
    assert (made.agent, made.job, made.commit, made.base) == ("api", "j", head, "refs/heads/main")
    assert not made.ready
    assert (await Git().trees(repository))[0].made == made
    refused = subprocess.run(
        ["git", "worktree", "remove", "--force", str(own_home / "tree")],
        cwd=repository,
        capture_output=True,
        check=False,
    )
    assert b"cockpit made this for api; cockpit worktrees remove" in refused.stderr
    run(repository, "worktree", "prune", "--expire=now")
    assert (own_home / "tree" / "packages").is_dir()


async def test_readiness_is_remembered_over_an_adoption(repository: Path, own_home: Path) -> None:
    await make(repository, own_home / "tree")
    await Git().set_ready(own_home / "tree")
    again = await make(repository, own_home / "tree")
    assert not again.created
    assert again.made is not None
    assert again.made.ready


async def test_a_worktree_of_somebody_else_is_adopted_as_theirs(
    repository: Path, own_home: Path
) -> None:
    run(repository, "worktree", "add", "-q", "-b", "agent/api", str(own_home / "tree"))
    adopted = await make(repository, own_home / "tree")
    assert (adopted.created, adopted.made) == (False, None)
    await Git().set_ready(own_home / "tree")
    assert (await Git().trees(repository))[0].made is None


async def test_one_that_was_cut_off_while_it_was_made_is_finished(
    repository: Path, own_home: Path
) -> None:
    tree = own_home / "tree"
    await make(repository, tree)
    folder = Path(run(tree, "rev-parse", "--absolute-git-dir"))
    (folder / "cockpit.json").unlink()
    (folder / "index").unlink()
    (tree / "packages" / "web" / "file").unlink()
    assert (await make(repository, tree)).created is False
    assert (tree / "packages" / "web" / "file").read_text() == "one\n"
    assert run(tree, "status", "--porcelain") == ""
    assert (folder / "cockpit.json").exists()


async def test_a_bare_repository_gets_worktrees(repository: Path, own_home: Path) -> None:
    bare = own_home / "bare.git"
    run(own_home, "clone", "-q", "--bare", str(repository), str(bare))
    assert await home(bare) == bare
    assert (await make(bare, own_home / "tree")).created
    assert (own_home / "tree" / "packages" / "web" / "file").exists()
    assert await home(own_home / "tree") == bare
    assert [tree.directory for tree in await Git().trees(bare)] == [own_home / "tree"]


async def test_a_bare_repository_may_lie_hidden_beside_its_worktrees(
    repository: Path, own_home: Path
) -> None:
    place = own_home / "place"
    place.mkdir()
    run(place, "clone", "-q", "--bare", str(repository), ".bare")
    (place / ".git").write_text("gitdir: ./.bare\n")
    assert await home(place) == place
    assert (await make(place, place / "tree")).created
    assert (await make(place, place / "tree")).created is False


async def test_where_a_directory_is_at_home(repository: Path, own_home: Path) -> None:
    await make(repository, own_home / "tree")
    inner = Path("packages/web")
    assert await home(repository / inner) == repository
    assert await home(own_home / "tree" / inner) == repository
    assert await home(own_home) is None


async def test_a_detached_head_is_a_base_without_a_name(repository: Path, own_home: Path) -> None:
    run(repository, "checkout", "-q", "--detach")
    made = (await make(repository, own_home / "tree")).made
    assert made is not None
    assert (made.base, made.commit) == ("", run(repository, "rev-parse", "HEAD"))


async def test_submodules_stay_empty_and_are_no_obstacle(repository: Path, own_home: Path) -> None:
    run(own_home, "init", "-q", "library")
    run(own_home / "library", "commit", "-q", "--allow-empty", "-m", "one")
    allowed = ("-c", "protocol.file.allow=always")
    run(repository, *allowed, "submodule", "--quiet", "add", str(own_home / "library"), "library")
    run(repository, "commit", "-q", "-m", "library")
    await make(repository, own_home / "tree")
    assert list((own_home / "tree" / "library").iterdir()) == []


async def test_making_runs_no_filter_that_the_repository_names(
    repository: Path, own_home: Path
) -> None:
    trap = own_home / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {own_home}/sprung\ncat\n")
    trap.chmod(0o700)
    (repository / ".gitattributes").write_text("* filter=a=b\n* filter=x\n")
    run(repository, "add", ".")
    run(repository, "commit", "-q", "-m", "two")
    for key in ("smudge", "process"):
        run(repository, "config", f"filter.x.{key}", str(trap))
    run(repository, "config", "filter.x.required", "true")
    run(repository, "config", "--global", "filter.pilots.smudge", "cat")
    made = await make(repository, own_home / "tree")
    assert made.unfiltered == ("x",)
    assert (own_home / "tree" / "packages" / "web" / "file").read_text() == "one\n"
    assert not (own_home / "sprung").exists()


async def test_an_exclusion_holds_from_the_folder_that_it_is_seen_from(repository: Path) -> None:
    inner = repository / "packages" / "[web]*"
    inner.mkdir()
    await Git().keep_out(inner, "/.cockpit/")
    for folder in (inner, repository / "packages"):
        (folder / ".cockpit").mkdir()
        (folder / ".cockpit" / "paper").touch()
    assert run(repository, "status", "--porcelain") == "?? packages/.cockpit/"


async def bring(repository: Path, tree: Path, *names: str) -> list[str]:
    return await Git().bring(repository, tree, names)


async def test_files_are_brought_that_git_does_not_have(repository: Path, own_home: Path) -> None:
    await make(repository, own_home / "tree")
    (repository / ".env").write_text("SECRET=1\n")
    (repository / ".env").chmod(0o600)
    (repository / "cache" / "deep").mkdir(parents=True)
    (repository / "cache" / "deep" / "file").write_text("kept")
    (repository / "packages" / "web" / "file").write_text("mine")
    asked = (".env", "cache", "packages/web/file", "nothing")
    assert await bring(repository, own_home / "tree", *asked) == [".env", "cache"]
    assert (own_home / "tree" / ".env").read_text() == "SECRET=1\n"
    assert (own_home / "tree" / ".env").stat().st_mode & 0o777 == 0o600
    assert (own_home / "tree" / "cache" / "deep" / "file").read_text() == "kept"
    assert (own_home / "tree" / "packages" / "web" / "file").read_text() == "one\n"


@pytest.mark.parametrize("name", ["link", "folder/inside", "../outside"])
async def test_nothing_is_brought_from_elsewhere(
    repository: Path, own_home: Path, name: str
) -> None:
    await make(repository, own_home / "tree")
    (own_home / "outside").write_text("precious")
    (repository / "link").symlink_to(own_home / "outside")
    (own_home / "place").mkdir()
    (own_home / "place" / "inside").touch()
    (repository / "folder").symlink_to(own_home / "place")
    (own_home / "tree" / "x").mkdir()
    with pytest.raises(Failed, match="is outside the repository"):
        await bring(repository, own_home / "tree" / "x", name)
    assert list((own_home / "tree" / "x").iterdir()) == []


async def test_a_partial_clone_without_the_files_is_told_how_to_get_them(
    repository: Path, own_home: Path
) -> None:
    run(repository, "config", "uploadpack.allowFilter", "true")
    clone, tree = own_home / "clone", own_home / "tree"
    # Without a checkout the clone has no file of any commit.
    source = f"file://{repository}"
    run(own_home, "clone", "-q", "--no-checkout", "--filter=blob:none", source, str(clone))
    with pytest.raises(Failed, match="is incomplete") as refused:
        await make(clone, tree)
    assert refused.value.hint.endswith(f"git -C {clone} fetch --refetch --no-filter origin")
    run(clone, "fetch", "-q", "--refetch", "--no-filter", "origin")
    await make(clone, tree)
    assert (tree / "packages" / "web" / "file").read_text() == "one\n"


@pytest.mark.parametrize(
    "place",
    ["repository/.git/modules", "repository/.git/refs/heads/x", "repository/.GIT/x", "way/hooks",
     "bare.git/hooks", "bare.git/x/y", "repository/.git/worktrees/one/x", "apart/x"],
)  # fmt: skip
async def test_no_worktree_is_made_in_a_folder_of_gits(
    repository: Path, own_home: Path, place: str
) -> None:
    run(repository, "worktree", "add", "-q", str(own_home / "one"))
    run(own_home, "clone", "-q", "--bare", str(repository), "bare.git")
    run(own_home, "clone", "-q", "--separate-git-dir=apart", str(repository), "checkout")
    (own_home / "way").symlink_to(repository / ".git")
    target = own_home / place
    git = Git()
    for attempt in (
        git.ensure(repository, target, "agent/api", "", agent="api", job="j"),
        git.foresee(repository, target, "agent/api", ""),
    ):
        with pytest.raises(BadUsage, match="Cannot create a worktree at"):
            await attempt
    assert run(repository, "branch", "--list", "agent/api") == ""
    assert not (target / "packages").exists()


@pytest.mark.parametrize("branch", ["agent/new", "agent/old"])
async def test_a_hook_by_configuration_is_foreseen(
    repository: Path, own_home: Path, branch: str
) -> None:
    run(repository, "branch", "agent/old")
    there = own_home / "there"
    await make(repository, there)
    run(repository, "config", "hook.check.command", "true")
    git, target = Git(), own_home / "target"
    for attempt in (
        git.foresee(repository, target, branch, ""),
        git.ensure(repository, target, branch, "", agent="api", job="j"),
    ):
        with pytest.raises(Failed, match="No worktree was created") as refused:
            await attempt
        assert "hook.check" in refused.value.detail
    # git runs no hook to use a worktree that exists.
    used = run(there, "branch", "--show-current")
    assert await git.foresee(repository, there, used, "")
    assert not (await git.ensure(repository, there, used, "", agent="api", job="j")).created


async def test_a_worktree_may_lie_below_a_checkout_in_a_bare_repository(
    repository: Path, own_home: Path
) -> None:
    run(own_home, "clone", "-q", "--bare", str(repository), "bare.git")
    run(own_home / "bare.git", "worktree", "add", "-q", "--detach", "tree")
    assert (await make(repository, own_home / "bare.git" / "tree" / ".worktrees" / "api")).created


async def test_nothing_is_brought_into_or_from_a_folder_of_gits(
    repository: Path, own_home: Path
) -> None:
    tree = own_home / "tree"
    await make(repository, tree)
    (repository / "way").symlink_to(".git")
    (repository / "packages" / "own").write_text("x")
    run(repository, "init", "-q", str(tree / "inner"))
    (tree / "packages" / "web" / "file").unlink()
    (tree / "packages" / "web").rmdir()
    (tree / "packages" / "web").symlink_to(tree / "inner" / ".git" / "hooks")
    (repository / "packages" / "web" / "pre-commit").write_text("x")
    for name in ("way/config", "packages/web/pre-commit"):
        with pytest.raises(Failed, match=r"is in a \.git directory"):
            await Git().bring(repository, tree, (name,))

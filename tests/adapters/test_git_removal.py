"""Worktrees are looked at, salvaged and removed with real git, and nothing is ever lost."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cockpit.adapters.git.worktrees import Git
from cockpit.core.errors import Failed, NotNow
from cockpit.ports.worktrees import Tree
from tests.long_cases import cases


def run(directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=directory, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(directory: Path, subject: str) -> str:
    run(directory, "commit", "-q", "--allow-empty", "-m", subject)
    return run(directory, "rev-parse", "HEAD")


@pytest.fixture
def repository(own_home: Path) -> Path:
    repository = own_home / "repository"
    repository.mkdir()
    run(repository, "init", "-q")
    (repository / "file").write_text("one\n")
    (repository / ".gitignore").write_text("ignored*\n.cockpit\n")
    run(repository, "add", ".")
    commit(repository, "one")
    return repository


@pytest.fixture
async def tree(repository: Path, own_home: Path) -> Path:
    made = Git().ensure(repository, own_home / "tree", "agent/api", "", agent="api.x")
    return (await made).directory


async def seen(repository: Path) -> Tree:
    git = Git()
    return await git.examine((await git.trees(repository))[0])


async def remove(repository: Path, *left_out: str, objection: str | None = None) -> str | None:
    async def nobody(where: Path) -> str | None:
        assert where.is_dir()
        return objection

    return (await Git().remove(await seen(repository), nobody, left_out)).salvage


async def test_a_worktree_is_described(repository: Path, tree: Path) -> None:
    first = await seen(repository)
    assert (first.directory, first.branch) == (tree, "agent/api")
    assert (first.changed, first.untracked, first.ignored, first.alone) == (0, 0, (), 0)
    assert (first.behind, first.busy, first.lock, first.missing, first.inner) == (
        0, None, None, False, (),
    )  # fmt: skip
    commit(tree, "mine")
    commit(repository, "theirs")
    (tree / "file").write_text("two\n")
    (tree / "new").touch()
    (tree / "ignored").touch()
    (tree / ".cockpit").mkdir()
    (tree / ".cockpit" / "paper").touch()
    then = await seen(repository)
    assert (then.changed, then.untracked, then.ignored) == (1, 1, ("ignored",))
    assert (then.alone, then.behind) == (1, 1)
    run(repository, "merge", "-q", "agent/api")
    now = await seen(repository)
    assert (now.alone, now.behind) == (0, 2)


async def test_commits_on_a_remote_are_not_alone(
    repository: Path, tree: Path, own_home: Path
) -> None:
    run(own_home, "init", "-q", "--bare", "far.git")
    run(repository, "remote", "add", "origin", str(own_home / "far.git"))
    commit(tree, "mine")
    assert (await seen(repository)).alone == 1
    run(tree, "push", "-q", "origin", "agent/api")
    assert (await seen(repository)).alone == 0


async def test_what_the_main_checkout_has_too_is_not_held_against_it(
    repository: Path, tree: Path
) -> None:
    for folder in (repository, tree):
        (folder / "ignored.env").write_text("SECRET=1\n")
    assert (await seen(repository)).ignored == ()
    (tree / "ignored.env").write_text("SECRET=2\n")
    assert (await seen(repository)).ignored == ("ignored.env",)


async def test_other_repositories_inside_are_found(
    repository: Path, tree: Path, own_home: Path
) -> None:
    run(own_home, "init", "-q", "library")
    commit(own_home / "library", "one")
    allowed = ("-c", "protocol.file.allow=always")
    run(tree, *allowed, "submodule", "--quiet", "add", str(own_home / "library"), "library")
    run(tree, "init", "-q", "ignored/clone")
    run(repository, "worktree", "add", "-q", "-b", "other", str(tree / "ignored" / "other"))
    (worktree,) = [one for one in await Git().trees(repository) if one.directory == tree]
    inner = (await Git().examine(worktree)).inner
    assert sorted(inner) == ["ignored/clone", "ignored/other", "library"]


async def test_commits_of_a_submodule_that_no_remote_has_are_found(
    repository: Path, tree: Path, own_home: Path
) -> None:
    run(own_home, "init", "-q", "library")
    commit(own_home / "library", "one")
    allowed = ("-c", "protocol.file.allow=always")
    run(tree, *allowed, "submodule", "--quiet", "add", str(own_home / "library"), "library")
    commit(tree, "with a library")
    assert (await seen(repository)).modules == ()
    commit(tree / "library", "mine alone")
    run(tree, "submodule", "--quiet", "deinit", "-f", "library")
    (kept,) = (await seen(repository)).modules
    assert run(Path(kept), "log", "-1", "--format=%s") == "mine alone"
    run(repository, "worktree", "unlock", str(tree))
    shutil.rmtree(tree)
    now = await seen(repository)
    assert (now.missing, now.modules) == (True, (kept,))
    run(Path(kept), "push", "-q", "origin", "HEAD:refs/heads/mine")
    assert (await seen(repository)).modules == ()


async def test_a_clean_worktree_goes_and_its_branch_stays(repository: Path, tree: Path) -> None:
    mine = commit(tree, "mine")
    (tree / ".cockpit").mkdir()
    (tree / ".cockpit" / "paper").touch()
    kept = await remove(repository)
    assert kept is not None
    assert kept.startswith("refs/cockpit/salvage/api-x/2")
    assert not tree.exists()
    assert run(repository, "rev-parse", "agent/api") == mine
    assert run(repository, "merge-base", "--is-ancestor", mine, kept) == ""
    assert run(repository, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert list(tree.parent.glob(".tree*")) == []


async def test_everything_uncommitted_is_in_the_reference(repository: Path, tree: Path) -> None:
    head = commit(tree, "mine")
    (tree / "file").write_text("staged\n")
    run(tree, "add", "file")
    (tree / "file").write_text("not staged\r\nmixed\n")
    (tree / "new ü\n#(x)").write_text("new\n")
    (tree / "ignored-dir").mkdir()
    (tree / "ignored-dir" / "data").write_text("data\n")
    (tree / "link").symlink_to("/nowhere")
    (tree / "program").write_text("#!/bin/sh\n")
    (tree / "program").chmod(0o755)
    kept = await remove(repository)
    assert kept is not None
    assert not tree.exists()
    shown = subprocess.run(
        ["git", "show", f"{kept}:file"], cwd=repository, check=True, capture_output=True
    )
    assert shown.stdout == b"not staged\r\nmixed\n"
    assert run(repository, "show", f"{kept}:new ü\n#(x)") == "new"
    assert run(repository, "show", f"{kept}:ignored-dir/data") == "data"
    assert run(repository, "show", f"{kept}^2:file") == "staged"
    assert run(repository, "rev-parse", f"{kept}^1") == head
    modes = run(repository, "ls-tree", kept, "link", "program")
    assert [line.split()[0] for line in modes.splitlines()] == ["120000", "100755"]
    assert run(repository, "status", "--porcelain") == ""


@pytest.mark.parametrize("told", cases("--assume-unchanged", long=["--skip-worktree"]))
async def test_what_git_was_told_not_to_look_at_is_kept(
    repository: Path, tree: Path, told: str
) -> None:
    run(tree, "update-index", told, "file")
    (tree / "file").write_text("mine alone\n")
    assert run(tree, "status", "--porcelain") == ""
    kept = await remove(repository)
    assert run(repository, "show", f"{kept}:file") == "mine alone"


@pytest.mark.parametrize("told", cases("--assume-unchanged", long=["--skip-worktree"]))
async def test_what_git_was_told_not_to_look_at_is_counted(
    repository: Path, tree: Path, told: str
) -> None:
    run(tree, "update-index", told, "file", ".gitignore")
    folder = Path(run(tree, "rev-parse", "--absolute-git-dir"))
    now = await seen(repository)
    assert (now.changed, now.overlooked) == (0, 0)
    (tree / "file").write_text("mine alone\n")
    (tree / "other").write_text("new\n")
    run(tree, "add", "other")
    index = (folder / "index").read_bytes()
    now = await seen(repository)
    assert (now.changed, now.overlooked) == (2, 1)
    assert (folder / "index").read_bytes() == index


async def test_a_sparse_checkout_is_clean(repository: Path, tree: Path) -> None:
    run(tree, "sparse-checkout", "set", "--no-cone", "/file")
    assert not (tree / ".gitignore").exists()
    now = await seen(repository)
    assert (now.changed, now.overlooked) == (0, 0)


@pytest.mark.long
async def test_what_lies_outside_a_sparse_checkout_is_kept(repository: Path, tree: Path) -> None:
    (tree / "far").mkdir()
    (tree / "far" / "away").write_text("away\n")
    run(tree, "add", ".")
    commit(tree, "far")
    run(tree, "sparse-checkout", "set", "--no-cone", "/file")
    (tree / "near").mkdir()
    (tree / "near" / "new").write_text("new\n")
    kept = await remove(repository)
    assert run(repository, "show", f"{kept}:near/new") == "new"
    assert run(repository, "show", f"{kept}:far/away") == "away"


async def test_what_is_left_out_is_not_kept(repository: Path, tree: Path) -> None:
    (tree / "ignored-dir").mkdir()
    (tree / "ignored-dir" / "data").write_text("data\n")
    (tree / "ignored[1]").write_text("data\n")
    (tree / "ignored1").write_text("data\n")
    kept = await remove(repository, "ignored-dir/", "ignored[1]")
    assert kept is not None
    assert run(repository, "ls-tree", "--name-only", "-r", kept).splitlines() == [
        ".gitignore", "file", "ignored1",
    ]  # fmt: skip


async def test_salvaging_changes_nothing(repository: Path, tree: Path) -> None:
    (tree / "new").write_text("new\n")
    before = (run(tree, "status", "--porcelain"), run(tree, "rev-parse", "HEAD"))
    kept = await Git().salvage(await seen(repository))
    again = await Git().salvage(await seen(repository))
    assert kept is not None
    assert again not in (None, kept)
    assert (run(tree, "status", "--porcelain"), run(tree, "rev-parse", "HEAD")) == before
    assert run(repository, "show", f"{kept}:new") == "new"
    folder = Path(run(tree, "rev-parse", "--absolute-git-dir"))
    assert list(folder.glob("cockpit-index*")) == []


@pytest.mark.long
async def test_an_index_laid_into_gits_folder_is_not_used(
    repository: Path, tree: Path, own_home: Path
) -> None:
    """Who may write to git's folder cannot decide what is kept, nor where it is written."""
    folder = Path(run(tree, "rev-parse", "--absolute-git-dir"))
    target = own_home / "target"
    target.write_text("theirs\n")
    (folder / "cockpit-index").symlink_to(target)
    (folder / "cockpit-index.lock").write_text("")
    (tree / "new").write_text("new\n")
    git = Git(private=own_home / "private")
    kept = await git.salvage(await seen(repository))
    assert run(repository, "show", f"{kept}:new") == "new"
    assert (folder / "cockpit-index").is_symlink()
    assert (folder / "cockpit-index.lock").exists()
    assert target.read_text() == "theirs\n"
    assert list((own_home / "private").iterdir()) == []


async def test_an_objection_at_the_last_moment_puts_it_back(repository: Path, tree: Path) -> None:
    (tree / "new").write_text("new\n")
    with pytest.raises(NotNow, match="was not removed") as caught:
        await remove(repository, objection="Somebody is in it.")
    assert caught.value.detail == "Somebody is in it."
    assert (tree / "new").read_text() == "new\n"
    assert run(tree, "status", "--porcelain") == "?? new"
    assert await remove(repository) is not None


async def test_a_change_during_the_removal_puts_it_back(repository: Path, tree: Path) -> None:
    async def meddling(where: Path) -> str | None:
        (where / "late").write_text("late\n")
        return None

    with pytest.raises(NotNow, match="was not removed") as caught:
        await Git().remove(await seen(repository), meddling)
    assert "changed during" in caught.value.detail
    assert (tree / "late").read_text() == "late\n"


async def test_a_removal_that_was_cut_off_is_undone(repository: Path, tree: Path) -> None:
    (tree / "new").write_text("new\n")
    tree.rename(tree.with_name(".tree.removing"))
    assert (await seen(repository)).missing
    with pytest.raises(NotNow, match="was interrupted"):
        await remove(repository)
    assert (tree / "new").read_text() == "new\n"
    assert (await seen(repository)).made is not None


async def test_a_folder_beside_it_that_no_removal_made_is_left_alone(
    repository: Path, tree: Path
) -> None:
    mine = tree.with_name(".tree.removing") / "mine"
    mine.mkdir(parents=True)
    (mine / "work").write_text("mine\n")
    await remove(repository)
    assert (mine / "work").read_text() == "mine\n"
    assert not tree.exists()


async def test_one_whose_folder_is_gone_is_forgotten_by_git(
    repository: Path, tree: Path, own_home: Path
) -> None:
    run(tree, "checkout", "-q", "--detach")
    alone = commit(tree, "on no branch")
    tree.rename(own_home / "elsewhere")
    gone = await seen(repository)
    assert (gone.missing, gone.branch, gone.head) == (True, None, alone)

    async def never(where: Path) -> str | None:
        raise AssertionError(where)

    kept = (await Git().remove(gone, never)).salvage
    assert kept is not None
    assert run(repository, "rev-parse", kept) == alone
    assert await Git().trees(repository) == []


@pytest.mark.parametrize("is_saved", [True, False])
async def test_a_new_folder_in_place_of_one_that_is_gone_is_left_alone(
    repository: Path, tree: Path, *, is_saved: bool
) -> None:
    if not is_saved:
        run(tree, "checkout", "-q", "--orphan", "new-root")
        run(tree, "rm", "-q", "-r", "--cached", ".")
    shutil.rmtree(tree)
    gone = await seen(repository)
    tree.mkdir()

    async def never(where: Path) -> str | None:
        raise AssertionError(where)

    with pytest.raises(NotNow, match="git still lists") as caught:
        await Git().remove(gone, never)
    new = "Something new exists at the worktree's path, and was not changed."
    kept = run(repository, "for-each-ref", "--format=%(refname)", "refs/cockpit")
    assert bool(kept) == is_saved
    saved = f" {kept} contains all that was removed." if is_saved else ""
    assert caught.value.detail == new + saved
    assert tree.is_dir()


async def test_one_that_lost_its_git_file_is_left_alone(repository: Path, tree: Path) -> None:
    (tree / ".git").unlink()
    (tree / "new").write_text("new\n")
    assert (await seen(repository)).changed is None
    with pytest.raises(Failed, match="has no valid"):
        await remove(repository)
    assert (tree / "new").read_text() == "new\n"


@pytest.mark.long
async def test_before_the_first_commit_all_files_are_kept(repository: Path, tree: Path) -> None:
    run(tree, "checkout", "-q", "--orphan", "new-root")
    assert (await seen(repository)).head is None
    kept = await remove(repository)
    assert kept is not None
    assert run(repository, "show", f"{kept}:file") == "one"


async def test_a_conflict_is_kept_as_it_lies_there(repository: Path, tree: Path) -> None:
    (tree / "file").write_text("mine\n")
    run(tree, "commit", "-q", "-a", "-m", "mine")
    (repository / "file").write_text("theirs\n")
    run(repository, "commit", "-q", "-a", "-m", "theirs")
    merging = subprocess.run(
        ["git", "merge", "-q", "main"], cwd=tree, check=False, capture_output=True
    )
    assert merging.returncode == 1
    assert (await seen(repository)).busy == "merge"
    kept = await Git().salvage(await seen(repository))
    assert kept is not None
    assert "<<<<<<<" in run(repository, "show", f"{kept}:file")


async def test_salvaging_runs_no_filter_that_the_repository_names(
    repository: Path, tree: Path, own_home: Path
) -> None:
    trap = own_home / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {own_home}/sprung\ncat\n")
    trap.chmod(0o700)
    for key in ("clean", "process"):
        run(repository, "config", f"filter.x.{key}", str(trap))
    run(repository, "config", "filter.x.required", "true")
    (tree / ".gitattributes").write_text("* filter=x\n")
    (tree / "file").write_text("raw\n")
    now = await seen(repository)
    assert (now.changed, now.untracked) == (None, None)
    kept = await remove(repository)
    assert kept is not None
    assert not (own_home / "sprung").exists()
    assert run(repository, "show", f"{kept}:file") == "raw"


async def test_what_cannot_be_kept_is_not_removed(repository: Path, tree: Path) -> None:
    run(tree, "init", "-q", "inside")  # a repository without a commit cannot be added
    with pytest.raises(Failed, match="Cannot save all files in"):
        await remove(repository)
    assert (tree / "inside" / ".git").is_dir()


async def test_folders_that_forbid_it_are_deleted_too(repository: Path, tree: Path) -> None:
    (tree / "ignored-mod" / "cache").mkdir(parents=True)
    (tree / "ignored-mod" / "cache" / "file").write_text("x")
    (tree / "ignored-mod" / "cache").chmod(0o500)
    (tree / "ignored-mod").chmod(0o500)
    await remove(repository)
    assert not tree.exists()


@pytest.mark.long
async def test_a_path_with_line_feeds_holds_up_no_other(
    repository: Path, tree: Path, own_home: Path
) -> None:
    odd = own_home / "x\n\ny"
    run(repository, "worktree", "add", "-q", "--detach", str(odd))
    run(repository, "worktree", "add", "-q", "-b", "odd", str(own_home / "x\nbranch agent"))
    git = Git()
    found = {one.directory: one for one in await git.trees(repository)}
    assert set(found) == {tree, odd, own_home / "x\nbranch agent"}
    assert found[odd].head == run(repository, "rev-parse", "HEAD")
    with pytest.raises(Failed, match="is checked out elsewhere"):
        await git.foresee(repository, own_home / "other", "odd", "")

    async def nobody(_: Path) -> str | None:
        return None

    await git.remove(found[tree], nobody)
    assert odd.is_dir()
    assert not tree.exists()


async def test_a_repository_that_git_cannot_list_says_so(own_home: Path) -> None:
    run(own_home, "init", "-q", "broken")
    (own_home / "broken" / ".git" / "packed-refs").write_text("nonsense\n")
    with pytest.raises(Failed, match="Cannot list"):
        await Git().trees(own_home / "broken")

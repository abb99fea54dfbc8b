"""What is kept of a worktree holds every byte of it, and gives every byte back."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit.adapters.git.worktrees import Git
from cockpit.core.errors import BadUsage, CockpitError, Failed, NotNow
from cockpit.ports.worktrees import Removed, Tree
from tests.long_cases import cases

ATTRIBUTES = """\
* text=auto
*.key text
*.v ident
*.lf text eol=lf
*.crlf text eol=crlf
*.csv text working-tree-encoding=UTF-16
*.secret filter=vault
"""
FILES = {
    "fixture.http": b"POST / HTTP/1.1\r\nHost: x\r\n\r\nline\nbare\r\n",
    "blob.key": b"\x00\x01\r\n\x02\r\n",
    "note.v": b"$Id: my only note about the design $\n",
    "unix.lf": b"a\r\nb\n",
    "dos.crlf": b"a\nb\r\n",
    "table.csv": "a;ä\r\n".encode("utf-16"),
    "vault.secret": b"plain\r\n",
    "ignored.log": b"a\r\n",
    'line\nbreak "quoted" \\ \r': b"odd\r\n",
    "-dash": b"dash\n",
    "git~1": b"short name\n",
    "FILE": b"upper\n",
    "empty": b"",
}


def run(directory: Path, *arguments: str, given: str | None = None) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=directory, check=True, capture_output=True, text=True, input=given
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
    (repository / ".gitignore").write_text("ignored*\n")
    run(repository, "add", ".")
    commit(repository, "one")
    return repository


@pytest.fixture
async def tree(repository: Path, own_home: Path) -> Path:
    made = await Git().ensure(repository, own_home / "tree", "agent/api", "", agent="api")
    return made.directory


async def seen(repository: Path) -> Tree:
    git = Git()
    return await git.examine((await git.trees(repository))[0])


async def nobody(_: Path) -> str | None:
    return None


async def remove(repository: Path) -> str:
    removed: Removed = await Git().remove(await seen(repository), nobody)
    assert removed.salvage is not None
    return removed.salvage


def digests(top: Path) -> dict[str, tuple[str, bool]]:
    """Name -> what is in it and whether it can be run; `.git` left out."""
    found = {}
    for path in top.rglob("*"):
        name = str(path.relative_to(top))
        if name == ".git" or (path.is_dir() and not path.is_symlink()):
            continue
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        program = not path.is_symlink() and bool(path.stat().st_mode & 0o100)
        found[name] = (hashlib.sha256(content).hexdigest(), program)
    return found


async def restored(repository: Path, reference: str, folder: Path) -> dict[str, tuple[str, bool]]:
    await Git().restore(repository, reference, folder)
    return digests(folder)


# Bytes


async def test_every_byte_of_a_worktree_comes_back(
    repository: Path, tree: Path, own_home: Path
) -> None:
    run(repository, "config", "core.autocrlf", "input")
    run(repository, "config", "filter.vault.clean", "cat")
    (tree / ".gitattributes").write_text(ATTRIBUTES)
    for name, content in FILES.items():
        (tree / name).write_bytes(content)
    (tree / "program").write_bytes(b"#!/bin/sh\r\n")
    (tree / "program").chmod(0o755)
    (tree / "deep" / "er").mkdir(parents=True)
    (tree / "deep" / "er" / ".gitattributes").write_text("* -text\n")
    (tree / "deep" / "er" / "raw").write_bytes(b"a\r\n")
    (tree / "link").symlink_to("deep/er")
    (tree / "dangling").symlink_to("no\nwhere")
    (tree / os.fsdecode(b"latin-\xe9")).write_bytes(b"x")
    os.link(tree / "program", tree / "other-program")
    before = digests(tree)
    reference = await remove(repository)
    assert not tree.exists()
    assert await restored(repository, reference, own_home / "again") == before


async def test_a_restored_worktree_is_on_its_branch_with_its_bytes(
    repository: Path, tree: Path, own_home: Path
) -> None:
    (tree / ".gitattributes").write_text("* text=auto eol=crlf\n")
    (tree / "text").write_bytes(b"committed\r\n")
    run(tree, "add", ".")
    commit(tree, "mine")
    (tree / "file").write_bytes(b"two\r\nand\n")
    before = digests(tree)
    reference = await remove(repository)
    again = own_home / "again"
    run(repository, "worktree", "add", "-q", "--no-checkout", str(again), "agent/api")
    assert await restored(again, reference, again) == before
    run(again, "reset", "-q")
    assert run(again, "status", "--porcelain") == "M file"


async def test_line_endings_that_git_calls_clean_are_kept(repository: Path, tree: Path) -> None:
    (tree / ".gitattributes").write_text("* text=auto\n*.v ident\n")
    (tree / "script.bat").write_bytes(b"a\nb\n")
    (tree / "note.v").write_bytes(b"$Id$\n")
    run(tree, "add", ".")
    commit(tree, "attributes")
    (tree / "script.bat").write_bytes(b"a\r\nb\r\n")
    (tree / "note.v").write_bytes(b"$Id: the only note $\n")
    before = digests(tree)
    reference = await remove(repository)
    assert await restored(repository, reference, tree) == before


async def test_a_change_of_line_endings_during_the_removal_is_noticed(
    repository: Path, tree: Path
) -> None:
    (tree / ".gitattributes").write_text("* text=auto\n")
    (tree / "script").write_bytes(b"a\n")

    async def convert(where: Path) -> str | None:
        (where / "script").write_bytes(b"a\r\n")
        return None

    with pytest.raises(NotNow, match="was not removed"):
        await Git().remove(await seen(repository), convert)
    assert (tree / "script").read_bytes() == b"a\r\n"


@pytest.mark.long
async def test_what_has_no_bytes_does_not_hold_it_up(repository: Path, tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tree / "door"))
    (tree / "hollow").mkdir()
    await remove(repository)
    assert not tree.exists()


@pytest.mark.long
async def test_modes_are_kept_where_git_was_told_to_ignore_them(
    repository: Path, tree: Path, own_home: Path
) -> None:
    run(repository, "config", "core.fileMode", "false")
    (tree / "file").chmod(0o755)
    reference = await remove(repository)
    assert (await restored(repository, reference, own_home / "again"))["file"][1]


@pytest.mark.long
async def test_a_split_index_is_read(repository: Path, tree: Path) -> None:
    run(tree, "update-index", "--split-index")
    (tree / "file").write_text("staged\n")
    run(tree, "add", "file")
    (tree / "file").write_text("later\n")
    reference = await remove(repository)
    assert run(repository, "show", f"{reference}^2:file") == "staged"
    assert run(repository, "show", f"{reference}:file") == "later"


@pytest.mark.long
async def test_what_is_to_be_added_later_is_kept(repository: Path, tree: Path) -> None:
    (tree / "new").write_text("new\n")
    run(tree, "add", "--intent-to-add", "new")
    reference = await remove(repository)
    assert run(repository, "show", f"{reference}:new") == "new"


async def test_a_repository_that_appears_inside_is_not_removed(
    repository: Path, tree: Path
) -> None:
    """git's own `add` would note only which commit it is on, before and after."""
    before = await seen(repository)
    run(tree, "init", "-q", "inside")
    commit(tree / "inside", "mine")
    (tree / "inside" / "work").write_text("work\n")
    with pytest.raises(Failed, match="Cannot save all files in") as caught:
        await Git().remove(before, nobody)
    assert "inside" in caught.value.detail
    assert (tree / "inside" / "work").read_text() == "work\n"


async def test_a_worktree_whose_git_file_became_a_repository_is_not_removed(
    repository: Path, tree: Path
) -> None:
    (tree / ".git").unlink()
    run(tree, "init", "-q")
    mine = commit(tree, "mine")
    with pytest.raises(Failed, match="has no valid"):
        await Git().remove(await seen(repository), nobody)
    assert run(tree, "rev-parse", "HEAD") == mine


async def test_files_in_an_empty_submodule_are_kept(
    repository: Path, tree: Path, own_home: Path
) -> None:
    head = run(tree, "rev-parse", "HEAD")
    for name in ("library", "other"):
        run(tree, "update-index", "--add", "--cacheinfo", f"160000,{head},{name}")
        (tree / name).mkdir()
    commit(tree, "with libraries")
    (tree / "library" / "work").write_text("work\n")
    reference = await remove(repository)
    assert run(repository, "show", f"{reference}:library/work") == "work"
    assert run(repository, "ls-tree", reference, "other").split()[:3] == ["160000", "commit", head]


@pytest.mark.long
async def test_many_files_and_links_are_kept(repository: Path, tree: Path, own_home: Path) -> None:
    for number in range(4100):
        (tree / f"file-{number}").write_text(f"{number}\n")
    (tree / "link").symlink_to("file-1")
    before = digests(tree)
    reference = await remove(repository)
    assert await restored(repository, reference, own_home / "again") == before


# Giving back


async def test_nothing_is_restored_over_files(repository: Path, tree: Path, own_home: Path) -> None:
    reference = await remove(repository)
    target = own_home / "target"
    target.mkdir()
    (target / "mine").write_text("mine\n")
    with pytest.raises(BadUsage, match="is not empty"):
        await Git().restore(repository, reference, target)
    assert [path.name for path in target.iterdir()] == ["mine"]
    with pytest.raises(BadUsage, match="There is no"):
        await Git().restore(repository, "refs/cockpit/salvage/x", own_home / "x")


async def test_nothing_is_restored_through_a_link(
    repository: Path, tree: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder is exchanged for a link between two files that are written into it."""
    (tree / "sub").mkdir()
    for name in ("a", "b"):
        (tree / "sub" / name).write_text("mine\n")
    reference = await remove(repository)
    target, elsewhere = own_home / "target", own_home / "elsewhere"
    elsewhere.mkdir()
    plain_close = os.close

    def exchange(descriptor: int) -> None:
        plain_close(descriptor)
        if (target / "sub" / "a").exists() and not (target / "sub").is_symlink():
            (target / "sub").rename(own_home / "moved")
            (target / "sub").symlink_to(elsewhere)

    monkeypatch.setattr(os, "close", exchange)
    with pytest.raises(Failed, match="is incomplete"):
        await Git().restore(repository, reference, target)
    assert list(elsewhere.iterdir()) == []
    (own_home / "link").symlink_to(elsewhere)
    with pytest.raises(BadUsage, match="Cannot use"):
        await Git().restore(repository, reference, own_home / "link")
    assert list(elsewhere.iterdir()) == []


async def test_a_file_that_git_has_lost_is_named(
    repository: Path, tree: Path, own_home: Path
) -> None:
    (tree / "notes").write_text("mine\n")
    name = run(tree, "hash-object", "notes")
    reference = await remove(repository)
    (repository / ".git" / "objects" / name[:2] / name[2:]).unlink()
    with pytest.raises(Failed, match="no longer contains notes"):
        await Git().restore(repository, reference, own_home / "again")


@pytest.mark.parametrize("name", ["..", ".git", ".GiT"])
async def test_a_tree_with_names_that_lead_elsewhere_is_not_restored(
    repository: Path, own_home: Path, name: str
) -> None:
    blob = run(repository, "hash-object", "-w", "file")
    inner = run(repository, "mktree", given=f"100644 blob {blob}\tx\n")
    outer = run(repository, "mktree", given=f"040000 tree {inner}\t{name}\n")
    with pytest.raises(Failed, match="is not a valid file name"):
        await Git().restore(repository, outer, own_home / "again")
    assert not (own_home / "x").exists()


# What only git's own folder for the worktree has


async def test_a_commit_on_no_branch_is_counted_and_kept(repository: Path, tree: Path) -> None:
    run(tree, "checkout", "-q", "--detach")
    (tree / "p").write_text("precious\n")
    run(tree, "add", "p")
    precious = commit(tree, "precious")
    run(tree, "checkout", "-q", "agent/api")
    worktree = await seen(repository)
    assert (worktree.only_here, worktree.alone) == (1, 0)
    reference = await remove(repository)
    assert run(repository, "merge-base", "--is-ancestor", precious, reference) == ""
    run(repository, "gc", "-q", "--prune=now")
    assert run(repository, "show", f"{precious}:p") == "precious"


@pytest.mark.parametrize(
    "name", cases("refs/bisect/bad", long=["refs/worktree/keep", "refs/rewritten/x"])
)
async def test_what_its_own_references_hold_is_kept(
    repository: Path, tree: Path, name: str
) -> None:
    precious = commit(tree, "precious")
    run(tree, "update-ref", name, precious)
    run(tree, "reset", "-q", "--hard", "HEAD~1")
    (Path(run(tree, "rev-parse", "--absolute-git-dir")) / "logs" / "HEAD").unlink()
    (Path(run(tree, "rev-parse", "--absolute-git-dir")) / "ORIG_HEAD").unlink()
    assert (await seen(repository)).only_here == 1
    reference = await remove(repository)
    assert run(repository, "merge-base", "--is-ancestor", precious, reference) == ""


async def test_a_tag_and_a_file_that_only_its_references_hold_are_kept(
    repository: Path, tree: Path
) -> None:
    blob = run(tree, "hash-object", "-w", "--stdin", given="only here\n")
    run(tree, "update-ref", "refs/worktree/blob", blob)
    run(tree, "tag", "-a", "-m", "a note on it", "mine")
    tag = run(tree, "rev-parse", "mine")
    run(tree, "update-ref", "refs/worktree/tag", tag)
    run(tree, "tag", "-d", "mine")
    assert (await seen(repository)).only_here == 2
    reference = await remove(repository)
    assert run(repository, "show", f"{reference}^2:objects/{blob}") == "only here"
    assert "a note on it" in run(repository, "show", f"{reference}^2:objects/{tag}")


async def test_what_stays_elsewhere_is_not_counted(
    repository: Path, tree: Path, own_home: Path
) -> None:
    """On a branch, in a tag, kept before, or on another worktree's HEAD."""
    run(tree, "checkout", "-q", "--detach")
    run(tree, "branch", "other", commit(tree, "on a branch"))
    run(tree, "tag", "tagged", commit(tree, "tagged"))
    elsewhere = commit(tree, "elsewhere")
    run(tree, "checkout", "-q", "agent/api")
    assert (await seen(repository)).only_here == 1
    run(repository, "worktree", "add", "-q", "--detach", str(own_home / "z"), elsewhere)
    assert (await seen(repository)).only_here == 0
    run(repository, "worktree", "remove", str(own_home / "z"))
    await Git().salvage(await seen(repository))
    assert (await seen(repository)).only_here == 0


@pytest.mark.long
async def test_a_log_of_very_many_commits_is_kept(repository: Path, tree: Path) -> None:
    folder = Path(run(tree, "rev-parse", "--absolute-git-dir"))
    head = run(tree, "rev-parse", "HEAD")
    stream = "".join(
        f"commit refs/x/{number}\ncommitter a <a@b> {number} +0000\ndata 1\nx\n"
        for number in range(1200)
    )
    run(repository, "fast-import", "--quiet", given=stream)
    made = run(repository, "for-each-ref", "--format=%(objectname)", "refs/x").split()
    given = "".join(f"delete refs/x/{number}\n" for number in range(1200))
    run(repository, "update-ref", "--stdin", given=given)
    line = "{} {} a <a@b> 1 +0000\tcommit: x\n"
    (folder / "logs" / "HEAD").write_text("".join(line.format(head, one) for one in made))
    assert (await seen(repository)).only_here == 1200
    reference = await remove(repository)
    kept = run(repository, "rev-list", reference).split()
    assert set(made) <= set(kept)


async def test_what_is_staged_is_kept_when_the_folder_is_gone(repository: Path, tree: Path) -> None:
    (tree / "new").write_text("staged\n")
    run(tree, "add", "new")
    assert subprocess.run(["rm", "-rf", str(tree)], check=True).returncode == 0
    worktree = await seen(repository)
    assert (worktree.missing, worktree.changed) == (True, 1)
    reference = await remove(repository)
    assert "staged" in run(repository, "log", "-p", "--format=%s", reference)
    run(repository, "gc", "-q", "--prune=now")
    assert run(repository, "show", f"{reference}^2:new") == "staged"


async def test_all_sides_of_a_conflict_are_kept(repository: Path, tree: Path) -> None:
    blobs = [
        run(tree, "hash-object", "-w", "--stdin", given=f"side {number}\n") for number in range(4)
    ]
    lines = "".join(f"100644 {blobs[stage]} {stage}\tfile\n" for stage in (1, 2, 3))
    run(tree, "update-index", "--force-remove", "file")
    run(tree, "update-index", "--index-info", given=lines)
    reference = await remove(repository)
    run(repository, "gc", "-q", "--prune=now")
    parents = [f"{reference}^{number}:file" for number in (2, 3, 4)]
    assert [run(repository, "show", one) for one in parents] == ["side 1", "side 2", "side 3"]


async def test_a_half_done_operation_is_kept_when_the_folder_is_gone(
    repository: Path, tree: Path
) -> None:
    folder = Path(run(tree, "rev-parse", "--absolute-git-dir"))
    (folder / "rebase-apply").mkdir()
    (folder / "rebase-apply" / "0001").write_text("a patch that nobody has applied\n")
    subprocess.run(["rm", "-rf", str(tree)], check=True)
    reference = await remove(repository)
    shown = run(repository, "show", f"{reference}^2:git/rebase-apply/0001")
    assert shown == "a patch that nobody has applied"


async def test_a_commit_during_the_removal_is_noticed(repository: Path, tree: Path) -> None:
    """By a process that was told where git's folder is."""
    run(tree, "checkout", "-q", "--detach")
    folder = run(tree, "rev-parse", "--absolute-git-dir")

    async def late(where: Path) -> str | None:
        run(where, f"--git-dir={folder}", "commit", "-q", "--allow-empty", "-m", "late")
        return None

    with pytest.raises(NotNow, match="was not removed"):
        await Git().remove(await seen(repository), late)
    assert run(tree, "log", "-1", "--format=%s") == "late"


# Folders beside it, and removals that were killed

KILLED = """
import asyncio, os, sys
from pathlib import Path
from cockpit.adapters.git.worktrees import Git

moment, repository = sys.argv[1], Path(sys.argv[2])

def watch(event, arguments):
    if event == "shutil.rmtree" and moment == "deleting" and ".removing-" in str(arguments[0]):
        left = Path(arguments[0])
        (left / "file").unlink()
        os._exit(9)

sys.addaudithook(watch)

async def objection(where):
    if moment == "moved":
        os._exit(9)

async def main():
    git = Git()
    tree = await git.examine((await git.trees(repository))[0])
    await git.remove(tree, objection)

asyncio.run(main())
"""


def killed(repository: Path, moment: str) -> Path:
    """The folder that a removal left, which was killed when it had done so much."""
    words = [sys.executable, "-c", KILLED, moment, str(repository)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 9, done.stderr
    (left,) = repository.parent.glob(".tree.removing-*")
    return left


async def test_a_removal_killed_before_it_compared_is_undone(repository: Path, tree: Path) -> None:
    (tree / "new").write_text("new\n")
    left = killed(repository, "moved")
    (left / "late").write_text("late\n")
    with pytest.raises(NotNow, match="was interrupted"):
        await remove(repository)
    assert (tree / "new").read_text() == "new\n"
    assert (tree / "late").read_text() == "late\n"
    reference = await remove(repository)
    assert run(repository, "show", f"{reference}:late") == "late"
    assert list(tree.parent.glob(".tree.*")) == []


async def test_a_removal_killed_while_it_deleted_is_finished(repository: Path, tree: Path) -> None:
    (tree / "new").write_text("new\n")
    left = killed(repository, "deleting")
    assert sorted(path.name for path in left.iterdir()) == [".git", ".gitignore", "new"]
    reference = await remove(repository)
    assert not left.exists()
    assert not tree.exists()
    assert run(repository, "show", f"{reference}:new") == "new"
    assert run(repository, "show", f"{reference}:file") == "one"
    assert await Git().trees(repository) == []
    (only,) = run(repository, "for-each-ref", "--format=%(refname)", "refs/cockpit").split()
    assert only == reference


async def test_what_was_changed_since_a_killed_removal_is_left(
    repository: Path, tree: Path
) -> None:
    left = killed(repository, "deleting")
    (left / ".gitignore").write_text("mine\n")
    with pytest.raises(NotNow, match="An earlier removal did not finish") as caught:
        await remove(repository)
    assert str(left) in caught.value.title
    assert (left / ".gitignore").read_text() == "mine\n"
    left.rename(tree.parent / "mine")
    await remove(repository)
    assert (tree.parent / "mine" / ".gitignore").read_text() == "mine\n"


@pytest.mark.parametrize("moment", ["moved", "deleting"])
async def test_a_folder_in_the_place_of_what_was_left_is_not_touched(
    repository: Path, tree: Path, moment: str
) -> None:
    left = killed(repository, moment)
    left.rename(tree.parent / "away")
    left.mkdir()
    (left / "mine").write_text("mine\n")
    with pytest.raises(CockpitError, match="An earlier removal did not finish"):
        await remove(repository)
    assert (left / "mine").read_text() == "mine\n"
    assert (tree.parent / "away" / ".gitignore").exists()


async def test_a_worktree_beside_it_with_that_name_stays(
    repository: Path, tree: Path, own_home: Path
) -> None:
    other = tree.with_name(".tree.removing")
    run(repository, "worktree", "add", "-q", "-b", "wip", str(other))
    (other / "work").write_text("work\n")
    git = Git()
    (mine,) = [one for one in await git.trees(repository) if one.directory == tree]
    await git.remove(mine, nobody)
    assert (other / "work").read_text() == "work\n"


async def test_a_name_that_git_leaves_out_without_a_word_holds_up_the_removal(
    repository: Path, tree: Path, own_home: Path
) -> None:
    (tree / ".GIT").mkdir()
    (tree / ".GIT" / "work").write_text("work\n")
    with pytest.raises(Failed, match="Cannot save all files") as caught:
        await remove(repository)
    assert ".GIT/work" in caught.value.detail
    assert (tree / ".GIT" / "work").read_text() == "work\n"


async def test_a_link_that_git_would_not_check_out_holds_up_the_removal(
    repository: Path, tree: Path
) -> None:
    (tree / ".gitmodules").symlink_to("work")
    with pytest.raises(Failed, match="Cannot save all files"):
        await remove(repository)
    assert (tree / ".gitmodules").is_symlink()


@pytest.mark.long
async def test_a_repository_with_longer_hashes_is_kept_too(own_home: Path) -> None:
    repository = own_home / "longer"
    run(own_home, "init", "-q", "--object-format=sha256", str(repository))
    (repository / "file").write_text("one\n")
    run(repository, "add", ".")
    commit(repository, "one")
    made = await Git().ensure(repository, own_home / "t", "agent/api", "", agent="api")
    run(made.directory, "checkout", "-q", "--detach")
    precious = commit(made.directory, "precious")
    run(made.directory, "checkout", "-q", "agent/api")
    assert (await seen(repository)).only_here == 1
    reference = await remove(repository)
    assert run(repository, "merge-base", "--is-ancestor", precious, reference) == ""

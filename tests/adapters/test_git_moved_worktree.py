"""A worktree that moves to another clone: exactly the same there, or nothing at all."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.git.arriving_worktree import ArrivingWorktree
from cockpit.adapters.git.leaving_worktree import LeavingWorktree
from cockpit.adapters.git.worktrees import Git
from cockpit.core.errors import CockpitError, Failed, NotNow
from cockpit.core.moved_worktree import Parcel
from tests.long_cases import cases

MOST = 50_000_000


def run(where: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=where, check=True, capture_output=True)
    return done.stdout.decode(errors="replace").strip()


class Two:
    """A repository with a worktree full of uncommitted work, and a clone from before."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.near, self.far, self.tree = home / "near", home / "far", home / "tree"
        self.git = Git(os.environ, private=home / "private")
        self.near.mkdir()
        run(self.near, "init", "-q")
        (self.near / ".gitattributes").write_text("*.txt text eol=crlf\n")
        (self.near / ".gitignore").write_text("build/\n*.log\n")
        for name in ("a.txt", "gone", "kept", "staged away"):
            (self.near / name).write_text(f"{name}\n")
        run(self.near, "add", ".")
        run(self.near, "commit", "-qm", "one")
        subprocess.run(["git", "clone", "-q", str(self.near), str(self.far)], check=True)
        run(self.near, "worktree", "add", "-q", "-b", "agent/api", str(self.tree))
        self.work()

    def work(self) -> None:
        tree = self.tree
        (tree / "committed").write_text("only here\n")
        run(tree, "add", "committed")
        run(tree, "commit", "-qm", "two")
        (tree / "a.txt").write_bytes(b"unix\nand\r\nmixed\n")
        (tree / "gone").unlink()
        run(tree, "rm", "-q", "--cached", "staged away")
        (tree / "kept").write_text("staged\n")
        run(tree, "add", "kept")
        (tree / "kept").write_text("and changed again\n")
        (tree / "new one").write_bytes(bytes(range(256)))
        (tree / "odd\nname\xff").write_text("x")
        (tree / "run.sh").write_text("#!/bin/sh\n")
        (tree / "run.sh").chmod(0o755)
        (tree / "folder").mkdir()
        (tree / "folder" / "link").symlink_to("../kept")
        (tree / "build").mkdir()
        (tree / "build" / "big").write_bytes(b"0" * 5000)
        (tree / "x.log").write_text("noise")
        (tree / ".env").write_text("TOKEN=1\n")
        (tree / ".cockpit").mkdir()
        (tree / ".cockpit" / "handoff.md").write_text("ours")

    @property
    def leaving(self) -> LeavingWorktree:
        return LeavingWorktree(self.git, self.tree)

    @property
    def arriving(self) -> ArrivingWorktree:
        return ArrivingWorktree(self.git, self.far)

    async def packed(self) -> Parcel:
        known = await self.arriving.tips()
        return await self.leaving.pack("api", "h1", known, self.home / "bundle", MOST)

    def references(self) -> str:
        return run(self.far, "for-each-ref") + run(self.far, "worktree", "list")


@pytest.fixture
def two(own_home: Path) -> Two:
    return Two(own_home)


async def test_a_worktree_arrives_exactly_as_it_was(two: Two) -> None:
    before = run(two.tree, "status", "--porcelain", "-z"), run(two.tree, "diff", "--cached")
    parcel = await two.packed()
    await two.arriving.receive(two.home / "bundle", parcel)
    there = two.home / "there"

    assert await two.arriving.restore(parcel, there, "agent/api", "api")

    assert await LeavingWorktree(two.git, there).state() == parcel.state
    assert (there / "a.txt").read_bytes() == b"unix\nand\r\nmixed\n"
    assert (there / "kept").read_text() == "and changed again\n"
    assert (there / "folder" / "link").readlink() == Path("../kept")
    assert os.access(there / "run.sh", os.X_OK)
    (two.tree / ".env").unlink()
    (two.tree / ".cockpit" / "handoff.md").unlink()
    secretless = before[0].replace("?? .env\0", "").replace("?? .cockpit/\0", "")
    assert run(there, "status", "--porcelain", "-z") == secretless
    assert run(there, "diff", "--cached") == before[1]
    assert run(there, "log", "--format=%s") == "two\none"
    for stays in (".env", "build", "x.log", ".cockpit"):
        assert not (there / stays).exists()
    run(two.far, "fsck", "--strict")
    run(two.near, "fsck", "--strict")


async def test_the_worktree_that_was_left_is_untouched(two: Two) -> None:
    index = Path(run(two.tree, "rev-parse", "--absolute-git-dir")) / "index"
    before = index.read_bytes(), run(two.tree, "status", "--porcelain", "-z")
    await two.packed()
    assert (index.read_bytes(), run(two.tree, "status", "--porcelain", "-z")) == before


async def test_what_stays_is_named_and_added_up(two: Two) -> None:
    found = await two.leaving.describe()
    assert found.ignored.names == ("build/", "x.log")
    assert (found.ignored.count, found.ignored.size) == (2, 5005)
    assert (found.secret.names, found.secret.count) == ((".env",), 1)
    assert found.branch == "agent/api"
    assert found.roots == (run(two.far, "rev-parse", "HEAD"),)
    assert found.uncommitted == 8


async def test_what_git_does_not_store_is_named(two: Two) -> None:
    (two.tree / "empty" / "inner").mkdir(parents=True)
    (two.tree / "build" / "none").mkdir()
    os.mkfifo(two.tree / "folder" / "pipe")
    found = await two.leaving.describe()
    assert found.unstored.names == ("empty/inner/", "folder/pipe")
    assert found.unstored.count == 2


async def test_a_file_of_git_lfs_travels_with_its_content(two: Two) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 4\n"
    (two.tree / ".gitattributes").write_text("*.bin filter=lfs -text\n")
    for name in ("model.bin", "pointer.bin"):
        (two.tree / name).write_text(pointer)
    run(two.tree, "add", ".gitattributes", "model.bin", "pointer.bin")
    run(two.tree, "commit", "-qm", "three")
    (two.tree / "model.bin").write_bytes(b"\0\1\2\3")  # as the filter checks it out

    found = await two.leaving.describe()
    parcel = await two.packed()
    await two.arriving.receive(two.home / "bundle", parcel)
    there = two.home / "there"
    await two.arriving.restore(parcel, there, "agent/api", "api")

    assert found.lfs == 2
    assert (there / "model.bin").read_bytes() == b"\0\1\2\3"
    assert (there / "pointer.bin").read_text() == pointer
    assert run(there, "show", "HEAD:model.bin") == pointer.strip()


async def test_only_what_the_other_clone_lacks_is_sent(two: Two) -> None:
    await two.packed()
    assert f"-{run(two.far, 'rev-parse', 'HEAD')}" in (two.home / "bundle").read_bytes().decode(
        errors="replace"
    )


async def refused(two: Two, parcel: Parcel) -> Failed:
    before = two.references()
    with pytest.raises(CockpitError) as caught:
        await two.arriving.receive(two.home / "bundle", parcel)
    assert two.references() == before
    assert isinstance(caught.value, Failed)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("left", cases(200, long=[0, 10, -30, -1]))
async def test_a_bundle_that_was_cut_changes_nothing(two: Two, left: int) -> None:
    parcel = await two.packed()
    whole = (two.home / "bundle").read_bytes()
    (two.home / "bundle").write_bytes(whole[:left])
    await refused(two, parcel)
    assert run(two.far, "count-objects", "-v").splitlines()[2:4] == ["in-pack: 0", "packs: 0"]


async def test_a_bundle_with_a_changed_byte_is_refused(two: Two) -> None:
    parcel = await two.packed()
    whole = bytearray((two.home / "bundle").read_bytes())
    whole[-100] ^= 1
    (two.home / "bundle").write_bytes(whole)
    await refused(two, parcel)


@pytest.mark.parametrize(
    "forge",
    cases(
        lambda one: replace(one, reference="refs/heads/main"),
        lambda one: replace(one, commit="--all"),
        lambda one: replace(one, state=replace(one.state, files=one.state.staged)),
        long=[
            lambda one: replace(one, reference="refs/cockpit/moved/../../heads/main"),
            lambda one: replace(one, reference="refs/cockpit/moved/web/h1"),
            lambda one: replace(one, commit=one.state.head),
            lambda one: replace(one, state=replace(one.state, staged=one.state.files)),
            lambda one: replace(one, state=replace(one.state, head=one.commit)),
        ],
    ),
)
async def test_a_parcel_that_is_not_what_it_says_is_refused(
    two: Two, forge: Callable[[Parcel], Parcel]
) -> None:
    await refused(two, forge(await two.packed()))


async def test_an_object_that_git_finds_broken_is_refused(two: Two) -> None:
    """A tree with `.git` in it, which no checkout may see."""
    blob = run(two.tree, "hash-object", "-w", "kept")
    made = subprocess.run(
        ["git", "hash-object", "-w", "-t", "tree", "--literally", "--stdin"],
        cwd=two.tree,
        input=b"100644 .git\0" + bytes.fromhex(blob),
        capture_output=True,
        check=True,
    )
    evil = made.stdout.decode().strip()
    honest = await two.packed()
    staged = run(two.tree, "rev-parse", f"{honest.commit}^2")
    parents = ("-p", honest.state.head, "-p", staged)
    commit = run(two.tree, "commit-tree", *parents, "-m", "evil", evil)
    run(two.tree, "update-ref", honest.reference, commit)
    bundle = str(two.home / "bundle")
    run(two.tree, "bundle", "create", "-q", bundle, honest.reference)
    state = replace(honest.state, files=evil)
    found = await refused(two, Parcel(honest.reference, commit, state))
    assert ".git" in found.detail


async def test_a_branch_with_other_commits_is_never_overwritten(two: Two) -> None:
    run(two.far, "switch", "-qc", "agent/api")
    run(two.far, "commit", "-qm", "theirs", "--allow-empty")
    run(two.far, "switch", "-q", "main")
    parcel = await two.packed()
    await two.arriving.receive(two.home / "bundle", parcel)
    before = two.references()
    with pytest.raises(Failed, match="exists on the other machine, with other") as caught:
        await two.arriving.restore(parcel, two.home / "there", "agent/api", "api")
    assert "--branch" in caught.value.hint
    with pytest.raises(Failed, match="checked out on the other machine"):
        await two.arriving.restore(parcel, two.home / "there", "main", "api")
    assert two.references() == before
    assert not (two.home / "there").exists()


async def test_an_older_branch_is_moved_forward_and_put_back_if_the_folder_is_taken(
    two: Two,
) -> None:
    run(two.far, "branch", "agent/api")
    parcel = await two.packed()
    await two.arriving.receive(two.home / "bundle", parcel)
    before = two.references()
    (two.home / "there").mkdir()
    with pytest.raises(Failed, match="already exists"):
        await two.arriving.restore(parcel, two.home / "there", "agent/api", "api")
    assert two.references() == before
    (two.home / "there").rmdir()
    assert not await two.arriving.restore(parcel, two.home / "there", "agent/api", "api")
    assert run(two.far, "rev-parse", "agent/api") == parcel.state.head


async def test_an_older_branch_is_put_back_if_the_files_are_not_those_that_were_sent(
    two: Two,
) -> None:
    run(two.far, "branch", "agent/api")
    parcel = await two.packed()
    await two.arriving.receive(two.home / "bundle", parcel)
    before = two.references()
    forged = replace(parcel, state=replace(parcel.state, files=parcel.state.staged))
    with pytest.raises(Failed, match="differs from the worktree"):
        await two.arriving.restore(forged, two.home / "there", "agent/api", "api")
    assert two.references() == before
    assert not (two.home / "there").exists()


async def test_what_arrived_is_taken_back_only_while_it_is_unchanged(two: Two) -> None:
    parcel = await two.packed()
    await two.arriving.receive(two.home / "bundle", parcel)
    before = two.references()
    there = two.home / "there"
    await two.arriving.restore(parcel, there, "agent/api", "api")
    (there / "kept").write_text("more\n")
    why = await two.arriving.discard(parcel, there, "agent/api", new=True)
    assert "its files have changed" in why
    assert there.is_dir()
    (there / "kept").write_text("and changed again\n")
    assert await two.arriving.discard(parcel, there, "agent/api", new=True) == ""
    assert not there.exists()
    assert "agent/api" not in run(two.far, "for-each-ref", "refs/heads")
    assert set(before.split()) <= set(two.references().split())
    assert await two.arriving.discard(parcel, there, "agent/api", new=True) == ""


async def test_an_older_branch_is_put_back_when_what_arrived_is_taken_back(two: Two) -> None:
    run(two.far, "branch", "agent/api")
    before = run(two.far, "rev-parse", "agent/api")
    parcel = await two.packed()
    await two.arriving.receive(two.home / "bundle", parcel)
    there = two.home / "there"
    assert not await two.arriving.restore(parcel, there, "agent/api", "api")
    (there / "kept").write_text("more\n")
    assert await two.arriving.discard(parcel, there, "agent/api", new=False, before=before)
    assert run(two.far, "rev-parse", "agent/api") == parcel.state.head
    (there / "kept").write_text("and changed again\n")
    for _ in range(2):
        why = await two.arriving.discard(parcel, there, "agent/api", new=False, before=before)
        assert why == ""
        assert run(two.far, "rev-parse", "agent/api") == before
    assert run(two.far, "rev-parse", f"{parcel.reference}^1") == parcel.state.head


async def test_a_branch_with_commits_from_after_the_move_stays_where_it_is(two: Two) -> None:
    run(two.far, "branch", "agent/api")
    before = run(two.far, "rev-parse", "agent/api")
    parcel = await two.packed()
    await two.arriving.receive(two.home / "bundle", parcel)
    there = two.home / "there"
    await two.arriving.restore(parcel, there, "agent/api", "api")
    # The user goes on with the branch elsewhere.
    run(there, "switch", "-q", "--detach")
    elsewhere = two.home / "elsewhere"
    run(two.far, "worktree", "add", "-q", str(elsewhere), "agent/api")
    assert not await two.arriving.discard(parcel, there, "agent/api", new=False, before=before)
    assert not there.exists()
    assert run(elsewhere, "rev-parse", "HEAD") == parcel.state.head
    assert run(elsewhere, "status", "--porcelain") == ""
    run(elsewhere, "commit", "-q", "--allow-empty", "-m", "three")
    newest = run(elsewhere, "rev-parse", "HEAD")
    run(two.far, "worktree", "remove", str(elsewhere))
    assert not await two.arriving.discard(parcel, there, "agent/api", new=False, before=before)
    assert run(two.far, "rev-parse", "agent/api") == newest


async def test_a_new_branch_is_removed_with_what_arrived_unless_it_is_used(two: Two) -> None:
    parcel = await two.packed()
    await two.arriving.receive(two.home / "bundle", parcel)
    there = two.home / "there"
    assert await two.arriving.restore(parcel, there, "agent/api", "api")
    run(there, "switch", "-q", "--detach")
    run(two.far, "switch", "-q", "agent/api")
    assert not await two.arriving.discard(parcel, there, "agent/api", new=True)
    assert run(two.far, "rev-parse", "HEAD") == parcel.state.head
    run(two.far, "switch", "-q", "main")
    # As after a discard that was cut off before the branch.
    assert not await two.arriving.discard(parcel, there, "agent/api", new=True)
    assert "agent/api" not in run(two.far, "for-each-ref", "refs/heads")


async def test_a_bundle_that_is_too_large_is_not_sent(two: Two) -> None:
    with pytest.raises(Failed, match="too large to move"):
        await two.leaving.pack("api", "h1", [], two.home / "bundle", 1000)


def conflict(two: Two) -> None:
    run(two.tree, "stash", "-q", "-u")
    run(two.near, "commit", "-q", "--allow-empty", "-m", "x")
    (two.near / "kept").write_text("theirs\n")
    run(two.near, "commit", "-qam", "theirs")
    (two.tree / "kept").write_text("ours\n")
    run(two.tree, "commit", "-qam", "ours")
    subprocess.run(["git", "merge", "-q", "main"], cwd=two.tree, capture_output=True, check=False)


def nested(two: Two) -> None:
    (two.tree / "inner").mkdir()
    run(two.tree / "inner", "init", "-q")
    run(two.tree / "inner", "commit", "-q", "--allow-empty", "-m", "x")


def submodule(two: Two) -> None:
    nested(two)
    run(two.tree, "add", "inner")


def skipped(two: Two) -> None:
    run(two.tree, "update-index", "--skip-worktree", "a.txt")


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (conflict, "in progress"),
        (nested, "another repository"),
        (submodule, "is a submodule"),
        (skipped, "not checked out"),
        (lambda two: run(two.tree, "add", "-f", ".env"), "looks like a file with secrets"),
        (lambda two: run(two.tree, "add", "-N", "run.sh"), "git add -N"),
    ],
    ids=["merge", "nested", "submodule", "sparse", "secret", "announced"],
)
async def test_what_cannot_be_restored_exactly_is_refused_with_a_next_step(
    two: Two, prepare: Callable[[Two], object], words: str
) -> None:
    prepare(two)
    with pytest.raises((NotNow, Failed)) as caught:
        await two.leaving.pack("api", "h1", [], two.home / "bundle", MOST)
    assert words in f"{caught.value.title} {caught.value.detail}"
    assert caught.value.hint
    assert not (two.home / "bundle").exists()


async def test_an_ignored_repository_stays_and_does_not_prevent_the_move(two: Two) -> None:
    """As in a main worktree, which has the linked worktrees in an ignored folder."""
    inner = two.tree / "build" / "inner"
    inner.mkdir()
    run(inner, "init", "-q")
    run(inner, "commit", "-q", "--allow-empty", "-m", "x")
    parcel = await two.packed()
    assert "build" not in run(two.tree, "ls-tree", "--name-only", parcel.commit)
    assert "build/" in (await two.leaving.describe()).ignored.names

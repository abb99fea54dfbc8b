"""Where the lock of a worktree lies, and who is found holding it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.adapters.process.leases import Holder, holder, worktree_lease


def git(place: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(place), *words], capture_output=True, check=True)
    return os.fsdecode(done.stdout).strip()


@pytest.fixture
def repository(own_home: Path) -> Path:
    place = own_home / "repository"
    place.mkdir()
    git(place, "init", "-q")
    git(place, "commit", "-q", "--allow-empty", "-m", "begin")
    return place


def test_a_linked_worktree_has_one_lock_wherever_one_stands_in_it(
    repository: Path, own_home: Path
) -> None:
    aside = own_home / "aside"
    git(repository, "worktree", "add", "-q", str(aside))
    (aside / "deep" / "er").mkdir(parents=True)
    (own_home / "link").symlink_to(aside)
    own = Path(git(aside, "rev-parse", "--absolute-git-dir"))
    for place in (aside, aside / "deep" / "er", own_home / "link"):
        assert worktree_lease(place) == own / "cockpit.lease"


def test_no_other_place_has_one(repository: Path, own_home: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    assert worktree_lease(repository) is None
    assert worktree_lease(inner) is None
    assert worktree_lease(own_home) is None
    assert worktree_lease(own_home / "gone") is None
    # The main working tree of a repository that is kept elsewhere, and what is no git at all.
    apart = own_home / "apart"
    git(own_home, "init", "-q", "--separate-git-dir", str(own_home / "kept"), str(apart))
    assert worktree_lease(apart) is None
    for word in (b"gitdir: ", b"gitdir: a\0b", b"elsewhere: /etc", b"\xff" * 9000, b""):
        (inner / ".git").write_bytes(word)
        assert worktree_lease(inner) is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (b"12 api api-0a1b\n", Holder(12, "api", "api-0a1b")),
        (b"12\n", Holder(12)),
        (b"", Holder()),
        (b"\xff\xfe", Holder()),
    ],
)
def test_a_holder_is_told_as_far_as_it_said_who_it_is(
    own_home: Path, said: bytes, told: Holder
) -> None:
    lease = own_home / "lease"
    assert holder(lease) is None
    lease.write_bytes(said)
    assert holder(lease) is None
    with lease.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        assert holder(lease, shared=True) is None
        assert (found := holder(lease)) is not None
        assert replace(found, keepers=()) == told
        fcntl.flock(held, fcntl.LOCK_EX)
        assert (found := holder(lease, shared=True)) is not None
        assert replace(found, keepers=()) == told
    assert holder(lease) is None


@pytest.mark.skipif(sys.platform != "linux", reason="no other system shows who has a file open")
def test_who_keeps_a_lock_open_is_told(own_home: Path) -> None:
    """The one who took it is gone; its child has it, without a word of its own."""
    lease = own_home / "lease"
    lease.write_bytes(b"1234567 api api-0a1b\n")
    with lease.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        child = subprocess.Popen(["sleep", "60"], pass_fds=[held.fileno()])
    try:
        found = holder(lease)
        assert found == Holder(1234567, "api", "api-0a1b", keepers=(child.pid,))
    finally:
        child.kill()
        child.wait()

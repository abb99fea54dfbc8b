"""Where the lock of a worktree lies, and who is found holding it."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from cockpit.adapters.leases import Holder, holder, worktree_lease


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
        assert holder(lease) == told
        fcntl.flock(held, fcntl.LOCK_EX)
        assert holder(lease, shared=True) == told
    assert holder(lease) is None

from __future__ import annotations

import pytest

from tests.core.collectors.events import facts_of, ran

FIRST = ran("git commit -m 'Add x'", "[main 1111111] Add x\n 1 file changed")
SECOND = ran("git commit -qm 'Add y' && git log --oneline -1", "2222222 Add y")


def hashes(*events: object) -> list[str]:
    return [made.hash for made in facts_of(*events).commits]  # type: ignore[arg-type]


def test_an_amended_commit_leaves() -> None:
    amended = ran("git commit --amend --no-edit", "[main 3333333] Add x\n Date: now")
    assert hashes(*FIRST, *amended) == ["3333333"]
    elsewhere = ran("git commit --amend --no-edit", "[other 3333333] Add z")
    assert hashes(*FIRST, *elsewhere) == ["1111111", "3333333"]


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("git reset --hard HEAD~1", ["1111111"]),
        ("git reset HEAD^", ["1111111"]),
        ("git reset --soft HEAD~2 && git status", []),
        ("git reset --hard HEAD~", ["1111111"]),
        ("git reset HEAD^^", []),
        ("git reset --hard HEAD~9", []),
        ("git reset --hard", ["1111111", "2222222"]),
        ("git reset HEAD~1 -- a.py", ["1111111", "2222222"]),
        ("git reset HEAD a.py", ["1111111", "2222222"]),
        ("git reset --hard HEAD~0", ["1111111", "2222222"]),
        ("git log HEAD~1", ["1111111", "2222222"]),
    ],
)
def test_commits_that_are_taken_back_leave(command: str, left: list[str]) -> None:
    assert hashes(*FIRST, *SECOND, *ran(command)) == left
    assert hashes(*FIRST, *SECOND, *ran(command, "fatal: no", 128)) == ["1111111", "2222222"]


def test_git_can_still_have_a_commit_that_left() -> None:
    assert facts_of(*FIRST, *ran("git reset HEAD~1")).quiet_commits == ("Add x",)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git commit -m 'Add x'; true", "On branch main\nnothing to commit, working tree clean"),
        ("git commit --dry-run -m 'Add x'", "On branch main\nChanges to be committed:"),
        ("git commit -m 'Add x' | cat", "no changes added to commit (use git add)"),
    ],
)
def test_a_command_that_made_no_commit(command: str, output: str) -> None:
    facts = facts_of(*ran(command, output))
    assert (facts.commits, facts.quiet_commits) == ((), ())

from __future__ import annotations

import pytest

from cockpit.core.session import UserSaid
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
        ("git reset --hard 1111111", ["1111111"]),
        ("git reset -q --keep 1111111aaaabbbbccccddddeeeeffff00001111 && ls", ["1111111"]),
        ("git reset --hard 2222222", ["1111111", "2222222"]),
        ("git reset --hard 7777777", ["1111111", "2222222"]),
        ("git reset 1111111 -- a.py", ["1111111", "2222222"]),
        ("git reset 1111111 a.py", ["1111111", "2222222"]),
        ("git reset -- 1111111", ["1111111", "2222222"]),
        ("git reset --hard origin/main", ["1111111", "2222222"]),
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


def test_git_says_to_which_commit_a_branch_was_reset() -> None:
    for name in ("origin/main", "ORIG_HEAD", "HEAD@{2}", "v1.2", "HEAD~1"):
        reset = ran(f"git reset --hard {name}", "HEAD is now at 1111111 Add x")
        assert hashes(*FIRST, *SECOND, *reset) == ["1111111"]
    unknown = ran("git reset --hard origin/main", "HEAD is now at 7777777 Other")
    assert hashes(*FIRST, *SECOND, *unknown) == ["1111111", "2222222"]


def test_commits_come_back_when_the_branch_is_reset_to_them() -> None:
    third = ran("git commit -m 'Add z'", "[main 3333333] Add z")
    away = ran("git reset --hard HEAD~2", "HEAD is now at 1111111 Add x")
    other = ran("git commit -m 'Try'", "[main 4444444] Try")
    back = ran("git reset --hard 2222222")
    assert hashes(*FIRST, *SECOND, *third, *away, *other, *back) == ["1111111", "2222222"]
    assert facts_of(*FIRST, *SECOND, *third, *away, *other, *back).quiet_commits == ("Add z", "Try")


def test_a_reset_of_another_branch_takes_nothing_back() -> None:
    switched = ran("git switch -c other 1111111", "Switched to a new branch 'other'")
    reset = ran("git reset --hard 1111111", "HEAD is now at 1111111 Add x")
    assert hashes(*FIRST, *SECOND, *switched, *reset) == ["1111111", "2222222"]
    restored = ran("git checkout a.py", "Updated 1 path from the index")
    assert hashes(*FIRST, *SECOND, *restored, *reset) == ["1111111"]


def test_commits_that_were_picked_or_reverted_count() -> None:
    picked = ran("git cherry-pick 1234abc", "[main 5555555] Round half even\n Date: now")
    reverted = ran("git revert --no-edit 5555555", '[main 6666666] Revert "Round half even"')
    assert hashes(*FIRST, *picked, *reverted) == ["1111111", "5555555", "6666666"]


def test_a_later_log_shows_the_hash_of_a_quiet_commit() -> None:
    quiet = ran("git commit -q -F - <<'EOF'\nAdd quietly\n\nWhy.\nEOF")
    log = ran("git log --oneline -3", "8888888 (HEAD -> main) Add quietly\n0000000 Begin")
    facts = facts_of(*FIRST, *quiet, *log)
    assert [made.hash for made in facts.commits] == ["1111111", "8888888"]
    assert facts.quiet_commits == ()


def test_the_users_own_resets_and_amended_commits_are_followed() -> None:
    def shell(command: str, output: str) -> tuple[UserSaid, UserSaid]:
        return UserSaid("", shell=command), UserSaid("", shell=output)

    amended = shell("git commit --amend -m 'Add y2'", "[main 9999999] Add y2\n Date: now")
    assert hashes(*FIRST, *SECOND, *amended) == ["1111111", "9999999"]
    reset = shell("git reset --hard HEAD~1", "HEAD is now at 1111111 Add x")
    assert hashes(*FIRST, *SECOND, *reset) == ["1111111"]
    quiet = "(Bash completed with no output)"
    for kept in ("--soft ", "--mixed ", ""):
        soft = shell(f"git reset {kept}HEAD~1", quiet)
        assert hashes(*FIRST, *SECOND, *soft) == ["1111111"]
    mixed = shell("git reset HEAD^", "Unstaged changes after reset:\nM\tx.py")
    assert hashes(*FIRST, *SECOND, *mixed) == ["1111111"]
    failed = shell("git reset --soft HEAD~1", "")
    assert hashes(*FIRST, *SECOND, *failed) == ["1111111", "2222222"]
    odd = shell("git reset --hard HEAD~1", quiet)
    assert hashes(*FIRST, *SECOND, *odd) == ["1111111", "2222222"]
    unknown = shell("git reset --hard HEAD~5", "")
    assert hashes(*FIRST, *SECOND, *unknown) == ["1111111", "2222222"]

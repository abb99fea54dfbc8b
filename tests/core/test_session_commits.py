"""Which commits are a session's: git is right, the transcript says whose they are."""

from __future__ import annotations

import pytest

from cockpit.core.facts import CommitMade
from cockpit.core.session import ToolFinished
from cockpit.core.session_commits import UNPUSHED_READ, session_commits, with_pushed
from tests.core.collectors.events import bash, facts_of, ran

A, B, C = CommitMade("aaaaaaa", "Add a"), CommitMade("bbbbbbb", "Add b"), CommitMade("cccccc1", "C")


def test_only_commits_that_the_transcript_knows_are_the_sessions() -> None:
    assert session_commits([A], [], [CommitMade("aaaaaaa1", "Add a"), B], []) == (
        CommitMade("aaaaaaa1", "Add a"),
    )


def test_a_quiet_commit_is_known_by_its_subject() -> None:
    assert session_commits([], ["Add b"], [A, B], []) == (B,)


def test_a_rebased_commit_has_gits_hash_and_an_amended_or_reset_one_leaves() -> None:
    rebased = CommitMade("ddddddd", "Add a")
    assert session_commits([A, C], [], [rebased], ["aaaaaaa", "cccccc1"]) == (rebased,)
    assert session_commits([A, B], [], [], ["aaaaaaa"]) == (B,)


@pytest.mark.parametrize(
    "command",
    [
        "git commit -q -m 'Add a'",
        'git add -A && git commit -qm "Add a"',
        "git commit -q -F - <<'EOF'\nAdd a\n\nBecause.\nEOF",
        "git commit -q -m \"$(cat <<'EOF'\nAdd a\n\nBecause.\nEOF\n)\"",
    ],
)
def test_the_subject_of_a_commit_that_prints_nothing(command: str) -> None:
    facts = facts_of(*ran(command))
    assert (facts.commits, facts.quiet_commits) == ((), ("Add a",))
    assert facts_of(*ran(command, "nothing to commit", 1)).quiet_commits == ()
    logged = facts_of(*ran(f"{command}\ngit log --oneline -1", "aaaaaaa (HEAD -> x) Add a"))
    assert (logged.commits, logged.quiet_commits) == ((A,), ())


def test_a_commit_without_a_known_subject_or_result_is_left_out() -> None:
    assert facts_of(*ran("git commit -q -F message.txt")).quiet_commits == ()
    running = facts_of(bash("1", "git commit -q -m 'Add a'"), ToolFinished("2"))
    assert running.quiet_commits == ()


def test_a_commit_is_pushed_if_git_does_not_list_it_as_unpushed() -> None:
    pushed, local = with_pushed([A, B], ["bbbbbbb0"])
    assert (pushed.pushed, local.pushed) == (True, False)
    assert [one.pushed for one in with_pushed([A, B], None)] == [None, None]
    many = ["bbbbbbb0", *["eeeeeee"] * (UNPUSHED_READ - 1)]
    assert [one.pushed for one in with_pushed([A, B], many)] == [None, False]

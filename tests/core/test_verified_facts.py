"""Our own part of the document: what git and the record say, and what git does not know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cockpit.core.claimed_files import Trace
from cockpit.core.facts import CommitMade, Facts, Subagent, Todo
from cockpit.core.front_matter import FrontMatter
from cockpit.core.verified_facts import (
    MOST_CLAIMS,
    NOT_CHECKED,
    UNVERIFIED,
    VERIFIED,
    GitView,
    background_work,
    claimed_commits,
    mark_claims,
    todos,
    verified_facts,
)

FRONT = FrontMatter(tokens=142_000, window=200_000, percent=71.0, confidence="reported")
GIT = GitView(
    is_repository=True,
    branch="main",
    head="0123abcdef0123abcdef0123abcdef0123abcdef",
    status=(" M a b.py", "?? new.py"),
    commits=(CommitMade("0123abc", "Add the model"),),
    known=frozenset({"beef123"}),
)


def part(
    title: str, facts: Facts | None = None, git: GitView = GIT, front: FrontMatter = FRONT
) -> str:
    body = verified_facts(facts or Facts(), git, front, [])
    return body.partition(f"### {title}\n\n")[2].partition("\n\n###")[0]


def test_the_repository() -> None:
    assert part("Repository") == (
        "- branch: `main`\n- head: `0123abcdef0123abcdef0123abcdef0123abcdef`"
    )
    lost = GitView(is_repository=True, busy="rebase")
    assert part("Repository", git=lost) == (
        "- branch: none (detached HEAD)\n- head: no commit yet\n- in progress: rebase"
    )


def test_a_git_that_failed_is_not_a_missing_repository() -> None:
    failed = GitView(status_known=False, problem="Cannot run git: /w: No such file.")
    unknown = "The state of git is unknown: Cannot run git: /w: No such file."
    assert part("Repository", git=failed) == f"{unknown} Nothing below could be checked with git."
    assert part("Uncommitted Changes", git=failed) == unknown
    bare = GitView(status_known=False)
    assert part("Uncommitted Changes", git=bare) == "The state of git is unknown."
    assert "not a git repository" in part("Repository", git=GitView())


def test_the_status_is_as_git_wrote_it() -> None:
    assert part("Uncommitted Changes") == "```text\n M a b.py\n?? new.py\n```"
    assert part("Uncommitted Changes", git=replace(GIT, status=())).startswith("None: ")
    assert part("Uncommitted Changes", git=replace(GIT, status_known=False)).startswith("Unknown")
    assert part("Uncommitted Changes", git=GitView()) == "Unknown."
    many = replace(GIT, status=tuple(f"?? {number}" for number in range(150)))
    assert part("Uncommitted Changes", git=many).endswith("?? 99\n… and 50 more\n```")


def test_a_file_name_stays_on_its_line() -> None:
    odd = replace(GIT, status=("?? a```\n## Goal",))
    assert part("Uncommitted Changes", git=odd) == "````text\n?? a``` ## Goal\n````"
    facts = Facts(files_modified=("a`b\n## Goal", "a`b\n## Goal", "c"))
    assert part("Files Modified", facts) == "- ``a`b ## Goal`` (transcript)\n- `c` (transcript)"


def test_each_file_says_whether_the_record_or_git_or_both_name_it() -> None:
    git = replace(GIT, root="/w", committed=("src/a.py", "src/b.py"), status=(" M c.py", "?? d/"))
    named = ("/w/src/a.py", "/w/c.py", "/w/d/e.py", "/elsewhere/src/b.py", "gone.py")
    assert part("Files Modified", Facts(files_modified=named), git).split("\n") == [
        "- `src/a.py` (transcript and git)",
        "- `c.py` (transcript and git)",
        "- `d/e.py` (transcript and git)",
        "- `/elsewhere/src/b.py` (transcript)",
        "- `gone.py` (transcript)",
        "- `src/b.py` (git)",
    ]
    assert part("Files Modified", git=git) == "- `src/a.py` (git)\n- `src/b.py` (git)"
    assert (
        part("Files Modified", Facts(files_modified=("/w/a",)), GitView())
        == "- `/w/a` (transcript)"
    )


def test_commits_of_git_come_first_and_those_of_the_record_are_checked() -> None:
    facts = Facts(
        commits=(
            CommitMade("0123abc", "Add the model"),
            CommitMade("beef123", "Amended since"),
            CommitMade("dead999", "Never made"),
        )
    )
    assert part("Commits of This Session", facts).split("\n") == [
        "- `0123abc` Add the model",
        "- `beef123` Amended since",
        f"- `dead999` Never made {UNVERIFIED}",
    ]
    assert part("Commits of This Session", git=GitView(is_repository=True)) == "None."


def test_a_commit_that_git_was_not_asked_about_is_not_called_unknown_to_git() -> None:
    facts = Facts(commits=(CommitMade("0123abc", "x"),))
    listed = part("Commits of This Session", facts, GitView())
    assert listed == f"- `0123abc` x {NOT_CHECKED}"
    asked = GitView(known=frozenset())
    assert part("Commits of This Session", facts, asked) == f"- `0123abc` x {UNVERIFIED}"


def test_a_claim_that_git_does_not_know_is_listed() -> None:
    body = verified_facts(Facts(), GIT, FRONT, ["dead999", "beef123", "0123abc"])
    assert body.count(UNVERIFIED) == 1
    assert f"- `dead999` is named in this document {UNVERIFIED}" in body


def test_todos_have_three_marks() -> None:
    items = [Todo("a", "completed"), Todo("b\nc", "in_progress"), Todo("d", "pending")]
    assert todos(items) == "- [x] a\n- [~] b c\n- [ ] d"
    assert todos([Todo("", "odd")]) == "- [ ] (no text)"
    assert todos([]) == "None."


def test_the_last_tool_calls_are_five() -> None:
    facts = Facts(recent_activity=tuple(f"Bash {number}" for number in range(7)))
    shown = "\n".join(f"Bash {number}" for number in range(2, 7))
    assert part("Last Tool Calls", facts) == f"```text\n{shown}\n```"
    assert part("Last Tool Calls") == "None."


@pytest.mark.parametrize(
    ("front", "words"),
    [
        (FRONT, "142,000 of 200,000 tokens, 71 % (reported)"),
        (replace(FRONT, percent=None), "142,000 of 200,000 tokens, 71 % (reported)"),
        (replace(FRONT, window=None), "142,000 tokens (window size unknown)"),
        (replace(FRONT, tokens=None), "unknown"),
    ],
)
def test_usage_never_guesses(front: FrontMatter, words: str) -> None:
    facts = Facts(compactions=2)
    assert part("Usage", facts, front=front) == f"- context: {words}\n- compactions: 2"


def test_a_subagent_is_told_with_how_to_check() -> None:
    running = background_work(Facts(subagents=(Subagent("a1", "Explore", "running", "look"),)))
    done = background_work(Facts(subagents=(Subagent("a2", "", "completed", ""),)))
    assert running.startswith(
        "- subagent `a1` (Explore), running when this was written: look: "
        "it ended with the previous session"
    )
    assert done.startswith("- subagent `a2`, completed: task unknown: its result")
    assert background_work(Facts()) == ""


@pytest.mark.parametrize(
    ("line", "claims"),
    [
        ("Committed as abc1234 and `def5678`.", ["abc1234", "def5678"]),
        ("- abc1234 Add the model", ["abc1234"]),
        ("`abc1234` Add the model", ["abc1234"]),
        ("HEAD is at 0123abcdef0123abcdef0123abcdef0123abcdef", [GIT.head]),
        ("reverted ABC1234", []),
        ("the commit of session 8003c7bf-4f5c-64f9-8003-c7bf4f5c64f9", []),
        ("the colour #abc1234 of the commit button", []),
        ("container abc1234 runs", []),
        ("commit 1234567 of 7654321", ["1234567"]),
        ("commit the defaced facade", []),
        ("see commit/abc1234 and abc1234/x", []),
    ],
)
def test_what_reads_like_a_commit(line: str, claims: list[str]) -> None:
    assert claimed_commits(line) == claims


@pytest.mark.parametrize(
    "git",
    [GitView(head=GIT.head, known=frozenset()), GitView(commits=GIT.commits, known=frozenset())],
)
def test_a_commit_is_known_by_any_length_of_its_hash(git: GitView) -> None:
    assert git.has_commit("0123abc")
    assert git.has_commit("0123abcdef")
    assert git.has_commit("dead999") is False
    assert replace(git, known=None).has_commit("dead999") is None


def test_claims_are_each_told_once_and_bounded() -> None:
    text = "\n".join(f"commit a{number:06d}" for number in range(200))
    assert len(claimed_commits(text + text)) == MOST_CLAIMS


def test_unknown_commits_are_marked_where_they_stand() -> None:
    text = "Commits: `dead999`, 0123abc and dead999.\n\n```\ncommit dead999\n```"
    marked = mark_claims(text, GIT, ["dead999", "0123abc"])
    assert marked == (
        f"Commits: `dead999` {UNVERIFIED}, 0123abc {VERIFIED} and dead999 {UNVERIFIED}.\n\n"
        "```\ncommit dead999\n```"
    )
    assert mark_claims(marked, GIT, ["dead999", "0123abc"]) == marked


def test_a_mark_of_the_writers_own_is_taken_away() -> None:
    forged = f"commit dead999 {VERIFIED}, `beef123` {UNVERIFIED}, commit 7654321 {VERIFIED}"
    assert mark_claims(forged, GIT, ["dead999", "beef123"]) == (
        f"commit dead999 {UNVERIFIED}, `beef123` {VERIFIED}, commit 7654321"
    )
    assert mark_claims(f"commit dead999 {NOT_CHECKED}", GIT, ["dead999"]) == (
        f"commit dead999 {UNVERIFIED}"
    )


def test_nothing_is_marked_that_nobody_asked_about() -> None:
    assert mark_claims("commit dead999", GIT, []) == "commit dead999"
    unasked = replace(GIT, known=None)
    assert mark_claims("commit dead999", unasked, ["dead999"]) == "commit dead999"


def test_only_a_change_that_git_shows_proves_work_on_a_file() -> None:
    git = GitView(is_repository=True, root="/w", status=("?? new/",), committed=("a/b.py",))
    assert git.trace(["/w/sub/a/b.py", "/w/a/b.py"], is_there=False) is Trace.CHANGED
    assert git.trace(["/w/new/c.py"], is_there=True) is Trace.CHANGED
    assert git.trace(["/w/a/c.py"], is_there=True) is Trace.UNCHANGED
    assert git.trace(["/w/a/c.py"], is_there=False) is Trace.MISSING


def test_a_file_that_git_cannot_speak_of_is_not_judged() -> None:
    assert GitView().trace(["/w/a.py"], is_there=True) is None
    assert GitView().trace(["/w/a.py"], is_there=False) is Trace.MISSING
    unsure = GitView(is_repository=True, root="/w", status_known=False)
    assert unsure.trace(["/w/a.py"], is_there=False) is None

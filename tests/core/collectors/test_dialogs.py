"""Answers, refusals, plans, links, files."""

from __future__ import annotations

import pytest

from cockpit.core.facts import Answer, Link, Plan, ToolRefusal
from cockpit.core.session import (
    Identified,
    InstructionsGiven,
    PlanRecorded,
    PullRequestLinked,
    SessionEvent,
    ToolFinished,
    UserSaid,
)
from tests.core.collectors.events import bash, call, facts_of, ran

PLAN_FILE = "/h/.claude/plans/a.md"
URL = "https://git.example/a/b/pull/41"


def test_answers_and_refusals_have_their_turn() -> None:
    facts = facts_of(
        UserSaid("go"),
        call("1", "AskUserQuestion", questions=[]),
        ToolFinished("1", answers=(("Which?", "Both"), ("When?", "Now"))),
        UserSaid("on"),
        bash("2", "cd /w && rm -rf build", description="Clean up"),
        ToolFinished("2", failed=True, refused=True, refusal="Keep it, I need the logs."),
    )
    assert facts.answers == (Answer(1, "Which?", "Both"), Answer(1, "When?", "Now"))
    assert facts.refusals == (
        ToolRefusal(2, "Clean up: rm -rf build", "Keep it, I need the logs."),
    )


def test_a_plan_is_approved_refused_or_unanswered() -> None:
    asked = call("1", "ExitPlanMode", plan="1. Count", planFilePath="/p.md")
    assert facts_of(asked).plan == Plan("1. Count", "/p.md")
    assert facts_of(asked, ToolFinished("1")).plan == Plan("1. Count", "/p.md", approved=True)
    no = ToolFinished("1", failed=True, refused=True)
    assert facts_of(asked, no).plan == Plan("1. Count", "/p.md", approved=False)
    edited = facts_of(asked, ToolFinished("1"), PlanRecorded("1. Count twice")).plan
    assert edited == Plan("1. Count twice", "/p.md", approved=True)


def test_a_plan_file_is_a_plan_without_an_answer() -> None:
    written = call("1", "Write", file_path=PLAN_FILE, content="1. Count")
    assert facts_of(written, ToolFinished("1")).plan == Plan("1. Count", PLAN_FILE)
    assert facts_of(written, ToolFinished("1", failed=True)).plan is None
    asked = facts_of(written, ToolFinished("1"), call("2", "ExitPlanMode")).plan
    assert asked == Plan("1. Count", PLAN_FILE)
    assert facts_of(call("2", "ExitPlanMode")).plan is None


def test_a_pull_request_has_the_state_that_was_seen_last() -> None:
    made = ran("gh pr create --fill", f"Creating\n{URL}\n")
    link = Link("pull_request", URL, 41, "a/b", "open")
    assert facts_of(*made).links == (link,)
    assert facts_of(*ran("gh pr create --draft", URL)).links[0].state == "draft"
    merged = ran("cd /w && gh pr merge 41 --squash", "Squashed and merged")
    assert facts_of(*made, *merged).links[0].state == "merged"
    closed = ran("gh pr close 7", "Closed")
    assert facts_of(*made, *closed).links[0] == link
    viewed = ran("gh pr view --json state", '{"state":"MERGED"}')
    assert facts_of(*made, *viewed).links[0].state == "merged"
    refused = ran("gh pr merge 41", "not mergeable", 1)
    assert facts_of(*made, *refused).links == (link,)


def test_the_cli_links_a_pull_request_without_its_state() -> None:
    linked = PullRequestLinked(URL, 41, "a/b")
    assert facts_of(linked, linked).links == (Link("pull_request", URL, 41, "a/b"),)
    made = ran("gh pr create", URL)
    assert facts_of(*made, linked).links[0].state == "open"


def test_an_issue_is_linked_and_text_is_not() -> None:
    made = ran("gh issue create -t x", "https://git.example/a/b/issues/9")
    assert facts_of(*made).links == (
        Link("issue", "https://git.example/a/b/issues/9", 9, "a/b", "open"),
    )
    assert facts_of(*ran("cat notes", URL)).links == ()
    made_by_tool: list[SessionEvent] = [
        call("1", "mcp__github__create_pull_request", title="x"),
        ToolFinished("1", text=f'{{"html_url":"{URL}"}}'),
    ]
    assert facts_of(*made_by_tool).links[0].number == 41


def test_the_most_read_files_and_the_instructions() -> None:
    reads = [call(f"{name}{n}", "Read", file_path=f"/w/{name}") for name in "aab" for n in "12"]
    facts = facts_of(
        *reads, call("c", "Read", file_path="/w/c"), InstructionsGiven("/w/CLAUDE.md"),
        InstructionsGiven("/w/CLAUDE.md"),
    )  # fmt: skip
    assert facts.most_read == (("/w/a", 4), ("/w/b", 2))
    assert facts.instructions == ("/w/CLAUDE.md",)


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("gh issue close 88 --comment done", "✓ Closed issue a/b#88 (Slow)", (88, "a/b", "closed")),
        ("gh issue close 7", "✓ Closed issue #7 (Slow)", (7, "", "closed")),
        ("gh issue close 7", "! Issue a/b#7 (Slow) is already closed", (7, "a/b", "closed")),
        ("gh issue close --reason 'not planned' 7", "", (7, "", "closed")),
        ("gh pr merge 51 --squash", "", (51, "", "merged")),
        ("gh pr merge --squash 51 && git pull", "", (51, "", "merged")),
        ("gh pr merge 51; git pull", "✓ Merged pull request a/b#51 (Slow)", (51, "a/b", "merged")),
        ("gh pr close 19 -R a/b", "", (19, "a/b", "closed")),
        ("cd /w && gh pr close 19", "✓ Closed pull request a/b#19 (Slow)", (19, "a/b", "closed")),
        ("gh pr close", "✓ Closed pull request a/b#19 (Slow)", (19, "a/b", "closed")),
        ("gh pr ready 51 --undo", "", (51, "", "draft")),
    ],
)
def test_a_number_without_an_address_has_a_state(
    command: str, output: str, expected: tuple[int, str, str]
) -> None:
    (link,) = facts_of(*ran(command, output)).links
    assert (link.url, link.number, link.repository, link.state) == ("", *expected)


@pytest.mark.parametrize(
    "command",
    [
        "gh pr merge 51 --auto --squash",
        "gh pr merge 51; git pull",
        "gh pr close 51 || true",
        "gh pr close my-branch",
        "gh pr comment 51 --body 'merge 52'",
    ],
)
def test_what_may_not_have_happened_gives_no_state(command: str) -> None:
    assert facts_of(*ran(command)).links == ()


def test_a_number_and_its_address_are_one_link() -> None:
    closed = ran("gh pr close 41", "")
    viewed = ran("gh pr view 41 --json url,number", f'{{"url":"{URL}"}}\n{URL}')
    linked = PullRequestLinked(URL, 41, "a/b")
    (link,) = facts_of(*closed, *viewed, linked).links
    assert (link.url, link.number, link.state) == (URL, 41, "closed")
    (link,) = facts_of(linked, *closed).links
    assert (link.url, link.state) == (URL, "closed")
    elsewhere = ran("gh pr close 41 -R c/d", "")
    assert [one.state for one in facts_of(linked, *elsewhere).links] == ["", "closed"]
    both = ran("gh pr merge 41 --squash && gh issue close 9", "✓ Closed issue a/b#9 (Slow)")
    assert [(one.number, one.state) for one in facts_of(linked, *both).links] == [
        (41, "merged"), (9, "closed"),
    ]  # fmt: skip


def test_an_edit_of_a_scratch_file_is_none_of_the_last_calls() -> None:
    edits = [
        call(str(number), "Write", file_path=path)
        for number, path in enumerate(("/w/a.py", "/tmp/try.py", "/tmp/w/b.py"))
    ]
    assert facts_of(Identified(cwd="/w"), *edits).recent_activity == ("Write a.py",)
    assert len(facts_of(Identified(cwd="/tmp/w"), *edits).recent_activity) == 2
    assert len(facts_of(*edits).recent_activity) == 3, "without a folder, none is outside of it"

"""Answers, refusals, plans, links, files."""

from __future__ import annotations

from cockpit.core.facts import Answer, Link, Plan, ToolRefusal
from cockpit.core.session import (
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
    assert facts_of(*made, *closed).links == (link,)
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

"""The facts of a session fit the model that describes them, field by field."""

from __future__ import annotations

from cockpit.core.facts import (
    Answer,
    BackgroundTask,
    Check,
    CommitMade,
    Constraint,
    Facts,
    Failure,
    Link,
    Plan,
    Prompt,
    Subagent,
    Summary,
    Todo,
    ToolRefusal,
)
from cockpit.core.meter import Meter
from cockpit.core.reading import Confidence, Window
from cockpit.core.session_report import facts_report, unreadable_report, usage_report
from cockpit.wire.facts import SessionFacts, Usage


def test_what_a_session_did_is_as_described() -> None:
    found = Facts(
        goal="Count",
        todos=(Todo("Count", "pending"),),
        files_modified=("a",),
        commits=(CommitMade("c0ffee", "Count"),),
        subagents=(Subagent("s", "explore", "running", "Look"),),
        background=(BackgroundTask("b", command="sleep 9", log="/l"),),
        recent_activity=("Bash sleep",),
        last_reply="Done.",
        away_summary="It counted.",
        prompts=(Prompt(1, "Count", queued=True),),
        constraints=(Constraint(1, "Never commit."),),
        answers=(Answer(1, "Which?", "All"),),
        refusals=(ToolRefusal(1, "Bash rm", "Keep it."),),
        checks=(Check("test", "pytest", exit=0, result="3 passed", edited_since=True, turn=1),),
        failures=(Failure("Bash a", "no a", "Bash b", 1), Failure("Bash c", "no c")),
        plan=Plan("1. Count", "/p.md", True, 1),
        links=(Link("pull_request", "https://x.example/a/b/pull/3", 3, "a/b", "open"),),
        summary=Summary(1, "It counts."),
    )
    usage = usage_report("/t.jsonl", Meter(), Window(200_000, Confidence.ASSUMED))
    written = facts_report(found, usage, git_status=[" M a"], branch="main", head="c0ffee")
    assert SessionFacts.model_validate(written).model_dump(exclude={"standing"}) == written


def test_a_transcript_that_cannot_be_read_is_as_described() -> None:
    written = unreadable_report("/t.jsonl", "It is not there")
    assert Usage.model_validate(written).model_dump() == written

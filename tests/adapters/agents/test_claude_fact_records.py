"""Refusals, answers, plans, links and summaries in Claude transcripts, each in a real shape."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.core.facts import (
    Answer,
    BackgroundTask,
    Check,
    Failure,
    Link,
    Plan,
    Prompt,
    Summary,
    ToolRefusal,
)
from tests.adapters.agents.test_claude_older_forms import (
    attached,
    facts_of,
    line,
    reply,
    result,
    tool,
    user,
)

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). "
)
NOTE = (
    "\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
)
CLARIFY = (
    "The user wants to clarify these questions.\n    This means they may have additional "
    'information.\n\n    Questions asked:\n- "Which port?"\n  Answer: 8080\n- "Which host?"\n'
    "  (No answer provided)"
)


def refused(text: str, **more: object) -> bytes:
    block = {"type": "tool_result", "content": text, "is_error": True, "tool_use_id": "t"}
    return user([block], toolUseResult="User rejected tool use", **more)


@pytest.mark.parametrize(
    ("text", "more", "reason"),
    [
        (f"{REJECTED}To tell you how to proceed, the user said:\nKeep it.{NOTE}",
         {"toolDenialKind": "user-rejected"}, "Keep it."),
        (f"{REJECTED}To tell you how to proceed, the user said:\nKeep\nit.", {}, "Keep\nit."),
        (f"{REJECTED}STOP what you are doing and wait for the user to tell you how to proceed.",
         {}, ""),
        (f"{REJECTED}The user provided the following reason for the rejection:  Keep it.", {},
         "Keep it."),
    ],
)  # fmt: skip
def test_what_the_user_said_when_refusing(text: str, more: dict[str, str], reason: str) -> None:
    asked = reply(tool("t", "Bash", command="cd /w && rm -r logs", description="Clean up"))
    facts = facts_of(user("go"), asked, refused(text, **more), reply())
    assert facts.refusals == (ToolRefusal(1, "Clean up: rm -r logs", reason),)
    assert facts.failures == ()


def test_a_rule_that_denies_is_no_refusal_of_the_user() -> None:
    asked = reply(tool("t", "Bash", command="rm -r logs"))
    denied = refused("Permission to use Bash denied.", toolDenialKind="permission-rule")
    assert facts_of(user("go"), asked, denied, reply()).refusals == ()


def test_an_interrupted_check_has_no_result() -> None:
    asked = reply(tool("t", "Bash", command="pytest"))
    stopped = refused("1 failed", toolDenialKind="interrupted")
    assert facts_of(user("go"), asked, stopped).checks == ()


QUESTIONS = [{"question": "Which port?", "header": "Port", "options": [], "multiSelect": False}]
NEW = 'Your questions have been answered: "Which port?"="8080". You can now continue.'
OLD = 'User has answered your questions: "Which port?"="8080", "Which "host"?"="a". You can now'


def test_answers_with_their_questions() -> None:
    asked = reply(tool("t", "AskUserQuestion", questions=QUESTIONS))
    answers = {"Which port?": "8080", "Which hosts?": ["a", "b"]}
    answered = result("t", NEW, questions=QUESTIONS, answers=answers)
    assert facts_of(user("go"), asked, answered).answers == (
        Answer(1, "Which port?", "8080"), Answer(1, "Which hosts?", "a, b"),
    )  # fmt: skip
    assert facts_of(user("go"), asked, result("t", OLD)).answers == (
        Answer(1, "Which port?", "8080"), Answer(1, 'Which "host"?', "a"),
    )  # fmt: skip


def test_notes_and_a_text_instead_of_answers() -> None:
    asked = reply(tool("t", "AskUserQuestion", questions=QUESTIONS))
    notes = {
        "Which port?": {"notes": "only in tests", "preview": "<b>8080</b>"},
        "Which host?": {"notes": "ask Ana"},
        "Why?": {"notes": " "},
    }
    noted = result(
        "t", NEW, questions=QUESTIONS, answers={"Which port?": "8080"}, annotations=notes
    )
    assert facts_of(user("go"), asked, noted).answers == (
        Answer(1, "Which port?", "8080 (note: only in tests)"), Answer(1, "Which host?", "ask Ana"),
    )  # fmt: skip
    wrote = result("t", "The user responded: x", questions=QUESTIONS, answers={}, response="None!")
    assert facts_of(user("go"), asked, wrote).answers == (Answer(1, "Which port?", "None!"),)
    odd = result("t", NEW, questions=QUESTIONS, answers={"Which port?": "80"}, annotations=[1])
    assert facts_of(user("go"), asked, odd).answers == (Answer(1, "Which port?", "80"),)


def test_questions_that_the_user_wants_to_clarify() -> None:
    asked = reply(tool("t", "AskUserQuestion", questions=QUESTIONS))
    said = refused(f"{REJECTED}To tell you how to proceed, the user said:\n{CLARIFY}")
    facts = facts_of(user("go"), asked, said)
    assert facts.answers == (Answer(1, "Which port?", "8080"),)
    assert [one.reason for one in facts.refusals] == [""]


def test_a_plan_in_a_call_or_only_in_the_result() -> None:
    approved = "User has approved your plan. You can now start coding."
    inline = reply(tool("t", "ExitPlanMode", plan="1. Count"))
    assert facts_of(inline, result("t", approved)).plan == Plan("1. Count", approved=True)
    empty = reply(tool("t", "ExitPlanMode"))
    told = result("t", approved, plan="1. Count", isAgent=False, filePath="/h/.claude/plans/a.md")
    assert facts_of(empty, told).plan == Plan("1. Count", "/h/.claude/plans/a.md", approved=True)
    no = refused(f"{REJECTED}To tell you how to proceed, the user said:\nSmaller.")
    facts = facts_of(inline, no)
    assert (facts.plan, facts.refusals[0].reason) == (Plan("1. Count", approved=False), "Smaller.")


@pytest.mark.parametrize(
    "record",
    [
        attached(type="plan_file_reference", planFilePath="/p.md", planContent="1. Count"),
        line(type="system", subtype="file_snapshot",
             snapshotFiles=[{"key": "plan", "path": "/p.md", "content": "1. Count"}]),
    ],
)  # fmt: skip
def test_a_plan_file_that_the_cli_recorded(record: bytes) -> None:
    assert facts_of(user("go"), record).plan == Plan("1. Count", "/p.md", turn=1)
    assert facts_of(user("go", planContent="1. Count")).plan == Plan("1. Count", turn=1)


def test_a_pull_request_of_the_cli() -> None:
    url = "https://git.example/a/b/pull/5"
    linked = line(type="pr-link", sessionId="s", prNumber=5, prUrl=url, prRepository="a/b")
    assert facts_of(linked, linked).links == (Link("pull_request", url, 5, "a/b"),)
    assert facts_of(line(type="pr-link", prUrl="javascript:x", prNumber=True)).links == ()


def test_an_away_summary_without_its_hint() -> None:
    text = "Goal: count. Next: test. (disable recaps in /config)"
    away = line(type="system", subtype="away_summary", content=text)
    assert facts_of(user("go"), away).away_summary == "Goal: count. Next: test."


def test_the_summary_of_a_compaction() -> None:
    boundary = line(type="system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    summary = user("This session is being continued.", isCompactSummary=True)
    facts = facts_of(user("go"), boundary, summary, user("on"))
    assert facts.summary == Summary(1, "This session is being continued.")
    assert facts.prompts == (Prompt(1, "go"), Prompt(2, "on"))


def test_a_queued_prompt_has_a_turn() -> None:
    queued = attached(type="queued_command", prompt="Never push.", commandMode="prompt")
    facts = facts_of(user("go"), reply(), queued)
    assert facts.prompts[-1] == Prompt(2, "Never push.", queued=True)
    assert [one.turn for one in facts.constraints] == [2]


def test_checks_and_failures_are_found_when_skimming() -> None:
    long = "x\n" * 2_000
    facts = facts_of(
        user("go"),
        reply(tool("a", "Bash", command="cd /w && npm run biuld")),
        result("a", "Exit code 1\nnpm ERR! Missing script", failed=True),
        reply(tool("b", "Bash", command="npm run build")),
        result("b", f"{long}built in 3s"),
        reply(tool("c", "Bash", command="pytest")),
        result("c", f"{long}7 passed in 3s"),
        reply(tool("d", "Bash", command="ls")),
        result("d", long),
        reply(),
    )
    assert facts.checks == (
        Check("build", "npm run build", False, 0, "built in 3s", turn=1),
        Check("test", "pytest", False, 0, "7 passed in 3s", turn=1),
    )
    assert facts.failures == (
        Failure("Bash npm run biuld", "npm ERR! Missing script", "Bash npm run build", 1),
    )


DOCUMENT = "# Handoff\n\n## Goal\n\n```text\nPort it.\n```\n"


def test_the_goal_of_a_handoff_file_that_was_read_or_mentioned() -> None:
    prompt = user("read your handoff HANDOFF.md and go on")
    asked = reply(tool("t", "Read", file_path="/w/HANDOFF.md"))
    file = {"filePath": "/w/HANDOFF.md", "content": DOCUMENT, "numLines": 5}
    read = result("t", "     1→# Handoff", type="text", file=file)
    assert facts_of(prompt, asked, read).goal == "Port it."
    mentioned = attached(
        type="file", filename="/w/HANDOFF.md", content={"type": "text", "file": file}
    )
    assert facts_of(prompt, mentioned).goal == "Port it."
    other = {**file, "filePath": "/w/docs/plan.md"}
    asked = reply(tool("t", "Read", file_path="/w/docs/plan.md"))
    read = result("t", "1", type="text", file=other)
    assert facts_of(prompt, asked, read).goal == "read your handoff HANDOFF.md and go on"


def test_the_instruction_files_in_force() -> None:
    nested = attached(
        type="nested_memory", path="/w/a/CLAUDE.md", content={"path": "/w/a/CLAUDE.md"}
    )
    assert facts_of(nested, nested).instructions == ("/w/a/CLAUDE.md",)


def test_a_monitor_runs_in_the_background() -> None:
    asked = reply(tool("t", "Monitor", command="tail -f app.log", description="Errors"))
    told = "Monitor started (task b7, timeout 300000ms). You will be notified on each event."
    details: dict[str, Any] = {"taskId": "b7", "timeoutMs": 300_000, "persistent": False}
    started = result("t", told, **details)
    facts = facts_of(user("go"), asked, started)
    assert facts.background == (BackgroundTask("b7", "monitor", "Errors", "tail -f app.log"),)
    ended = user(
        "<task-notification>\n<task-id>b7</task-id>\n<tool-use-id>t</tool-use-id>\n"
        "<status>completed</status>\n<summary>Monitor ended</summary>\n</task-notification>"
    )
    (task,) = facts_of(user("go"), asked, started, ended).background
    assert task.status == "completed"


def monitored(persistent: bool) -> tuple[bytes, bytes, bytes]:
    asked = reply(tool("t", "Monitor", command="tail -f app.log", description="Errors"))
    details: dict[str, Any] = {"taskId": "b7", "timeoutMs": 300_000, "persistent": persistent}
    block = {"tool_use_id": "t", "type": "tool_result", "content": "Monitor started"}
    at = "2026-11-20T10:00:00.000Z"
    return user("go"), asked, user([block], toolUseResult=details, timestamp=at)


def test_a_monitor_that_timed_out_has_ended() -> None:
    """The CLI says so in an event without a status, as in every other event of a monitor."""
    told = "<task-notification>\n<task-id>b7</task-id>\n<summary>Monitor event</summary>\n"
    event = user(f"{told}<event>disk full</event>\n</task-notification>")
    last = user(f"{told}<event>[Monitor timed out. Re-arm it.]</event>\n</task-notification>")
    assert [one.status for one in facts_of(*monitored(False), event).background] == ["running"]
    assert [one.status for one in facts_of(*monitored(False), last).background] == ["stopped"]


def test_a_prompt_after_a_monitors_limit_shows_that_it_has_ended() -> None:
    def later(minute: int) -> bytes:
        return user("and now?", timestamp=f"2026-11-20T10:0{minute}:00.000Z")

    assert [one.status for one in facts_of(*monitored(False), later(4)).background] == ["running"]
    assert [one.status for one in facts_of(*monitored(False), later(6)).background] == ["ended"]
    assert [one.status for one in facts_of(*monitored(True), later(6)).background] == ["running"]


def test_the_report_of_a_subagent_is_without_the_text_around_it() -> None:
    asked = reply(tool("t1", "Task", description="Audit", prompt="Audit it"))
    started = result("t1", "Launched", isAsync=True, status="async_launched", agentId="a1")
    told = "<retrieval_status>success</retrieval_status>\n<output>Nothing found.</output>"
    task = {"task_id": "a1", "status": "completed", "output": "Nothing found."}
    waited = reply(tool("t2", "TaskOutput", task_id="a1"))
    ended = result("t2", told, retrieval_status="success", task=task)
    (subagent,) = facts_of(user("go"), asked, started, waited, ended).subagents
    assert (subagent.status, subagent.result) == ("completed", "Nothing found.")


def test_a_changed_task_of_the_list_is_no_monitor() -> None:
    asked = reply(tool("t", "TaskUpdate", taskId="1", status="completed"))
    changed = result("t", "Updated task #1 status", success=True, taskId="1")
    assert facts_of(user("go"), asked, changed).background == ()


def test_what_the_cli_writes_for_an_empty_reply_is_no_text() -> None:
    said = {"type": "text", "text": "All done."}
    facts = facts_of(user("go"), reply(said), reply({"type": "text", "text": "(no content)"}))
    assert facts.last_reply == "All done."

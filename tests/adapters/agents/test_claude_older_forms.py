"""Forms of older and unusual Claude transcripts, each from the shape of a real record."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cockpit.adapters.agents.claude.models import window
from cockpit.adapters.agents.claude.record import parse
from cockpit.adapters.agents.claude.skim import FactsParser
from cockpit.adapters.agents.claude.totals import TotalsParser
from cockpit.adapters.transcripts.lines import KeepsRest
from cockpit.core.collect import Collector
from cockpit.core.facts import BackgroundTask, CommitMade, Facts, Subagent, Todo
from cockpit.core.meter import Meter
from cockpit.core.reading import Confidence
from cockpit.core.session import PromptQueued, Skipped

USAGE = {"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 85}


def reply(*content: dict[str, Any], model: str = "claude-opus-4-6", **usage: Any) -> bytes:
    reply.count += 1  # type: ignore[attr-defined]
    message = {
        "id": f"msg_{reply.count}",  # type: ignore[attr-defined]
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(content) or [{"type": "text", "text": "Done."}],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**USAGE, "output_tokens": 7, **usage},
    }
    return line(parentUuid="u", isSidechain=False, message=message, type="assistant")


reply.count = 0  # type: ignore[attr-defined]


def line(**record: Any) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()


def user(content: object, **more: Any) -> bytes:
    message = {"role": "user", "content": content}
    return line(parentUuid="u", isSidechain=False, type="user", message=message, **more)


def tool(ident: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": ident, "name": name, "input": arguments}


def result(ident: str, text: str, failed: bool = False, **details: Any) -> bytes:
    block = {"tool_use_id": ident, "type": "tool_result", "content": text, "is_error": failed}
    return user([block], toolUseResult=details or text)


def attached(**attachment: Any) -> bytes:
    return line(parentUuid="u", isSidechain=False, attachment=attachment, type="attachment")


def facts_of(*lines: bytes) -> Facts:
    whole, quick = Collector(), Collector()
    for collector, read in ((whole, parse), (quick, FactsParser())):
        for one in lines:
            events = read(one)
            assert not isinstance(events, Skipped), one
            for event in events:
                collector.feed(event)
        for event in read.rest() if isinstance(read, KeepsRest) else ():
            collector.feed(event)
    assert whole.facts() == quick.facts()
    return whole.facts()


def measured(*lines: bytes) -> Meter:
    whole, quick = Meter(), Meter()
    for meter, read in ((whole, parse), (quick, TotalsParser())):
        for one in lines:
            events = read(one)
            assert not isinstance(events, Skipped), one
            for event in events:
                meter.feed(event)
    assert (whole.model, whole.tokens, whole.totals) == (quick.model, quick.tokens, quick.totals)
    return whole


SIGNED = "git commit -m 'x\n\nCo-Authored-By: Claude Opus 4.6 (1M context) <noreply@anthropic.com>'"


@pytest.mark.parametrize(
    "said",
    [
        reply(tool("t", "Bash", command=SIGNED)),
        result("t", "ok", status="completed", agentId="a1", resolvedModel="claude-opus-4-6[1m]"),
        user("<local-command-stdout>Kept model as Opus 4.6 (1M context)</local-command-stdout>"),
        user(
            "<local-command-stdout>Set model to \x1b[1mOpus 4.6 (1M context)\x1b[22m"
            "</local-command-stdout>"
        ),
    ],
)
def test_a_record_that_names_the_large_window(said: bytes) -> None:
    assert measured(reply()).model == "claude-opus-4-6"
    found = measured(reply(), said, reply()).model
    assert found == "claude-opus-4-6[1m]"
    assert window(found, {}).confidence is Confidence.DERIVED


def test_the_large_window_of_another_model_and_of_an_earlier_choice_are_not_used() -> None:
    other = result("t", "ok", agentId="a1", resolvedModel="claude-sonnet-4-6[1m]")
    assert measured(reply(), other, reply()).model == "claude-opus-4-6"
    large = user("<local-command-stdout>Set model to Opus 4.6 (1M context)</local-command-stdout>")
    small = user("<local-command-stdout>Set model to Opus 4.6</local-command-stdout>")
    assert measured(reply(), large, small, reply()).model == "claude-opus-4-6"
    dated = "claude-sonnet-4-5-20250929"
    chosen = b"Sonnet 4.5 (1M context)"
    sonnet = measured(large.replace(b"Opus 4.6 (1M context)", chosen), reply(model=dated))
    assert sonnet.model == f"{dated}[1m]"


def test_the_tokens_of_an_adviser_count_in_the_totals_only() -> None:
    message = {"type": "message", **USAGE, "output_tokens": 7}
    advised = {"type": "advisor_message", "input_tokens": 1_000, "output_tokens": 30}
    meter = measured(reply(iterations=[message, advised]))
    assert meter.tokens == 100
    assert (meter.totals.input, meter.totals.output) == (1_010, 37)


def test_an_old_compaction_has_only_its_summary() -> None:
    summary = user("This session is being continued", isCompactSummary=True, version="1.0.53")
    boundary = line(type="system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    for compaction in ((summary,), (boundary, summary)):
        meter = measured(reply(), *compaction)
        assert (meter.compactions, meter.tokens) == (1, None)
        assert facts_of(reply(), *compaction, reply(), summary).compactions == 2


def test_a_subagent_ends_with_a_notice_that_names_only_its_id() -> None:
    begun = (
        reply(tool("t1", "Task", description="Read the code", subagent_type="Explore")),
        result("t1", "launched", agentId="a1", status="async_launched"),
    )
    running = Subagent("a1", "Explore", "running", "Read the code")
    assert facts_of(*begun).subagents == (running,)
    text = (
        "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n"
        "</task-notification>"
    )
    output = {"task_id": "a1", "task_type": "local_agent", "status": "completed"}
    ends = (
        (attached(type="queued_command", prompt=text, commandMode="task-notification"),),
        (reply(tool("t2", "TaskOutput", task_id="a1")), result("t2", "ok" * 900, task=output)),
    )
    for end in ends:
        (told,) = facts_of(*begun, *end).subagents
        assert (told.id, told.status) == ("a1", "completed")
    (told,) = facts_of(
        *begun, ends[1][0], result("t2", "wait", task={**output, "status": "x"})
    ).subagents
    assert told.status == "running"


def test_a_background_command_ends_with_the_output_that_says_so() -> None:
    begun = (
        reply(tool("t1", "Bash", command="make all", description="Build", run_in_background=True)),
        result("t1", "Command running in background", backgroundTaskId="b1"),
        reply(tool("t2", "TaskOutput", task_id="b1")),
        result("t2", "x", task={"task_id": "b1", "task_type": "local_bash", "status": "failed"}),
    )
    assert facts_of(*begun).background == (
        BackgroundTask("b1", "shell", "Build", "make all", status="failed"),
    )


def test_tasks_are_as_listed_in_order_and_a_failed_update_changes_nothing() -> None:
    made = [
        one
        for number in range(1, 11)
        for one in (
            reply(tool(f"c{number}", "TaskCreate", subject=f"task {number}")),
            result(f"c{number}", f"Task #{number} created successfully: task {number}"),
        )
    ]
    update = (
        reply(tool("u1", "TaskUpdate", taskId="2", status="completed")),
        result("u1", "Task not found"),
        reply(tool("u2", "TaskUpdate", taskId="3", status="completed")),
        result("u2", "no", failed=True),
    )
    todos = facts_of(*made, *update).todos
    assert [todo.content for todo in todos] == [f"task {number}" for number in range(1, 11)]
    assert {todo.status for todo in todos} == {"pending"}
    listed = (
        reply(tool("l", "TaskList")),
        result("l", "#1 [completed] task 1\n#2 [in_progress] task two (me) [blocked by #1, #3]"),
    )
    assert facts_of(*made, *listed).todos == (
        Todo("task 1", "completed"),
        Todo("task two", "in_progress"),
    )
    nothing = (reply(tool("l", "TaskList")), result("l", "No tasks found"))
    assert facts_of(*made, *nothing).todos == ()
    again = (
        reply(tool("n", "TaskCreate", subject="new")),
        result("n", "Task #1 created successfully: new"),
    )
    assert facts_of(*made, *again).todos == (Todo("new", "pending"),)


def test_a_whole_list_of_tasks_replaces_what_is_known_and_no_other_list_does() -> None:
    made = [
        one
        for number in range(1, 41)
        for one in (
            reply(tool(f"c{number}", "TaskCreate", subject=f"task {number}")),
            result(f"c{number}", f"Task #{number} created successfully: task {number}"),
        )
    ]
    asked = reply(tool("l", "TaskList"))

    def after(*lines: bytes) -> list[str]:
        return [todo.content for todo in facts_of(*made, *lines).todos]

    assert after(asked, result("l", "#1 [pending] task 1\n#3 [pending] third")) == [
        "task 1",
        "third",
    ]
    assert len(after(asked, result("l", "#1 [pending] task 1\nand its second line"))) == 40
    assert len(after(asked, result("l", "#1 [pending] task 1", failed=True))) == 40
    long = "\n".join(f"#{n} [pending] task {n} {'x' * 90}" for n in range(1, 41) if n != 20)
    kept = after(asked, result("l", long))
    assert len(kept) == 40
    # The lines that are cut in the middle of the list count for nothing.
    assert {text.partition(" x")[2].count("x") for text in kept} <= {0, 89}
    assert kept[0].endswith("xxx")
    assert kept[-1].endswith("xxx")
    at_once = reply(tool("n", "TaskCreate", subject="new"), tool("l", "TaskList"))
    created = result("n", "Task #41 created successfully: new")
    assert after(at_once, created, result("l", "#1 [pending] task 1")) == ["task 1", "new"]


def test_a_list_of_which_everything_is_completed_was_cleared() -> None:
    todos = [{"content": "a", "status": "completed"}]
    assert facts_of(reply(tool("t", "TodoWrite", todos=todos)), result("t", "ok")).todos == ()


COMMAND = (
    "<command-message>review</command-message>\n<command-name>{}</command-name>\n"
    "<command-args>{}</command-args>"
)


@pytest.mark.parametrize(
    ("prompts", "goal"),
    [
        ([COMMAND.format("/review", "41")], "/review 41"),
        ([COMMAND.format("/model", "opus"), "Fix it"], "Fix it"),
        ([COMMAND.format("/clear", ""), COMMAND.format("/init", "")], "/init"),
        (["<ide_opened_file>a.py</ide_opened_file>", "Fix it"], "Fix it"),
        (["<ide_selection>x\ny</ide_selection>\nFix this"], "Fix this"),
        (["<bash-input>ls</bash-input>", "<bash-stdout>a</bash-stdout>", "Fix it"], "Fix it"),
        (["<system-reminder>\nno\n</system-reminder>", "Fix it"], "Fix it"),
        (["Fix a", "[Request interrupted by user]", "Fix b", "Go on"], "Fix b"),
        (["Fix a", "Fix b"], "Fix a"),
    ],
)
def test_the_goal_is_the_users(prompts: list[str], goal: str) -> None:
    assert facts_of(*(user(prompt) for prompt in prompts)).goal == goal


def test_an_interrupted_prompt_stays_the_goal_if_there_was_work() -> None:
    worked = reply(tool("t", "Bash", command="ls"))
    stopped = user("[Request interrupted by user]")
    assert facts_of(user("Fix a"), worked, stopped, user("Use b")).goal == "Fix a"


def test_a_title_is_the_goal_of_last_resort() -> None:
    title = line(type="ai-title", aiTitle="Mend the parser", sessionId="s")
    assert facts_of(title).goal == "Mend the parser"
    assert facts_of(title, user("Fix it")).goal == "Fix it"


def test_a_commit_that_the_user_made_in_the_cli() -> None:
    shell = (
        user("<bash-input>git commit -am 'Mend it'</bash-input>"),
        user("<bash-stdout>[main 0123abc] Mend it\n 1 file changed</bash-stdout>"),
        user("<bash-input>cat notes</bash-input>"),
        user("<bash-stdout>[main 7654321] Not made here</bash-stdout>"),
    )
    assert facts_of(*shell).commits == (CommitMade("0123abc", "Mend it"),)


def test_a_prompt_that_was_queued_during_a_turn() -> None:
    told = parse(attached(type="queued_command", prompt="Use tabs", commandMode="prompt"))
    assert told == (PromptQueued("Use tabs"),)
    blocks = [{"type": "text", "text": "Use tabs"}]
    assert parse(attached(type="queued_command", prompt=blocks)) == (PromptQueued("Use tabs"),)
    for other in ({"origin": {"kind": "plugin"}}, {"isMeta": True}, {"commandMode": "bash"}):
        assert parse(attached(type="queued_command", prompt="Use tabs", **other)) == ()


def test_the_list_of_which_the_cli_reminds_the_model_is_the_list() -> None:
    made = (
        reply(tool("c1", "TaskCreate", subject="one")),
        result("c1", "Task #1 created successfully: one"),
    )
    rows = [
        {"id": "1", "subject": "one", "status": "completed", "blocks": [], "blockedBy": []},
        {"id": "12", "subject": "of a subagent", "status": "pending", "blockedBy": ["1"]},
    ]
    reminded = attached(type="task_reminder", content=rows, itemCount=2)
    listed = (Todo("one", "completed"), Todo("of a subagent", "pending"))
    assert facts_of(*made, reminded).todos == listed
    unchanged = (Todo("one", "pending"),)
    hidden = attached(type="task_reminder", content=[], itemCount=0, statusKeeper="app")
    assert facts_of(*made, hidden).todos == unchanged
    assert facts_of(*made, attached(type="task_reminder", content="1 open")).todos == unchanged
    assert facts_of(*made, attached(type="task_reminder", content=[], itemCount=0)).todos == ()
    of_a_subagent = line(
        parentUuid="u",
        isSidechain=True,
        attachment={"type": "task_reminder", "content": rows},
        type="attachment",
    )
    assert facts_of(*made, of_a_subagent).todos == unchanged


def test_an_older_reminder_tells_that_the_list_was_cleared() -> None:
    todos = [{"content": "a", "status": "pending", "activeForm": "Doing a"}]
    written = (reply(tool("t", "TodoWrite", todos=todos)), result("t", "ok"))
    changed = [{"content": "a", "status": "in_progress", "activeForm": "Doing a"}]
    assert facts_of(*written, attached(type="todo_reminder", content=changed)).todos == (
        Todo("a", "in_progress"),
    )
    assert facts_of(*written, attached(type="todo_reminder", content=[])).todos == ()


@pytest.mark.parametrize(
    ("status", "expected"),
    [("completed", "completed"), ("failed", "failed"), ("killed", "stopped"), ("odd", "running")],
)
def test_a_subagent_ends_with_the_status_that_the_cli_tells_the_model(
    status: str, expected: str
) -> None:
    (told,) = facts_of(
        reply(tool("t1", "Task", description="Read", subagent_type="Explore")),
        result("t1", "launched", agentId="a1", status="async_launched"),
        attached(type="task_status", taskId="a1", taskType="local_agent", status=status),
    ).subagents
    assert told.status == expected


@pytest.mark.parametrize(
    ("name", "arguments", "details", "expected"),
    [
        ("BashOutput", {"bash_id": "b1"}, {"shellId": "b1", "status": "completed"}, "completed"),
        ("BashOutput", {"bash_id": "b1"}, {"shellId": "b1", "status": "failed"}, "failed"),
        ("BashOutput", {"bash_id": "b1"}, {"shellId": "b1", "status": "running"}, "running"),
        ("KillShell", {"shell_id": "b1"}, {"message": "killed", "shell_id": "b1"}, "stopped"),
        ("KillBash", {"shell_id": "b1"}, {"message": "killed", "shell_id": "b1"}, "stopped"),
    ],
)
def test_a_background_command_of_an_older_cli_ends(
    name: str, arguments: dict[str, Any], details: dict[str, Any], expected: str
) -> None:
    (task,) = facts_of(
        reply(tool("t1", "Bash", command="make serve", run_in_background=True)),
        result("t1", "Command running in background", backgroundTaskId="b1"),
        reply(tool("t2", name, **arguments)),
        result("t2", "ok", **details),
    ).background
    assert task.status == expected


@pytest.mark.parametrize(
    "text",
    [
        '<cross-session-message from="a">Fix it</cross-session-message>',
        '<teammate-message teammate_id="lead">Fix it</teammate-message>',
        "<user-prompt-submit-hook>Fix it</user-prompt-submit-hook>",
    ],
)
def test_a_text_of_a_hook_or_of_another_session_is_no_prompt(text: str) -> None:
    queued = attached(type="queued_command", prompt=text, commandMode="prompt")
    facts = facts_of(user(text), queued, user("Fix a"))
    assert (facts.goal, [one.text for one in facts.prompts]) == ("Fix a", ["Fix a"])

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cockpit.core.collect import FILES_KEPT, REPLIES_BEFORE, Collector
from cockpit.core.continuation import Succession, continuation
from cockpit.core.facts import BackgroundTask, CommitMade, Constraint, Facts, Prompt, Subagent, Todo
from cockpit.core.prompt_files import IN_A_FILE, mention
from cockpit.core.session import (
    AssistantReplied,
    Compacted,
    Identified,
    PromptFileTaken,
    SessionEvent,
    ToolFinished,
    ToolUse,
    Usage,
    UserSaid,
)


def call(id_: str, name: str, sidechain: bool = False, **told: Any) -> AssistantReplied:
    tools = (ToolUse(id_, name, told),)
    return AssistantReplied(
        f"m{id_}", "claude-opus-5", Usage(), Usage(), tools=tools, sidechain=sidechain
    )


def said(text: str) -> AssistantReplied:
    return AssistantReplied("m", "claude-opus-5", Usage(), Usage(), text=text)


def told_by(*events: SessionEvent) -> Facts:
    collector = Collector()
    for event in events:
        collector.feed(event)
    return collector.facts()


def test_the_goal_of_a_prompt_in_files_is_what_they_held() -> None:
    one, two, other = (f"/state/prompts/api-1/prompt-{number:016x}.md" for number in range(3))
    sentence = mention([one, two])
    begun = (UserSaid(sentence), PromptFileTaken(other, "another"), PromptFileTaken(two, "goal."))
    assert told_by(*begun).goal == sentence
    whole = (*begun, PromptFileTaken(one, "The "), UserSaid("go on"), PromptFileTaken(one, "x"))
    assert told_by(*whole).goal == "The goal."


def test_the_orders_of_a_prompt_in_files_are_constraints() -> None:
    one, two = (f"/state/prompts/api-1/prompt-{number:016x}.md" for number in range(2))
    order = "Let me have a look before you change `parse`."
    begun = (UserSaid(mention([one, two])), PromptFileTaken(two, order[14:]))
    assert told_by(*begun).constraints == ()
    whole = (*begun, UserSaid("Never push."), PromptFileTaken(one, "Add durations. Let me have a "))
    assert told_by(*whole).constraints == (Constraint(2, "Never push."), Constraint(1, order))


def test_the_constraints_of_a_continuation_are_not_the_users() -> None:
    file = f"/state/prompts/api-1/prompt-{1:016x}.md"
    goal = "Add durations. Never push to main."
    text = continuation(Succession(document="/w/handoff-3.md", goal=goal, number=3))
    assert told_by(UserSaid(mention([file])), PromptFileTaken(file, text)).constraints == ()


def test_a_continuation_in_a_file_is_no_prompt_and_quotes_the_goal() -> None:
    file = f"/state/prompts/api-1/prompt-{1:016x}.md"
    text = continuation(Succession(document="/w/handoff-3.md", goal="Make it fast.", number=3))
    facts = told_by(UserSaid(IN_A_FILE.format(file)), PromptFileTaken(file, text), UserSaid("go"))
    assert (facts.goal, facts.prompts) == ("Make it fast.", (Prompt(1, "go"),))


def test_a_sentence_about_a_file_of_unknown_content_is_no_prompt_of_the_user() -> None:
    sentence = IN_A_FILE.format(f"/state/prompts/api-1/prompt-{1:016x}.md")
    facts = told_by(UserSaid(sentence), UserSaid("go"))
    assert facts.prompts == (Prompt(2, "go"),)


def test_the_goal_is_the_first_thing_a_person_said_verbatim() -> None:
    facts = told_by(
        UserSaid("caveat", meta=True),
        UserSaid("summary", compact_summary=True),
        UserSaid("sub", sidechain=True),
        UserSaid("  \n"),
        UserSaid("  Make it work.\n\nPlease. "),
        UserSaid("and then this"),
    )
    assert facts.goal == "  Make it work.\n\nPlease. "


def test_todos_are_as_last_written() -> None:
    first = [{"content": "a", "status": "pending"}]
    second = [{"content": "a", "status": "completed"}, {"content": "b", "status": "odd"}]
    facts = told_by(
        call("1", "TodoWrite", todos=first), ToolFinished("1"), call("2", "TodoWrite", todos=second)
    )
    assert facts.todos == (Todo("a", "completed"), Todo("b", "odd"))


def test_a_refused_todo_list_was_not_written() -> None:
    facts = told_by(
        call("1", "TodoWrite", todos=[{"content": "a", "status": "pending"}]),
        ToolFinished("1"),
        call("2", "TodoWrite", todos=[]),
        ToolFinished("2", failed=True),
    )
    assert facts.todos == (Todo("a", "pending"),)


def test_tasks_are_todos_too() -> None:
    facts = told_by(
        call("1", "TaskCreate", subject="write tests", description="d"),
        call("2", "TaskCreate", subject="write code", description="d"),
        call("3", "TaskCreate", subject="refused", description="d"),
        ToolFinished("2", text="Task #2 created successfully: write code"),
        ToolFinished("1", text="Task #1 created successfully: write tests"),
        ToolFinished("3", failed=True, text="no"),
        call("4", "TaskUpdate", taskId="1", status="completed"),
        call("5", "TaskUpdate", taskId="2", status="in_progress", subject="write better code"),
        call("6", "TaskUpdate", taskId="9", status="in_progress"),
    )
    assert set(facts.todos) == {
        Todo("write tests", "completed"),
        Todo("write better code", "in_progress"),
    }


def test_a_deleted_task_is_gone() -> None:
    facts = told_by(
        call("1", "TaskCreate", subject="a"),
        ToolFinished("1", text="Task #1 created successfully: a"),
        call("2", "TaskUpdate", taskId="1", status="deleted"),
    )
    assert facts.todos == ()


def test_files_in_the_order_of_first_change() -> None:
    facts = told_by(
        call("1", "Write", file_path="/p/b.py"),
        ToolFinished("1"),
        call("2", "Edit", file_path="/p/a.py"),
        ToolFinished("2"),
        call("3", "MultiEdit", file_path="/p/b.py"),
        call("4", "NotebookEdit", notebook_path="/p/n.ipynb"),
        call("5", "Read", file_path="/p/never.py"),
        call("6", "Edit", True, file_path="/p/by-a-subagent.py"),
    )
    assert facts.files_modified == ("/p/b.py", "/p/a.py", "/p/n.ipynb", "/p/by-a-subagent.py")


def test_a_failed_edit_changed_nothing() -> None:
    facts = told_by(
        call("1", "Edit", file_path="/p/a.py"),
        ToolFinished("1", failed=True),
        call("2", "Edit", file_path="/p/b.py"),
        ToolFinished("2"),
        call("3", "Edit", file_path="/p/b.py"),
        ToolFinished("3", failed=True),
    )
    assert facts.files_modified == ("/p/b.py",)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("[work d0da3da] Add a\n 1 file changed", [("d0da3da", "Add a")]),
        ("[work (root-commit) d0da3da] Add a", [("d0da3da", "Add a")]),
        ("[detached HEAD 0123456] x [y 7654321] z", [("0123456", "x [y 7654321] z")]),
        (
            "warn\n[main 210fe9e] one\n x\n[main 3e1dd6e] two",
            [("210fe9e", "one"), ("3e1dd6e", "two")],
        ),
        ("nothing to commit, working tree clean", []),
    ],
)
def test_commits_are_what_git_said(output: str, expected: list[tuple[str, str]]) -> None:
    facts = told_by(
        call("1", "Bash", command="git add -A && git -C . commit -m x"),
        ToolFinished("1", text=output),
    )
    assert facts.commits == tuple(CommitMade(*one) for one in expected)


def test_another_commands_output_makes_no_commit() -> None:
    facts = told_by(
        call("1", "Bash", command="cat log"), ToolFinished("1", text="[main 210fe9e] one")
    )
    assert facts.commits == ()


def test_a_subagent_from_start_to_end() -> None:
    collector = Collector()
    collector.feed(call("1", "Agent", description="look", prompt="p", subagent_type="Explore"))
    assert collector.facts().subagents == (Subagent("1", "Explore", "running", "look"),)
    collector.feed(ToolFinished("1", agent_id="a1", agent_status="running"))
    assert collector.facts().subagents == (Subagent("a1", "Explore", "running", "look"),)
    collector.feed(ToolFinished("1", agent_id="a1", agent_status="completed"))
    assert collector.facts().subagents == (Subagent("a1", "Explore", "completed", "look"),)


def test_the_report_of_a_subagent_is_kept() -> None:
    started = call("1", "Agent", description="look", prompt="p", subagent_type="Explore")
    launched = ToolFinished("1", text="Launched", agent_id="a1", agent_status="running")
    assert told_by(started, launched).subagents[0].result == ""
    ended = ToolFinished("", text=" Two claims. ", agent_id="a1", agent_status="completed")
    assert told_by(started, launched, ended).subagents[0].result == "Two claims."
    failed = ToolFinished("1", failed=True, text="overloaded")
    assert told_by(started, failed).subagents[0].result == ""


def test_a_subagent_that_failed() -> None:
    facts = told_by(call("1", "Task", prompt="p"), ToolFinished("1", failed=True))
    assert facts.subagents == (Subagent("1", "general-purpose", "failed", "p"),)


SERVER = BackgroundTask("b1", "shell", "dev server", "npm run dev", "/t/b1.output")


def test_a_background_shell_from_start_to_end() -> None:
    collector = Collector()
    collector.feed(call("1", "Bash", description="dev server", command="npm run dev"))
    collector.feed(ToolFinished("1", task_id="b1", task_log="/t/b1.output"))
    assert collector.facts().background == (SERVER,)
    collector.only_running({"b1"})
    assert collector.facts().background == (SERVER,)
    collector.only_running(())
    assert collector.facts().background == (replace(SERVER, status="ended"),)
    collector.feed(ToolFinished("1", agent_id="b1", agent_status="completed"))
    assert collector.facts().background == (replace(SERVER, status="completed"),)


def test_a_background_shell_that_the_agent_stops() -> None:
    facts = told_by(
        call("1", "Bash", command="npm run dev"),
        ToolFinished("1", task_id="b1"),
        call("2", "TaskStop", task_id="b1"),
        ToolFinished("2"),
    )
    assert [(task.id, task.status) for task in facts.background] == [("b1", "stopped")]


def test_the_last_five_calls_and_the_last_reply() -> None:
    events: list[SessionEvent] = [Identified(cwd="/p")]
    events += [call(str(n), "Read", file_path=f"/p/{n}.py") for n in range(7)]
    facts = told_by(*events, said("first"), said("last"), said(""), Compacted())
    assert facts.recent_activity == tuple(f"Read {n}.py" for n in range(2, 7))
    assert (facts.last_reply, facts.compactions) == ("last", 1)


def test_a_short_last_reply_is_kept_with_a_longer_one_before_it() -> None:
    report = "router.go sends the customs form twice; the second call is in Retry(). " * 3
    facts = told_by(said(report), said("ok"), call("1", "Read", file_path="/p/a"), said("Next: b."))
    assert (facts.last_reply, facts.longer_reply) == ("Next: b.", report)
    assert told_by(said("Next: b."), said(report)).longer_reply is None
    assert told_by(said("Next: b."), said("ok")).longer_reply is None
    old = told_by(said(report), *(said("ok") for _ in range(REPLIES_BEFORE + 1)))
    assert old.longer_reply is None


def test_memory_is_bounded() -> None:
    collector = Collector()
    for number in range(FILES_KEPT + 500):
        collector.feed(call(str(number), "Write", file_path=f"/p/{number}"))
    assert len(collector.facts().files_modified) == FILES_KEPT


@pytest.mark.parametrize("name", ["Edit", "Bash", "TodoWrite", "TaskCreate", "TaskUpdate", "Agent"])
@pytest.mark.parametrize("told", [{}, {"file_path": 5}, {"todos": [3]}, {"taskId": None}])
def test_nonsense_in_a_call_is_survived(name: str, told: dict[str, Any]) -> None:
    told_by(call("1", name, **told), ToolFinished("1", text="Task #1 created"))

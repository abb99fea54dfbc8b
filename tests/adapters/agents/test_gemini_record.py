"""Lines of Gemini CLI's transcripts, recorded with 0.61.0 against a simulated model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cockpit.adapters.agents.gemini.record import parse
from cockpit.adapters.agents.transcript_formats import format_of
from cockpit.core.collect import Collector
from cockpit.core.meter import Meter
from cockpit.core.session import (
    AssistantReplied,
    Compacted,
    ContextInjected,
    Identified,
    Interrupted,
    PromptFileTaken,
    SessionEvent,
    Skipped,
    ToolFinished,
    TurnFailed,
    TurnRecorded,
    UserSaid,
)

DATA = Path(__file__).parents[2] / "data" / "gemini"
T = TypeVar("T")


def events_of(name: str) -> list[SessionEvent]:
    found: list[SessionEvent] = []
    for line in (DATA / f"{name}.jsonl").read_bytes().splitlines():
        found += parsed(line)
    return found


def parsed(line: bytes) -> list[SessionEvent]:
    events = parse(line)
    assert not isinstance(events, Skipped), line
    return list(events)


def of(kind: type[T], events: list[SessionEvent]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


def metered(name: str) -> Meter:
    meter = Meter()
    for event in events_of(name):
        meter.feed(event)
    return meter


def line(**record: Any) -> bytes:
    return json.dumps({"id": "1", "timestamp": "2026-11-23T12:00:00.000Z", **record}).encode()


def test_tokens_are_those_of_the_last_reply_without_its_answer() -> None:
    meter = metered("write_and_command")
    assert meter.tokens == 32_003
    assert (meter.api_calls, meter.tool_calls) == (3, 2)
    totals = meter.totals
    assert (totals.input, totals.cache_read, totals.output) == (3_009, 81_000, 360)
    assert meter.model == "gemini-2.5-pro"


def test_a_reply_that_is_written_twice_counts_once() -> None:
    replies = of(AssistantReplied, events_of("write_and_command"))
    assert len(replies) == 5
    assert len({reply.message_id for reply in replies}) == 3


def test_tools_have_the_names_that_facts_are_collected_by() -> None:
    collector = Collector()
    for event in events_of("write_and_command"):
        collector.feed(event)
    tools = [tool for reply in of(AssistantReplied, events_of("write_and_command"))
             for tool in reply.tools]  # fmt: skip
    assert [tool.name for tool in tools] == ["Write", "Bash"]
    assert tools[1].input["command"] == "cat notes.md; false"
    assert [event.failed for event in of(ToolFinished, events_of("write_and_command"))] == [
        False,
        True,
    ]


def test_the_session_and_its_prompt_are_named() -> None:
    events = events_of("write_and_command")
    assert of(Identified, events)[0].session_id == "39a57f58-31ec-487f-a96f-1d42382d2ffb"
    (said,) = of(UserSaid, events)
    assert (said.text, said.meta) == ("Do the work.", False)


def test_a_cancelled_turn_does_not_work_again_afterwards() -> None:
    events = events_of("interrupted")
    place = next(at for at, event in enumerate(events) if isinstance(event, Interrupted))
    assert not of(TurnRecorded, events[place:])
    assert of(ToolFinished, events)[-1].failed
    assert metered("interrupted").tokens == 21_003


def test_an_error_of_the_api_ends_a_turn() -> None:
    (failed,) = of(TurnFailed, events_of("bad_request"))
    assert (failed.error.error, failed.error.status) == ("Broken request", 400)


@pytest.mark.parametrize(
    ("words", "error", "status"),
    [
        ("[API Error: no network]", "no network", None),
        ("[API Error: []]", "[]", None),
        ("Something else", "Something else", None),
        ("", "unknown", None),
        ('[API Error: {"error":{"code":429,"message":"Slow"}}]', "Slow", 429),
    ],
)
def test_an_error_keeps_its_words(words: str, error: str, status: int | None) -> None:
    (failed,) = parsed(line(type="error", content=words))
    assert isinstance(failed, TurnFailed)
    assert (failed.error.error, failed.error.status) == (error, status)


def test_what_a_hook_added_is_told_from_what_the_user_said() -> None:
    events = events_of("hook_texts")
    added = [(event.hook_event, event.text) for event in of(ContextInjected, events)]
    assert added == [("SessionStart", "FACTS at start"), ("AfterTool", "PLEASE write draft-1.md")]
    assert [said.text for said in of(UserSaid, events)] == ["Do the work.", "GO ON, said cockpit"]


def test_a_compaction_is_one_although_it_is_written_in_two_lines() -> None:
    """The resumed session repeats the history, which is none."""
    events = events_of("compaction_and_resume")
    assert [event.trigger for event in of(Compacted, events)] == ["", "auto"]
    meter = metered("compaction_and_resume")
    assert (meter.compactions, meter.tokens, meter.peak) == (1, 10_003, 531_003)


def test_a_compaction_by_hand_does_not_say_what_started_it() -> None:
    assert [event.trigger for event in of(Compacted, events_of("manual_compaction"))] == [""]
    meter = metered("manual_compaction")
    assert (meter.compactions, meter.tokens) == (1, None)


def rewritten(snapshot: str, first: str, written: str) -> bytes:
    messages = [
        {"timestamp": first, "type": "user", "content": [{"text": "<session_context>"}]},
        {"timestamp": snapshot, "type": "user", "content": [{"text": "<state_snapshot>"}]},
    ]
    return json.dumps({"$set": {"messages": messages, "lastUpdated": written}}).encode()


def test_a_history_that_is_written_again_is_no_compaction() -> None:
    begun, made = "2026-11-23T12:00:00.000Z", "2026-11-23T12:30:00.000Z"
    assert len(parsed(rewritten(made, begun, "2026-11-23T12:30:00.100Z"))) == 1
    assert parse(rewritten(made, begun, "2026-11-23T12:40:00.000Z")) == ()  # a request cancelled
    assert parse(rewritten(made, made, "2026-11-23T12:30:00.100Z")) == ()  # resumed


def test_a_first_prompt_that_the_agent_opened_is_taken() -> None:
    path = "/state/prompts/run/prompt-0123456789abcdef.md"
    result = [{"functionResponse": {"response": {"output": "Count the steps."}}}]
    call = {"id": "c", "name": "run_shell_command", "args": {"command": f"cat {path}"}}
    done = {**call, "status": "success", "result": result, "timestamp": "2026-11-23T12:00:01Z"}
    events = parsed(line(type="gemini", content="", toolCalls=[done]))
    assert of(PromptFileTaken, events) == [PromptFileTaken(path, "Count the steps.")]
    refused = {**done, "status": "error"}
    assert not of(PromptFileTaken, parsed(line(type="gemini", content="", toolCalls=[refused])))


def test_a_prompt_whose_text_the_cli_lost_is_not_taken() -> None:
    """Recorded: 0.61.0 loses the output of a command that ends at once, sometimes."""
    path = "/state/prompts/run/prompt-0123456789abcdef.md"
    said = "<untrusted_context>\nOutput: (empty)\nProcess Group PGID: 29245\n</untrusted_context>"
    result = [{"functionResponse": {"response": {"output": said}}}]
    call = {"id": "c", "name": "run_shell_command", "args": {"command": f"cat {path}"}}
    done = {**call, "status": "success", "result": result, "timestamp": "2026-11-23T12:00:01Z"}
    events = parsed(line(type="gemini", content="", toolCalls=[done]))
    assert not of(PromptFileTaken, events)
    assert [one.empty for one in of(ToolFinished, events)] == [True]


def called(name: str, args: dict[str, Any], output: str) -> list[SessionEvent]:
    result = [{"functionResponse": {"response": {"output": output}}}]
    call = {"id": "c", "name": name, "args": args, "result": result, "status": "success"}
    return parsed(line(type="gemini", content="", toolCalls=[call]))


def shell(command: str, output: str) -> list[SessionEvent]:
    wrapped = f"<untrusted_context>\nOutput: {output}\n</untrusted_context>"
    return called("run_shell_command", {"command": command}, wrapped)


@pytest.mark.parametrize(
    ("output", "text", "code"),
    [
        ("4 passed\nProcess Group PGID: 237", "4 passed", 0),
        ("no\nExit Code: 2\nProcess Group PGID: 237", "no", 2),
        ("(empty)\nExit Code: 1\nBackground PIDs: 4, 5\nProcess Group PGID: 237", "", 1),
        ("killed\nSignal: SIGKILL\nProcess Group PGID: 237", "killed", None),
        ("Exit Code: 3\nmore\nProcess Group PGID: 237", "Exit Code: 3\nmore", 0),
    ],
)
def test_the_result_of_a_command_is_its_output_and_its_exit_status(
    output: str, text: str, code: int | None
) -> None:
    (finished,) = of(ToolFinished, shell("make", output))
    assert (finished.text, finished.exit, finished.failed) == (text, code, code != 0)


def test_a_command_that_was_cancelled_or_went_on_has_no_exit_status() -> None:
    for told in ("Command moved to background (PID: 7). Output hidden.", "Command was cancelled."):
        (finished,) = of(ToolFinished, called("run_shell_command", {"command": "make"}, told))
        assert (finished.text, finished.exit, finished.failed) == (told, None, False)


def test_commits_checks_and_failures_are_facts() -> None:
    collector = Collector()
    for event in (
        *shell("make lint", "make: *** No rule\nExit Code: 2\nProcess Group PGID: 1"),
        *shell("pytest -q", "4 passed in 0.2s\nProcess Group PGID: 2"),
        *shell("git commit -am x", "[main 1a2b3c4] Add x\n 1 file changed"),
    ):
        collector.feed(event)
    facts = collector.facts()
    assert [made.hash for made in facts.commits] == ["1a2b3c4"]
    assert [(one.failed, one.result) for one in facts.checks if one.kind == "test"] == [
        (False, "4 passed in 0.2s")
    ]
    assert [one.error for one in facts.failures] == ["make: *** No rule"]


def test_the_todo_list_and_answers_are_facts() -> None:
    todos = [{"description": "Write it", "status": "in_progress"}, "?"]
    questions = [{"question": "Which separator?"}, {"question": "Why?"}, 7]
    collector = Collector()
    for event in (
        *called("write_todos", {"todos": todos}, "Successfully updated the todo list."),
        *called("ask_user", {"questions": questions}, '{"answers":{"0":"semicolon","2":"x"}}'),
        *called("ask_user", {"questions": questions}, "User dismissed ask_user dialog."),
    ):
        collector.feed(event)
    facts = collector.facts()
    assert [(todo.content, todo.status) for todo in facts.todos] == [("Write it", "in_progress")]
    assert [(one.question, one.answer) for one in facts.answers] == [
        ("Which separator?", "semicolon")
    ]


def test_a_first_prompt_that_a_command_printed_is_its_output() -> None:
    path = "/state/prompts/run/prompt-0123456789abcdef.md"
    events = shell(f"cat {path}", "Count the steps.\nProcess Group PGID: 237")
    assert of(PromptFileTaken, events) == [PromptFileTaken(path, "Count the steps.")]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b'{"id":"1","type":"gem', "torn"),
        (b"hello", "not-json"),
        (b"[1]", "not-a-record"),
        (b'{"type":"gemini","toolCalls":7}', "not-a-record"),
        (b'{"$set":{"messages":["<state_snapshot>"]}}', "not-a-record"),
    ],
)
def test_a_line_that_is_no_record_is_skipped(record: bytes, reason: str) -> None:
    assert parse(record) == Skipped(reason)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "record", [b"", b'{"$set":{"lastUpdated":"x"}}', b'{"type":"news"}', b'{"$rewindTo":"1"}']
)
def test_a_line_that_says_nothing_gives_nothing(record: bytes) -> None:
    assert parse(record) == ()


def test_the_format_is_recognised_by_its_content(tmp_path: Path) -> None:
    copy = tmp_path / "notes.txt"
    copy.write_bytes((DATA / "write_and_command.jsonl").read_bytes())
    assert format_of(copy).totals is parse

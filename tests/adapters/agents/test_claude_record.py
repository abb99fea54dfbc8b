from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.adapters.agents.claude.record import parse
from cockpit.core.collect import Collector
from cockpit.core.facts import CommitMade, Subagent, Todo
from cockpit.core.meter import Meter
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
    ContextInjected,
    CostCounted,
    Identified,
    Interrupted,
    SessionEvent,
    Skipped,
    ToolFinished,
    ToolUse,
    TurnEnded,
    Usage,
    UserSaid,
)

RECORDED = Path(__file__).parents[2] / "data" / "transcripts"
USAGE = {
    "input_tokens": 8,
    "cache_creation_input_tokens": 1_000,
    "cache_read_input_tokens": 90_000,
    "output_tokens": 42,
}


def events_of(name: str) -> list[SessionEvent]:
    """Every event of a transcript that CLI 2.1.330 wrote, the machine's paths replaced."""
    found: list[SessionEvent] = []
    for line in (RECORDED / f"{name}.jsonl").read_bytes().split(b"\n"):
        events = parse(line)
        assert not isinstance(events, Skipped), line[:200]
        found.extend(events)
    return found


def of(kind: type, events: list[SessionEvent]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def line(**record: Any) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode()


def reply_line(**more: Any) -> bytes:
    message = {
        "id": "msg_1",
        "model": "claude-opus-5",
        "content": [{"type": "text", "text": "hi"}],
        "usage": USAGE,
        **more.pop("message", {}),
    }
    return line(type="assistant", message=message, **more)


def one(found: object) -> Any:
    assert isinstance(found, list | tuple)
    (event,) = found
    return event


def test_a_printed_session_with_hooks_a_commit_and_a_subagent() -> None:
    events = events_of("print_hooks_commit_subagent")
    meter, collector = Meter(), Collector()
    for event in events:
        meter.feed(event)
        collector.feed(event)
    assert (meter.tokens, meter.api_calls, meter.model) == (131_008, 11, "claude-opus-5-5")
    facts = collector.facts()
    assert facts.goal == "MAIN please do the thing"
    assert facts.todos == (Todo("write tests", "pending"),), "TodoWrite was refused before"
    assert facts.files_modified == ("/home/pilot/project/a.py",)
    assert facts.commits == (CommitMade("d0da3da", "Add a"),)
    assert facts.subagents == (
        Subagent(
            "a1db92850d86b78e5", "general-purpose", "completed", "look around", "sub result text"
        ),
    )
    assert facts.recent_activity[1] == "Edit a.py"


def test_what_hooks_answered_is_seen_to_arrive() -> None:
    arrived = Counter(
        (event.hook_event, event.text)
        for event in of(ContextInjected, events_of("print_hooks_commit_subagent"))
    )
    assert arrived == {
        ("UserPromptSubmit", "plain prompt context"): 2,
        ("PostToolUse", "COCKPIT-INJECT please write"): 6,
        ("Stop", "COCKPIT-STOP write the document"): 2,
    }


def test_a_background_notice_is_no_prompt_of_the_pilot() -> None:
    events = events_of("print_hooks_commit_subagent")
    assert [said.text for said in of(UserSaid, events) if not said.meta] == [
        "MAIN please do the thing"
    ]
    assert [
        (done.agent_status, done.text[:17]) for done in of(ToolFinished, events) if done.agent_id
    ] == [("running", "Async agent launc"), ("completed", "sub result text")]


def test_a_terminal_session_with_tasks_and_a_compaction() -> None:
    events = events_of("tui_tasks_compaction")
    (compacted,) = of(Compacted, events)
    assert (compacted.trigger, compacted.pre_tokens) == ("manual", 91_050)
    assert len(of(TurnEnded, events)) == 6
    prompts = [said.text for said in of(UserSaid, events) if not said.meta | said.compact_summary]
    assert prompts == [
        "MAIN do it",
        "second prompt",
        "second promptthird prompt",
        "fourth prompt",
        "fifth prompt",
        "sixth prompt",
        "seventh",
    ], "an Esc before the first token puts the prompt back into the composer, unmarked"
    assert any(said.compact_summary for said in of(UserSaid, events))
    assert of(CostCounted, events)[-1] == CostCounted(0.24182400000000004)


def test_the_session_says_who_it_is() -> None:
    told = of(Identified, events_of("tui_tasks_compaction"))
    assert {one.session_id for one in told} == {"34c0bd96-7f62-4afc-9311-5b19ece5e52a"}
    assert {one.cwd for one in told if one.cwd} == {"/home/pilot/project"}
    assert {one.branch for one in told if one.branch} == {"HEAD"}, "as it was at the start"
    assert {one.permission_mode for one in told if one.permission_mode} == {"acceptEdits"}


def test_an_interrupt_in_a_tool_call() -> None:
    events = events_of("tui_interrupt")
    assert len(of(Interrupted, events)) == 1
    assert [done.failed for done in of(ToolFinished, events)] == [True]


def test_the_large_window_is_in_the_identity_only() -> None:
    events = events_of("print_large_window_todos")
    assert {event.model for event in of(AssistantReplied, events)} == {"claude-sonnet-4-6"}
    assert "claude-sonnet-4-6[1m]" in {event.model for event in of(Identified, events)}


def test_an_api_error_is_no_reply() -> None:
    events = events_of("print_api_error")
    assert not of(AssistantReplied, events)
    (failed,) = of(ApiFailed, events)
    assert (failed.error, failed.status) == ("API Error: 400 prompt is bad", 400)


def test_a_reply_in_full() -> None:
    tool = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    content = [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "hi"}, tool]
    event = one(
        parse(
            reply_line(
                message={"content": content, "stop_reason": "tool_use"},
                isSidechain=True,
                timestamp="2026-11-21T22:38:44.088Z",
            )
        )
    )
    assert event.context == event.billed == Usage(8, 1_000, 90_000, 42)
    assert (event.text, event.tools) == ("hi", (ToolUse("t1", "Bash", {"command": "ls"}),))
    assert (event.sidechain, event.stop_reason, event.message_id) == (True, "tool_use", "msg_1")
    assert event.at.isoformat() == "2026-11-21T22:38:44.088000+00:00"


@pytest.mark.parametrize(
    ("iterations", "expected"),
    [
        (None, 91_008),
        ([], 91_008),
        ([{"type": "message", "input_tokens": 5}, {"type": "message", "input_tokens": 7}], 7),
        ([{"type": "fallback_message", "input_tokens": 9}, {"type": "advisor_message"}], 9),
        ([{"type": "compaction", "input_tokens": 9}], 91_008),
        (["nonsense"], 91_008),
    ],
)
def test_the_last_iteration_fills_the_window(iterations: object, expected: int) -> None:
    event = one(parse(reply_line(message={"usage": {**USAGE, "iterations": iterations}})))
    assert event.context.context == expected
    assert event.billed.context == 91_008


@pytest.mark.parametrize(
    "message",
    [
        {"model": "<synthetic>"},
        {"model": None},
        {"usage": None},
        {"usage": "x"},
    ],
)
def test_what_was_not_metered_is_no_reply(message: dict[str, Any]) -> None:
    assert parse(reply_line(message=message)) == ()


@pytest.mark.parametrize("count", [-1, 1.5, "7", True, None, 2**60])
def test_what_cannot_be_a_count_is_none(count: object) -> None:
    event = one(parse(reply_line(message={"usage": {**USAGE, "output_tokens": count}})))
    assert event.billed.output == 0
    wild = parse(reply_line(message={"usage": {**USAGE, "input_tokens": count}}))
    assert wild == Skipped("not-a-record", reading=True)


def test_spaces_and_key_order_do_not_matter() -> None:
    spaced = json.dumps({"type": "assistant", "message": json.loads(reply_line())["message"]})
    assert parse(spaced.encode()) == parse(reply_line())
    assert parse(reply_line() + b"\r") == parse(reply_line())


def test_a_result_is_cut_to_its_beginning() -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "x" * 100_000}
    message = {"role": "user", "content": [block]}
    (event,) = parse(line(type="user", message=message, toolUseResult={}))  # type: ignore[misc]
    assert isinstance(event, ToolFinished)
    assert (len(event.text), event.tool_use_id, event.failed) == (2_000, "t1", False)


@pytest.mark.parametrize(
    ("text", "meta"),
    [
        ("do it", False),
        ("<command-name>/compact</command-name>", True),
        ("<local-command-stdout>x</local-command-stdout>", True),
        ("<task-notification>\n</task-notification>", True),
    ],
)
def test_who_spoke(text: str, meta: bool) -> None:
    events = parse(line(type="user", message={"role": "user", "content": text}))
    (said,) = of(UserSaid, list(events))  # type: ignore[arg-type]
    assert said.meta is meta


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"type":"assistant","message":{"id"', "torn"),
        (b"\0" * 500, "not-json"),
        (b"\0\0" + reply_line(), "not-json"),
        (reply_line() + reply_line(), "not-json"),
        (b'{"type":"assistant","x":"\xff\xfe"}', "not-json"),
        (b"[" * 100_000, "not-json"),
        (b"hello", "not-json"),
        (b"[1]", "not-a-record"),
        (b'"text"', "not-a-record"),
        (b'{"type":5}', "not-a-record"),
        (b"{}", "not-a-record"),
        (b'{"type":"assistant"}', "not-a-record"),
        (b'{"attachment":[],"type":"attachment"}', "not-a-record"),
    ],
)
def test_a_bad_line_is_counted_and_never_raised(bad: bytes, reason: str) -> None:
    found = parse(bad)
    assert isinstance(found, Skipped)
    assert found.reason == reason


def test_what_is_of_no_interest_gives_nothing() -> None:
    for dull in (b"", b"   ", b"\r", b'{"type":"summary","summary":"t"}', b'{"type":"brand-new"}'):
        assert parse(dull) == ()
    assert parse(b'{"type":"api-request-shape","shape":{"system":"' + b"x" * 40_000 + b'"}}') == ()


@pytest.mark.parametrize(("kind", "meta"), [("human", False), ("task-notification", True)])
def test_the_record_says_who_spoke(kind: str, meta: bool) -> None:
    message = {"role": "user", "content": "go on"}
    events = parse(line(type="user", message=message, origin={"kind": kind}))
    (said,) = of(UserSaid, list(events))  # type: ignore[arg-type]
    assert said.meta is meta


def test_a_record_that_quotes_a_reply_is_no_reply() -> None:
    quoted = reply_line().decode()
    message = {"role": "user", "content": [{"type": "tool_result", "content": quoted}]}
    found = parse(line(type="user", message=message))
    assert not of(AssistantReplied, list(found))  # type: ignore[arg-type]


def test_halves_of_pairs_and_strange_separators_are_text() -> None:
    event = one(parse(rb'{"type":"assistant","message":{"id":"a","model":"m",'
                      rb'"usage":{"input_tokens":1},'
                      rb'"content":"\ud800 \u2028 x"}}'))  # fmt: skip
    assert event.text == "\ufffd \u2028 x"


def test_a_record_nested_too_deep_is_skipped() -> None:
    deep = b'{"type":"user","message":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001
    assert isinstance(parse(deep), Skipped)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "message", "content", "usage", "id", "model", "text", "attachment",
                 "subtype", "compactMetadata", "preTokens", "origin", "toolUseResult", "timestamp",
                 "iterations", "input_tokens", "identity", "blockingError", "totalCostUSD"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)  # fmt: skip
KINDS = st.sampled_from(
    ["assistant", "user", "system", "attachment", "cost-state", "permission-mode", "other"]
)


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(data: bytes) -> None:
    parse(data)


@given(KINDS, st.dictionaries(st.text(max_size=3), JSON, max_size=2), JSON, JSON)
def test_any_record_is_survived(
    kind: str, more: dict[str, Any], message: object, attachment: object
) -> None:
    record = {**more, "type": kind, "message": message, "attachment": attachment}
    found = parse(json.dumps(record).encode())
    meter, collector = Meter(), Collector()
    for event in [found] if isinstance(found, Skipped) else found:
        meter.feed(event)
        collector.feed(event)

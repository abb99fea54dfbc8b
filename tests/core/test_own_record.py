"""The documented record: every key, every wrong type, and whatever else a line can hold."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.meter import Meter
from cockpit.core.own_record import MARK, is_own_record, parse
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
    CostCounted,
    Identified,
    Interrupted,
    SessionEvent,
    Skipped,
    ToolFinished,
    ToolUse,
    TurnEnded,
    TurnFailed,
    TurnRecorded,
    Usage,
    UserSaid,
)


def events(**line: Any) -> list[SessionEvent]:
    found = parse(json.dumps(line).encode(), "u1")
    assert not isinstance(found, Skipped), found
    return list(found)


def fault(**line: Any) -> Skipped:
    found = parse(json.dumps(line).encode(), "u1")
    assert isinstance(found, Skipped), found
    assert found.reason == "fault"
    return found


AT = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


def test_a_reading_is_what_the_last_request_held() -> None:
    (reply,) = events(usage={"input": 5, "cache_read": 40, "cache_write": 2, "output": 9})
    assert isinstance(reply, AssistantReplied)
    assert (reply.context, reply.billed) == (Usage(5, 2, 40, 9), Usage(5, 2, 40, 9))
    meter = Meter()
    meter.feed(reply)
    assert (meter.tokens, meter.totals.output) == (47, 9)


def test_what_is_not_counted_apart_is_none() -> None:
    (reply,) = events(usage={"input": 5})
    assert isinstance(reply, AssistantReplied)
    assert reply.billed == Usage(5)


def test_the_session_and_its_window() -> None:
    line = {"session": "s", "directory": "/d", "branch": "b", "model": "m"}
    assert events(record="cockpit/1", window=9000, compacts_at=8000, **line) == [
        Identified("s", "/d", "b", None, "m", 9000, 8000)
    ]


def test_a_turn_begins_before_its_prompt_and_ends_after_its_reply() -> None:
    assert events(turn="begin", prompt="Go.", at=AT.timestamp()) == [
        TurnRecorded(True, AT),
        UserSaid("Go.", at=AT),
    ]
    found = events(turn="end", said="Done.", at=AT.isoformat())
    assert [type(one) for one in found] == [AssistantReplied, TurnEnded, TurnRecorded]
    assert found[-1] == TurnRecorded(False, AT)
    assert isinstance(found[0], AssistantReplied)
    assert (found[0].text, found[0].stop_reason) == ("Done.", "end_turn")


def test_text_without_usage_is_no_reading() -> None:
    (reply,) = events(said="Hm.", id="r1", model="m")[1:]
    assert isinstance(reply, AssistantReplied)
    assert (reply.context, reply.message_id, reply.model) == (None, "r1", "m")


def test_a_tool_without_an_id_has_returned() -> None:
    reply, finished = events(tool="Look")
    assert isinstance(reply, AssistantReplied)
    assert reply.tools == (ToolUse("u1", "Look"),)
    assert reply.stop_reason is None
    assert finished == ToolFinished("u1")


def test_a_tool_with_an_id_runs_until_its_result() -> None:
    call = {"id": "t", "name": "Read", "input": {"file_path": "/d/x"}}
    (reply,) = events(tool=call)
    assert isinstance(reply, AssistantReplied)
    assert reply.tools == (ToolUse("t", "Read", {"file_path": "/d/x"}),)
    (finished,) = events(result={"id": "t", "failed": True, "text": "x" * 9000})
    assert finished == ToolFinished("t", True, "x" * 2000)


def test_a_subagent_is_not_in_the_context() -> None:
    (reply,) = events(usage={"input": 9}, subagent=True)
    meter = Meter()
    meter.feed(reply)
    assert (meter.tokens, meter.totals.input) == (None, 9)


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ({"compacted": True}, Compacted()),
        ({"compacted": {"trigger": "manual", "before": 7}}, Compacted("manual", 7)),
        ({"cost_usd": 2}, CostCounted(2.0)),
        ({"interrupted": True}, Interrupted()),
        ({"failed": "No answer"}, TurnFailed(ApiFailed("No answer"))),
        (
            {"failed": {"message": "Later", "status": 429, "resets_at": 5.5}},
            TurnFailed(ApiFailed("Later", 429, None, 5.5)),
        ),
    ],
)
def test_one_key_is_one_event(line: dict[str, Any], event: SessionEvent) -> None:
    assert events(**line) == [event]


@pytest.mark.parametrize(
    "line",
    [{}, {"record": "cockpit/1"}, {"new": [1]}, {"compacted": False}, {"interrupted": False}],
)
def test_nothing_known_is_no_event(line: dict[str, Any]) -> None:
    assert events(**line) == []


WRONG = [
    ("usage", [{}], "expected an object"),
    ("usage", {}, "usage.input: missing"),
    ("usage", {"input": "5"}, "usage.input: expected a whole number"),
    ("usage", {"input": 5.0}, "usage.input"),
    ("usage", {"input": True}, "usage.input"),
    ("usage", {"input": -1}, "usage.input"),
    ("usage", {"input": 2**53}, "usage.input"),
    ("usage", {"input": 1, "cache_read": None}, "usage.cache_read"),
    ("usage", {"input": 1, "cache_write": "1"}, "usage.cache_write"),
    ("usage", {"input": 1, "output": [1]}, "usage.output"),
    ("window", 0, "expected more than 0"),
    ("window", "200k", "window: expected a whole number"),
    ("compacts_at", False, "compacts_at"),
    ("model", 4, "model: expected text"),
    ("session", None, "session: expected text"),
    ("directory", [], "directory"),
    ("branch", {}, "branch"),
    ("turn", "over", 'turn: expected "begin" or "end"'),
    ("turn", ["end"], "turn"),
    ("tool", 3, "tool: expected an object"),
    ("tool", {}, "tool.name: missing"),
    ("tool", {"name": 1}, "tool.name"),
    ("tool", {"name": "x", "id": 1}, "tool.id"),
    ("tool", {"name": "x", "input": "y"}, "tool.input"),
    ("result", "done", "result: expected an object"),
    ("result", {}, "result.id: missing"),
    ("result", {"id": "t", "failed": "no"}, "result.failed"),
    ("result", {"id": "t", "text": 1}, "result.text"),
    ("prompt", ["a"], "prompt"),
    ("said", {}, "said"),
    ("id", 1, "id"),
    ("subagent", 1, "subagent: expected true or false"),
    ("compacted", "yes", "compacted: expected true or an object"),
    ("compacted", {"trigger": "me"}, "compacted.trigger"),
    ("compacted", {"before": 0}, "compacted.before"),
    ("cost_usd", "1", "cost_usd"),
    ("cost_usd", -0.1, "cost_usd"),
    ("interrupted", "yes", "interrupted"),
    ("failed", 1, "failed: expected text or an object"),
    ("failed", {"message": 1}, "failed.message"),
    ("failed", {"status": "429"}, "failed.status"),
    ("failed", {"resets_at": "soon"}, "failed.resets_at"),
    ("at", "yesterday", "at: expected unix seconds"),
    ("at", "2026-11-23T12:00:00", "at"),
    ("at", True, "at"),
    ("at", 1e300, "at"),
]


@pytest.mark.parametrize(("key", "value", "says"), WRONG)
def test_a_wrong_type_is_a_fault_and_nothing_of_the_line_counts(
    key: str, value: object, says: str
) -> None:
    found = fault(**{key: value})
    assert says in found.detail


@pytest.mark.parametrize("key", ["usage", "compacted", "window", "model"])
def test_a_fault_that_may_be_a_reading_makes_the_context_unknown(key: str) -> None:
    assert fault(**{key: 1.5}).reading


@pytest.mark.parametrize("line", [{"prompt": 1}, {"tool": 1, "at": 5}, {"said": 1, "id": "r"}])
def test_another_fault_leaves_the_reading(line: dict[str, Any]) -> None:
    assert not fault(**line).reading


def test_what_a_reader_could_not_do_is_a_fault() -> None:
    found = fault(fault="the reader exited with code 1")
    assert (found.detail, found.reading) == ("the reader exited with code 1", True)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"not json", "not-json"),
        (b'{"usage": {"inp', "torn"),
        (b"[" * 100_000, "not-json"),
        (b'{"cost_usd": NaN}', "fault"),
        (b'{"cost_usd": 1e999}', "fault"),
        (b"[1]", "fault"),
        (b"\xff{}", "not-json"),
    ],
)
def test_a_line_that_is_no_object(line: bytes, reason: str) -> None:
    found = parse(line, "u")
    assert isinstance(found, Skipped)
    assert found.reason == reason


def test_an_empty_line_is_nothing() -> None:
    assert parse(b"  ", "u") == ()


def test_the_first_line_tells_the_record() -> None:
    assert is_own_record(json.dumps({"record": MARK}).encode() + b"\n")
    assert is_own_record(b' {"record":"cockpit/1","session":"s"}')
    assert not is_own_record(b'{"record":"cockpit/opencode"}')
    assert not is_own_record(b'{"record":"cockpit/10"}')
    assert not is_own_record(b'{"usage":{"input":1}}')
    assert not is_own_record(b"")


NAMES = (
    "record session directory branch model window compacts_at at id usage turn prompt said tool "
    "result compacted cost_usd failed interrupted subagent fault input cache_read name trigger new"
)
KEYS = st.sampled_from(NAMES.split())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["end"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_no_object_raises_and_every_reading_is_what_the_line_says(line: dict[str, Any]) -> None:
    found = parse(json.dumps(line).encode(), "u")
    if isinstance(found, Skipped):
        return
    for event in found:
        if isinstance(event, AssistantReplied) and event.context is not None:
            assert event.context.input == line["usage"]["input"]
            assert event.context.context < 2**55
        if isinstance(event, Identified) and event.window is not None:
            assert event.window == line["window"] > 0


@given(st.binary(max_size=200))
def test_no_bytes_raise(line: bytes) -> None:
    parse(line, "u")

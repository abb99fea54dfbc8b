"""Lines of Codex's transcripts, recorded with 0.169.0 against a simulated model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cockpit.adapters.agents.codex.record import parse
from cockpit.core.collect import Collector
from cockpit.core.meter import Meter
from cockpit.core.rate_limits import RateLimit
from cockpit.core.session import (
    Compacted,
    ContextInjected,
    Identified,
    Interrupted,
    LimitsReported,
    PromptFileTaken,
    SessionEvent,
    Skipped,
    TurnFailed,
    TurnRecorded,
    UserSaid,
)

DATA = Path(__file__).parents[2] / "data" / "codex"
T = TypeVar("T")


def events_of(name: str) -> list[SessionEvent]:
    found: list[SessionEvent] = []
    for line in (DATA / f"{name}.jsonl").read_bytes().splitlines():
        events = parse(line)
        assert not isinstance(events, Skipped), line
        found += events
    return found


def of(kind: type[T], events: list[SessionEvent]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


def line(kind: str, **payload: Any) -> bytes:
    return json.dumps(
        {"timestamp": "2026-11-23T12:00:00.000Z", "ordinal": 7, "type": kind, "payload": payload}
    ).encode()


def test_tokens_are_those_of_the_last_reply_with_its_answer() -> None:
    meter = Meter()
    for event in events_of("patch_and_command"):
        meter.feed(event)
    assert meter.tokens == 32_123
    assert (meter.api_calls, meter.tool_calls, meter.turns) == (3, 2, 1)
    assert (meter.totals.input, meter.totals.cache_read, meter.totals.output) == (
        3_009,
        81_000,
        360,
    )
    assert meter.model == "lab"
    assert meter.skipped == 0


def test_a_compaction_forgets_the_reading_until_the_next_reply() -> None:
    meter, seen = Meter(), []
    for event in events_of("compaction"):
        meter.feed(event)
        if isinstance(event, Compacted):
            seen.append(meter.tokens)
    assert seen == [None]
    assert meter.compactions == 1
    assert meter.tokens == 61_123


def test_the_session_its_window_and_its_mode_are_named() -> None:
    named = of(Identified, events_of("patch_and_command"))
    assert [each.session_id for each in named if each.session_id] == [
        "01a20868-5d41-7af2-a946-2ac14cd17dd8"
    ]
    assert [each.window for each in named if each.window] == [95_000]
    assert [each.permission_mode for each in named if each.permission_mode] == ["acceptEdits"]
    assert {each.cwd for each in named if each.cwd} == {"/home/pilot/work"}


def test_facts_are_the_prompt_the_files_and_the_last_words() -> None:
    collector = Collector()
    for event in events_of("patch_and_command"):
        collector.feed(event)
    facts = collector.facts()
    assert facts.goal == "Do the work."
    assert facts.files_modified == ("/home/pilot/work/notes.md",)
    assert facts.recent_activity == ("Edit notes.md", "Bash cat notes.md; false")
    assert facts.last_reply == "All done."


def test_the_plan_is_the_todo_list() -> None:
    steps = [{"step": "Export", "status": "completed"}, {"step": "Test", "status": "pending"}]
    given = json.dumps({"explanation": "Why", "plan": steps})
    call = {"type": "function_call", "name": "update_plan", "call_id": "c1"}
    events = parse(line("response_item", **call, arguments=given))
    assert not isinstance(events, Skipped)
    collector = Collector()
    for event in events:
        collector.feed(event)
    todos = [(todo.content, todo.status) for todo in collector.facts().todos]
    assert todos == [("Export", "completed"), ("Test", "pending")]
    assert parse(line("response_item", **call, arguments="{")) == Skipped("not-a-record")
    assert parse(line("response_item", **call, arguments="[1]")) == ()


def test_turns_begin_and_end() -> None:
    turns = of(TurnRecorded, events_of("patch_and_command"))
    assert [each.working for each in turns] == [True, False]


def test_an_interrupt_is_one_and_its_notice_is_no_prompt() -> None:
    events = events_of("interrupted")
    assert len(of(Interrupted, events)) == 1
    assert [each.text for each in of(UserSaid, events)] == ["Do the work."]


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [("server_error", None, "high demand"), ("rate_limit", 429, "429 Too Many Requests")],
)
def test_a_turn_that_the_api_broke(name: str, status: int | None, words: str) -> None:
    (failed,) = of(TurnFailed, events_of(name))
    assert failed.error.status == status
    assert words in failed.error.error


def test_an_exhausted_usage_limit_counts_as_a_rate_limit() -> None:
    error = {"message": "You have used it up.", "codex_error_info": "usage_limit_exceeded"}
    events = parse(line("event_msg", type="task_complete", error=error))
    assert not isinstance(events, Skipped)
    (failed,) = of(TurnFailed, list(events))
    assert failed.error.status == 429


def test_a_hooks_text_and_a_kept_turn_are_seen_to_arrive() -> None:
    kinds = {"content_item_kinds": ["hooks.additional_context"]}
    content = [{"type": "input_text", "text": "PLEASE WRITE"}]
    told = line(
        "response_item",
        type="message",
        role="developer",
        content=content,
        internal_chat_message_metadata_passthrough=kinds,
    )
    item = {"type": "HookPrompt", "fragments": [{"text": "GO ON"}]}
    kept = line("event_msg", type="item_completed", item=item)
    assert parse(told) == (ContextInjected("PostToolUse", "PLEASE WRITE"),)
    assert parse(kept) == (ContextInjected("Stop", "GO ON"),)


def test_a_first_prompt_that_the_model_opened_is_its_text() -> None:
    path = "/state/prompts/api-1/prompt-0123456789abcdef.md"
    item = {
        "type": "CommandExecution",
        "id": "c1",
        "command": ["/bin/bash", "-lc", f"cat '{path}'"],
        "status": "completed",
        "aggregated_output": "Build it.\n",
        "exit_code": 0,
    }
    events = parse(line("event_msg", type="item_completed", item=item))
    assert not isinstance(events, Skipped)
    assert of(PromptFileTaken, list(events)) == [PromptFileTaken(path, "Build it.\n")]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b'{"timestamp":"x","type":"event_msg","payl', "torn"),
        (b"hello", "not-json"),
        (b"[1, 2]", "not-a-record"),
        (b'{"type":"event_msg","payload":3}', "not-a-record"),
        (line("token_usage_record", usage=3), "not-a-record"),
        (line("token_usage_record"), "not-a-record"),
        (line("event_msg", type="item_completed", item=None), "not-a-record"),
    ],
)
def test_what_is_no_record_is_skipped(bad: bytes, reason: str) -> None:
    assert parse(bad) == Skipped(reason)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [{"input_tokens": -5}, {"input": 150_000}])
def test_a_reply_without_its_input_makes_the_context_unknown(given: dict[str, int]) -> None:
    usage = {"output_tokens": 200, "cached_input_tokens": "9", **given}
    parsed = parse(line("token_usage_record", response_id="r", usage=usage))
    assert parsed == Skipped("not-a-record", reading=True)


def test_wild_numbers_are_no_tokens() -> None:
    usage = {"input_tokens": 0, "output_tokens": True, "cached_input_tokens": "9"}
    events = parse(line("token_usage_record", response_id="r", usage=usage))
    assert not isinstance(events, Skipped)
    meter = Meter()
    for event in events:
        meter.feed(event)
    assert meter.tokens is None


def test_the_accounts_usage_limits_are_read() -> None:
    primary = {"used_percent": 62.5, "window_minutes": 300, "resets_at": 1_795_792_392}
    secondary = {"used_percent": 131.0, "window_minutes": 10_080, "resets_at": 1_795_875_192}
    limits = {"limit_id": "codex", "limit_name": None, "primary": primary, "secondary": secondary}
    five = RateLimit("five_hour", 0.625, 1_795_792_392.0)
    seven = RateLimit("seven_day", 1.0, 1_795_875_192.0)
    told = parse(line("event_msg", type="token_count", info=None, rate_limits=limits))
    assert told == (LimitsReported((five, seven)),)


@pytest.mark.parametrize(
    ("limit", "read"),
    [
        ({"used_percent": 5, "window_minutes": 60}, RateLimit("1h", 0.05, None)),
        ({"used_percent": 0.0, "window_minutes": None}, RateLimit("primary", 0.0, None)),
        ({"used_percent": 10, "resets_at": "soon"}, RateLimit("primary", 0.1, None)),
    ],
)
def test_an_incomplete_usage_limit_is_read_as_far_as_it_is_known(
    limit: object, read: RateLimit
) -> None:
    given = {"primary": limit, "secondary": None}
    told = parse(line("event_msg", type="token_count", rate_limits=given))
    assert told == (LimitsReported((read,)),)


@pytest.mark.parametrize(
    "limits",
    [
        None,
        [],
        {"primary": None},
        *({"primary": {"used_percent": n}} for n in (None, True, -1, "5")),
    ],
)
def test_without_a_known_share_there_is_no_usage_limit(limits: object) -> None:
    assert parse(line("event_msg", type="token_count", rate_limits=limits)) == ()

"""Text of another program can always be encoded, whatever its JSON names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.adapters.agents.claude.record import parse as claude
from cockpit.adapters.agents.claude.skim import FactsParser
from cockpit.adapters.agents.claude.totals import TotalsParser
from cockpit.adapters.agents.codex.record import parse as codex
from cockpit.adapters.agents.copilot.record import parse as copilot
from cockpit.adapters.agents.gemini.record import parse as gemini
from cockpit.adapters.agents.opencode.record import parse as opencode
from cockpit.core.collect import Collector
from cockpit.core.foreign_json import loads
from cockpit.core.hook_events import decision
from cockpit.core.own_record import parse as own
from cockpit.core.session import SessionEvent, Skipped

HALF = "\ud800"
TEXT = st.text(st.sampled_from(["a", '"', "\\", "\ud83d", "\ude80", "\udfff", "u", "d", "8", "\0"]))
VALUES = st.recursive(
    TEXT | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
)


def _whole(text: str) -> str:
    """The text, with U+FFFD for each half of a pair; JSON has no other way to name a whole one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from _texts(pair)
    elif isinstance(value, list | tuple):
        for held in value:
            yield from _texts(held)


@given(VALUES, st.booleans())
def test_every_text_can_be_encoded(value: Any, as_bytes: bool) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        read = loads(text.encode("utf-8", "surrogatepass") if as_bytes else text)
        for part in _texts(read):
            part.encode()


@given(TEXT)
def test_only_halves_are_replaced(text: str) -> None:
    assert len(loads(json.dumps(text))) == len(json.loads(json.dumps(text)))
    assert loads(json.dumps(text)) == "".join(
        "\ufffd" if 0xD800 <= ord(one) < 0xE000 else one for one in json.loads(json.dumps(text))
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb'"\ud83d\ude80"', "🚀"),
        (rb'"\uD83D\uDE80"', "🚀"),
        (rb'"\ud83d"', "\ufffd"),
        (rb'"\ude80\ud83d"', "\ufffd\ufffd"),
        (rb'"\ud83d\ud83d\ude80"', "\ufffd🚀"),
        (rb'"\\ud83d"', r"\ud83d"),
        (rb'"\\\ud83d"', "\\\ufffd"),
        (b"[NaN, Infinity, -Infinity]", [None, None, None]),
        (b'"\xed\xa0\x80"', "\ufffd"),
        ("\ufeff1".encode(), 1),
        ('"日本 🚀"'.encode(), "日本 🚀"),
    ],
)
def test_what_a_program_writes(written: bytes, read: object) -> None:
    assert loads(written) == read


@pytest.mark.parametrize("written", [b"\xff", '"\ud800"'.encode("utf-16", "surrogatepass"), b"{"])
def test_what_is_not_json_is_refused(written: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        loads(written)


def _claude(tool: dict[str, Any]) -> dict[str, Any]:
    return {
        "parentUuid": None, "isSidechain": False,
        "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "claude-x",
            "content": [{"type": "text", "text": HALF}, {"type": "tool_use", "id": "t", **tool}],
            "stop_reason": None, "stop_sequence": None,
            "usage": {
                "input_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                "output_tokens": 1,
            },
        },
        "type": "assistant", "cwd": f"/w/{HALF}",
    }  # fmt: skip


EDIT: dict[str, Any] = {"name": "Edit", "input": {"file_path": f"/w/{HALF}", HALF: HALF}}
CLAUDE_LINES: list[dict[str, Any]] = [
    _claude(EDIT),
    {"type": "user", "cwd": f"/{HALF}", "message": {"role": "user", "content": HALF}},
]
CODEX_ITEMS: list[dict[str, Any]] = [
    {"type": "AgentMessage", "id": HALF, "content": HALF},
    {"type": "UserMessage", "content": HALF},
    {"type": "FileChange", "id": "f", "changes": {f"/w/{HALF}": {}}},
    {"type": "CommandExecution", "id": "c", "command": HALF, "aggregated_output": HALF},
]
GEMINI_CALL = {"id": HALF, "name": "write_file", "args": {"file_path": HALF}, "result": []}


def _own(line: bytes) -> Sequence[SessionEvent] | Skipped:
    return own(line, "1")


RECORDS: list[tuple[Any, list[dict[str, Any]]]] = [
    (claude, CLAUDE_LINES),
    (FactsParser(), CLAUDE_LINES),
    (TotalsParser(), CLAUDE_LINES),
    (
        codex,
        [
            {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}
            for item in CODEX_ITEMS
        ]
        + [{"type": "session_meta", "payload": {"id": HALF, "cwd": HALF}}],
    ),
    (
        gemini,
        [
            {"type": "user", "content": [{"text": HALF}]},
            {"type": "gemini", "id": HALF, "content": HALF, "toolCalls": [GEMINI_CALL]},
            {"type": "error", "content": '[API Error: {"error": {"message": "\\ud800"}}]'},
        ],
    ),
    (
        opencode,
        [
            {"type": "said", "id": "1", "text": HALF},
            {"type": "tool", "id": "1", "name": "Edit", "input": EDIT["input"], "output": HALF},
            {"type": "prompt", "text": HALF},
            {"record": "cockpit/opencode", "session": "s", "directory": HALF},
        ],
    ),
    (
        copilot,
        [
            {
                "type": "assistant.message",
                "data": {
                    "messageId": "m",
                    "content": HALF,
                    "toolRequests": [
                        {"toolCallId": "t", "name": "edit", "arguments": {"path": HALF}}
                    ],
                },
            },
            {"type": "user.message", "data": {"content": HALF}},
            {"type": "session.start", "data": {"sessionId": HALF, "context": {"cwd": HALF}}},
        ],
    ),
    (
        _own,
        [
            {"said": HALF, "prompt": HALF, "directory": f"/tmp/{HALF}"},
            {"tool": {"id": "a", "name": "Edit", "input": {"file_path": f"/x{HALF}"}}},
            {"result": {"id": "a", "text": HALF}},
            {"fault": HALF},
        ],
    ),
]


@pytest.mark.parametrize(
    ("parse", "record"), [(parse, record) for parse, records in RECORDS for record in records]
)
def test_events_of_a_record_can_be_encoded(
    parse: Callable[[bytes], Sequence[SessionEvent] | Skipped], record: dict[str, Any]
) -> None:
    events = parse(json.dumps(record, separators=(",", ":")).encode())
    assert events
    repr(events).encode()
    assert "\\ud800" not in repr(events)
    assert (
        isinstance(events, Skipped) or isinstance(parse, TotalsParser) or "\ufffd" in repr(events)
    )


def test_facts_of_a_path_with_half_a_pair_can_be_sent() -> None:
    collector = Collector()
    for record in RECORDS[-1][1]:
        found = _own(json.dumps(record).encode())
        for event in () if isinstance(found, Skipped) else found:
            collector.feed(event)
    repr(collector.facts()).encode()
    assert "\\ud800" not in repr(collector.facts())


def test_a_decision_of_a_hook_can_be_encoded() -> None:
    found = decision('{"decision": "handoff", "document": "/w/\\ud800.md"}')
    assert found
    assert found.document == "/w/\ufffd.md"

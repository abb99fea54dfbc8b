from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.adapters.agents.claude.record import parse
from cockpit.adapters.agents.claude.skim import FactsParser
from cockpit.adapters.agents.claude.totals import TotalsParser
from cockpit.adapters.transcripts.lines import KeepsRest, Parse
from cockpit.core.collect import Collector
from cockpit.core.meter import Meter
from cockpit.core.session import AssistantReplied, Skipped

RECORDED = sorted((Path(__file__).parents[2] / "data" / "transcripts").glob("*.jsonl"))
USAGE = {
    "input_tokens": 1,
    "cache_creation_input_tokens": 2,
    "cache_read_input_tokens": 3,
    "output_tokens": 4,
}


def counted(lines: list[bytes], with_parse: Parse) -> tuple[Any, ...]:
    meter = Meter()
    for line in lines:
        found = with_parse(line)
        for event in [found] if isinstance(found, Skipped) else found:
            meter.feed(event)
    for event in with_parse.rest() if isinstance(with_parse, KeepsRest) else ():
        meter.feed(event)
    return (
        meter.tokens, meter.totals, meter.api_calls, meter.model, meter.compactions,
        meter.skipped, meter.peak, meter.tokens_per_turn, meter.cost_usd,
    )  # fmt: skip


def gathered(lines: list[bytes], with_parse: Parse) -> object:
    collector = Collector()
    for line in lines:
        found = with_parse(line)
        for event in [found] if isinstance(found, Skipped) else found:
            collector.feed(event)
    for event in with_parse.rest() if isinstance(with_parse, KeepsRest) else ():
        collector.feed(event)
    return collector.facts()


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_skimming_a_real_transcript_finds_what_reading_finds(path: Path) -> None:
    lines = path.read_bytes().split(b"\n")
    assert counted(lines, TotalsParser()) == counted(lines, parse)
    assert counted(lines, FactsParser())[:-2] == counted(lines, parse)[:-2]
    assert gathered(lines, FactsParser()) == gathered(lines, parse)


def test_the_fast_way_is_really_taken() -> None:
    """A reply whose content is broken JSON still counts, because nobody looks at it."""
    line = real_reply().replace(b'"text":"', b'"text":broken"', 1)
    assert isinstance(parse(line), Skipped)
    assert counted([line], TotalsParser())[2] == 1


def reply(*blocks: Any, **more: Any) -> bytes:
    message = {
        "id": "msg_1", "role": "assistant", "model": "claude-opus-5", "content": blocks,
        "usage": USAGE,
    }  # fmt: skip
    return json.dumps({"type": "assistant", "message": message} | more).encode()


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": name, "input": arguments}


def test_the_text_of_an_edit_is_left_out() -> None:
    line = reply(call("Edit", file_path="/w/a.py", old_string="a", new_string="b" * 9_000))
    events = FactsParser()(b'{"parentUuid":null,' + line[1:])
    assert not isinstance(events, Skipped)
    (event,) = events
    assert isinstance(event, AssistantReplied)
    assert event.tools[0].input == {"file_path": "/w/a.py"}


@pytest.mark.parametrize(
    "line",
    [
        reply(call("Bash", command=["ls"])),
        reply(call("Bash", command="ls", description=7)),
        reply(call("Edit", file_path=" ", path="/w/b.py")),
        reply(call("Edit", file_path="/w/a.py", command="x")),
        reply(call("Edit", file_path=None)),
        reply(call("Grep", pattern="x", path=7)),
        reply({"type": "tool_use", "id": 7, "name": "Bash", "input": {"command": "pytest"}}),
        reply({"type": "tool_use", "id": "t", "name": "Bash", "input": "pytest"}),
        reply({"type": "tool_use", "id": "t", "name": "Bash"}),
        reply({"type": "text", "text": 7}, "x"),
        reply({"type": "text", "text": ""}, {"type": "text", "text": "Done."}),
        reply({"type": "text", "text": "\ud800"}),
        reply({"type": "text", "text": "Done."}, isSidechain="yes"),
        reply({"type": "text", "text": "Done."}, isSidechain=True),
        reply({"type": "text", "text": "Done."}, isApiErrorMessage=True),
        reply({"type": "text", "text": "Done."}, toolUseResult=7),
        reply({"type": "text", "text": "Done."}) + b"x",
        reply({"type": "text", "text": "Done."}, x=float("nan")),
        reply({"type": "text", "text": "Done."}, x=10**400),
        b"\xef\xbb\xbf" + reply({"type": "text", "text": "Done."}),
        b" " + reply(*[{"type": "text", "text": "Done."}] * 1_001),
    ],
)  # fmt: skip
def test_fields_of_an_unexpected_type_are_read_as_by_a_parse(line: bytes) -> None:
    line = line.replace(b"{", b'{"parentUuid": null, ', 1)
    assert gathered([line], FactsParser()) == gathered([line], parse)
    assert counted([line], FactsParser()) == counted([line], parse)


def test_a_reply_without_calls_counts_before_the_line_that_follows() -> None:
    """Its event is held back until the next line, which can be one that hides a reply."""
    said = reply({"type": "text", "text": "Done."}).replace(b"{", b'{"parentUuid": null, ', 1)
    torn = b'{"parentUuid": null, "type": "assistant", "message": {'
    for lines in ([said, torn], [said, b""], [said, said], [said, torn, said]):
        assert counted(lines, FactsParser()) == counted(lines, parse)


def real_reply() -> bytes:
    lines = next(p for p in RECORDED if p.stem == "tui_interrupt").read_bytes().split(b"\n")
    return next(line for line in lines if b'"text":"Looking."' in line)


@pytest.mark.parametrize(
    ("found", "put"),
    [
        (b'"iterations":[]', b'"iterations":[{"type":"message","input_tokens":5}]'),
        (b',"type":"assistant"', b',"isApiErrorMessage":true,"type":"assistant"'),
        (b'"isSidechain":false', b'"isSidechain":true'),
        (b'"stop_reason":"tool_use"', b'"stop_reason":null'),
        (b'"model":"claude-opus-5-5"', b'"model":"<synthetic>"'),
        (b'"stop_sequence":null,"usage"', b'"stop_sequence":"],","usage"'),
        (b',"type":"assistant"', b',"later":{"usage":{"input_tokens":1}},"type":"assistant"'),
    ],
)
def test_what_is_unusual_about_a_real_reply_is_seen(found: bytes, put: bytes) -> None:
    line = real_reply()
    assert found in line
    line = line.replace(found, put, 1)
    assert counted([line], TotalsParser()) == counted([line], parse)
    assert counted([line], FactsParser()) == counted([line], parse)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_every_result_of_a_subagent_is_read(path: Path) -> None:
    for line in path.read_bytes().split(b"\n"):
        if b'"agentId"' in line or b'is_error":true' in line:
            assert FactsParser()(line) == parse(line)


INPUTS = [
    {"usage": USAGE},
    {"text": json.dumps({"usage": USAGE, "isApiErrorMessage": True})},
    {"text": '"usage":{"input_tokens":'},
    {"iterations": [{}]},
    {},
]


@given(
    told=st.sampled_from(INPUTS),
    usage=st.fixed_dictionaries(
        {"input_tokens": st.sampled_from([0, 5, -1, None, 10**15, 1.5])},
        optional={
            "cache_creation_input_tokens": st.just(7),
            "cache_read_input_tokens": st.just(9_000),
            "output_tokens": st.just(11),
            "iterations": st.sampled_from(
                [[], None, [{"type": "message", "input_tokens": 3}], [{"type": "compaction"}]]
            ),
            "server_tool_use": st.just({"web_search_requests": 0}),
        },
    ),
    model=st.sampled_from(["claude-opus-5", "<synthetic>", None, "m\u00e9\\u0022"]),
    failed=st.booleans(),
    sidechain=st.booleans(),
    compact=st.booleans(),
)
def test_skimming_any_reply_counts_what_reading_counts(
    told: object, usage: object, model: object, failed: bool, sidechain: bool, compact: bool
) -> None:
    record: dict[str, Any] = {
        "parentUuid": None,
        "isSidechain": sidechain,
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [{"type": "tool_use", "id": "t", "name": "X", "input": told}],
            "stop_reason": None,
            "usage": usage,
        },
        "type": "assistant",
    }
    if failed:
        record["isApiErrorMessage"] = True
    separators = (",", ":") if compact else None
    line = json.dumps(record, separators=separators, ensure_ascii=False).encode()
    assert counted([line], TotalsParser()) == counted([line], parse)
    assert gathered([line], FactsParser()) == gathered([line], parse)


@given(st.binary(max_size=200))
def test_any_bytes_are_survived(data: bytes) -> None:
    assert isinstance(TotalsParser()(data), Skipped) == isinstance(parse(data), Skipped)
    assert isinstance(FactsParser()(data), Skipped) == isinstance(parse(data), Skipped)

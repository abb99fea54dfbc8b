from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.adapters.agents.claude_record import READING_NEEDLES, parse
from cockpit.adapters.transcript_scan import Latest, last_reading, read_all
from cockpit.core.meter import Meter
from cockpit.core.session import SessionEvent, Skipped

RECORDED = sorted((Path(__file__).parents[1] / "data" / "transcripts").glob("*.jsonl"))


def line(**record: Any) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def reply(tokens: int, id_: str = "m", sidechain: bool = False, text: str = "") -> bytes:
    usage = {"input_tokens": tokens, "output_tokens": 1}
    message = {"id": id_, "model": "claude-opus-5", "usage": usage, "content": text}
    return line(type="assistant", isSidechain=sidechain, message=message)


COMPACTION = line(type="system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
IDENTITY = line(
    type="attachment", attachment={"type": "model", "identity": {"modelId": "claude-opus-5[1m]"}}
)
RESULT = line(type="user", message={"role": "user", "content": "x"}, toolUseResult={"a": 1})


def latest(path: Path) -> Latest:
    return last_reading(path, parse, READING_NEEDLES)


def tokens(path: Path) -> int | None:
    found = latest(path).reply
    return found.context.context if found else None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.stem)
def test_the_end_of_a_real_transcript_is_what_reading_it_all_gives(recorded: Path) -> None:
    meter = Meter()
    read_all(recorded, parse, meter.feed)
    assert tokens(recorded) == meter.tokens
    if meter.tokens is not None:
        assert latest(recorded).model == meter.model


def test_an_empty_file_says_nothing(path: Path) -> None:
    path.touch()
    assert latest(path) == Latest()


def test_a_missing_file_is_the_callers_to_explain(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        latest(path)
    with pytest.raises(FileNotFoundError):
        read_all(path, parse, lambda event: None)


def test_the_last_reply_of_the_main_chain(path: Path) -> None:
    path.write_bytes(
        IDENTITY + reply(10) + reply(20) + RESULT + reply(99, sidechain=True) + reply(0) + RESULT
    )
    found = latest(path)
    assert found.reply is not None
    assert found.reply.context.context == 20
    assert (found.model, found.compacted, found.end) == (
        "claude-opus-5[1m]", False, path.stat().st_size,
    )  # fmt: skip


def test_a_compaction_after_the_last_reply_makes_it_unknown(path: Path) -> None:
    path.write_bytes(reply(10) + COMPACTION + RESULT)
    assert latest(path) == Latest(compacted=True, end=path.stat().st_size)
    path.write_bytes(reply(10) + COMPACTION + reply(5) + RESULT)
    assert tokens(path) == 5


def test_a_torn_last_line_is_not_looked_at(path: Path) -> None:
    path.write_bytes(reply(10) + reply(20)[:-1])
    assert tokens(path) == 10
    path.write_bytes(reply(20)[:-1])
    assert tokens(path) is None


def test_megabytes_of_results_after_the_last_reply(path: Path) -> None:
    huge = line(type="user", message={"content": "y" * 12_000_000}, toolUseResult={})
    middling = line(type="user", message={"content": "z" * 60_000}, toolUseResult={})
    path.write_bytes(reply(10) + huge + middling * 40 + huge)
    assert tokens(path) == 10


def test_a_reply_of_many_megabytes(path: Path) -> None:
    path.write_bytes(reply(10) + reply(20, text="w" * 3_000_000) + RESULT)
    assert tokens(path) == 20


def test_a_quoted_reply_is_not_a_reply(path: Path) -> None:
    quoted = line(type="user", message={"content": reply(99).decode()}, toolUseResult={})
    path.write_bytes(reply(10) + quoted)
    assert tokens(path) == 10


def test_no_line_that_is_too_long_is_held(path: Path) -> None:
    path.write_bytes(reply(10) + reply(30, text="x" * 5_000) + reply(20, "n") + b"y" * 3_000)
    meter = Meter()
    read_all(path, parse, meter.feed, block=64, longest_line=1_000)
    assert (meter.tokens, meter.skipped, meter.api_calls) == (20, 2, 2)
    path.write_bytes(reply(10) + reply(30, text="x" * 5_000))
    found = last_reading(path, parse, READING_NEEDLES, longest_line=1_000)
    assert found.reply is not None
    assert found.reply.context.context == 10


LINES = st.lists(
    st.sampled_from(
        [
            reply(10), reply(20, "n"), reply(0, "z"), reply(70, "s", True), COMPACTION, RESULT,
            b"\n", b"\0\0\n", b'{"type":"assistant"\n', b"\xff\xfe\n",
            line(type="user", message={"content": "y" * 300}, toolUseResult={}),
        ]
    ),
    max_size=30,
)  # fmt: skip


@given(LINES, st.integers(40, 400), st.booleans())
def test_backwards_finds_what_forwards_finds(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], block: int, torn: bool
) -> None:
    path = tmp_path_factory.mktemp("scan") / "session.jsonl"
    numbered = [one.replace(b'"id":"', b'"id":"%d' % number) for number, one in enumerate(lines)]
    path.write_bytes(b"".join(numbered) + (b'{"type":"assis' if torn else b""))
    meter = Meter()
    whole: list[SessionEvent | Skipped] = []
    read_all(path, parse, whole.append, block=block)
    found = last_reading(path, parse, READING_NEEDLES, first_block=block)
    for event in whole:
        meter.feed(event)
    assert (found.reply.context.context if found.reply else None) == meter.tokens
    bad = sum(parse(one.rstrip(b"\n")) == Skipped("torn") for one in lines) + torn
    assert sum(event == Skipped("torn") for event in whole) == bad


@given(st.binary(max_size=2_000))
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("scan") / "session.jsonl"
    path.write_bytes(data)
    assert latest(path).reply is None
    read_all(path, parse, lambda event: None)

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.adapters.agents.claude.record import parse
from cockpit.adapters.transcripts.scan import read_all
from cockpit.core.meter import Meter
from cockpit.core.session import SessionEvent, Skipped


def line(**record: Any) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def reply(tokens: int, id_: str = "m", sidechain: bool = False, text: str = "") -> bytes:
    usage = {"input_tokens": tokens, "output_tokens": 1}
    message = {"id": id_, "model": "claude-opus-5", "usage": usage, "content": text}
    return line(type="assistant", isSidechain=sidechain, message=message)


COMPACTION = line(type="system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
RESULT = line(type="user", message={"role": "user", "content": "x"}, toolUseResult={"a": 1})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_a_missing_file_is_the_callers_to_explain(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_all(path, parse, lambda event: None)


def test_an_empty_file_says_nothing(path: Path) -> None:
    path.touch()
    read: list[SessionEvent | Skipped] = []
    read_all(path, parse, read.append)
    assert read == []


def test_no_line_that_is_too_long_is_held(path: Path) -> None:
    path.write_bytes(reply(10) + reply(30, text="x" * 5_000) + reply(20, "n") + b"y" * 3_000)
    meter = Meter()
    read_all(path, parse, meter.feed, block=64, longest_line=1_000)
    assert (meter.tokens, meter.skipped, meter.api_calls) == (20, 2, 2)


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
def test_blocks_of_any_size_give_every_line_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], block: int, torn: bool
) -> None:
    path = tmp_path_factory.mktemp("scan") / "session.jsonl"
    numbered = [one.replace(b'"id":"', b'"id":"%d' % number) for number, one in enumerate(lines)]
    numbered += [b'{"type":"assis'] if torn else []
    path.write_bytes(b"".join(numbered))
    expected: list[SessionEvent | Skipped] = []
    for each in numbered:
        parsed = parse(each.removesuffix(b"\n"))
        expected.extend([parsed] if isinstance(parsed, Skipped) else parsed)
    read: list[SessionEvent | Skipped] = []
    read_all(path, parse, read.append, block=block)
    assert read == expected


@given(st.binary(max_size=2_000))
def test_any_bytes_are_survived(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("scan") / "session.jsonl"
    path.write_bytes(data)
    read_all(path, parse, lambda event: None)

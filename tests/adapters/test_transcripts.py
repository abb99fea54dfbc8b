from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.adapters.transcripts.lines import LONGEST_LINE, MOST_VALUES
from cockpit.adapters.transcripts.scan import read_all
from cockpit.adapters.transcripts.tail import POLL_BYTES, Tail
from cockpit.core.session import SessionEvent, Skipped, UserSaid


def parse(line: bytes) -> Sequence[SessionEvent] | Skipped:
    """A stand-in for a runtime's parser: a line is a prompt, one that begins with ! is bad."""
    if line.startswith(b"!"):
        return Skipped("not-json")
    return (UserSaid(line.decode("latin-1")),) if line else ()


def texts(events: list[SessionEvent | Skipped]) -> list[str]:
    return [event.text if isinstance(event, UserSaid) else "!" for event in events]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_file_that_is_not_there_yet_gives_nothing(path: Path) -> None:
    tail = Tail(path, parse)
    assert tail.poll() == []
    path.write_bytes(b"one\n")
    assert texts(tail.poll()) == ["one"]


def test_only_what_was_added(path: Path) -> None:
    tail = Tail(path, parse)
    path.write_bytes(b"one\ntwo\n")
    assert texts(tail.poll()) == ["one", "two"]
    assert tail.poll() == []
    append(path, b"three\n")
    assert texts(tail.poll()) == ["three"]
    assert (tail.offset, tail.restarts) == (14, 0)


def test_a_line_without_its_end_is_held_back(path: Path) -> None:
    tail = Tail(path, parse)
    path.write_bytes(b"one\ntw")
    assert texts(tail.poll()) == ["one"]
    assert tail.offset == 4
    append(path, b"o")
    assert tail.poll() == []
    append(path, b"\nthr")
    assert texts(tail.poll()) == ["two"]


def test_only_a_line_feed_ends_a_line(path: Path) -> None:
    path.write_bytes("a\u2028b\u0085c\rd\x0ce\n".encode("latin-1", "ignore") + b"f\n")
    assert len(Tail(path, parse).poll()) == 2


def test_a_bad_line_is_counted_and_the_next_one_read(path: Path) -> None:
    path.write_bytes(b"one\n!bad\ntwo\n")
    assert texts(Tail(path, parse).poll()) == ["one", "!", "two"]


def test_no_more_than_asked_for_at_a_time(path: Path) -> None:
    path.write_bytes(b"12345\n" * 100)
    tail = Tail(path, parse)
    assert len(tail.poll(limit_bytes=60)) == 10
    assert tail.behind == 540
    seen = 10
    while tail.behind:
        seen += len(tail.poll(limit_bytes=7))
    assert seen == 100


def test_a_line_longer_than_the_limit_arrives_in_the_end(path: Path) -> None:
    path.write_bytes(b"x" * 1_000 + b"\n")
    tail = Tail(path, parse)
    found: list[SessionEvent | Skipped] = []
    for _ in range(200):
        found += tail.poll(limit_bytes=10)
    assert texts(found) == ["x" * 1_000]


def test_a_file_cut_short_is_read_again_from_its_start(path: Path) -> None:
    tail = Tail(path, parse)
    path.write_bytes(b"one\ntwo\nthr")
    tail.poll()
    path.write_bytes(b"new\n")
    assert texts(tail.poll()) == ["new"]
    assert tail.restarts == 1


def test_a_long_file_cut_short_is_noticed_by_its_length(path: Path) -> None:
    tail = Tail(path, parse)
    path.write_bytes(b"x" * 200 + b"\ntwo\n")
    tail.poll()
    with path.open("r+b") as file:
        file.truncate(201)
    assert texts(tail.poll()) == ["x" * 200]
    assert tail.restarts == 1


def test_another_file_in_its_place_is_noticed(path: Path) -> None:
    tail = Tail(path, parse)
    path.write_bytes(b"one\n")
    tail.poll()
    other = path.with_name("other")
    other.write_bytes(b"two\nthree\nfour\n")
    other.replace(path)
    assert texts(tail.poll()) == ["two", "three", "four"]
    assert tail.restarts == 1


def test_a_file_rewritten_in_place_and_longer_is_noticed(path: Path) -> None:
    tail = Tail(path, parse)
    path.write_bytes(b"one\n")
    tail.poll()
    with path.open("r+b") as file:
        file.write(b"TWO\nthree\n")
    assert texts(tail.poll()) == ["TWO", "three"]
    assert tail.restarts == 1


def test_a_file_that_went_away_ends_nothing(path: Path) -> None:
    tail = Tail(path, parse)
    path.write_bytes(b"one\n")
    tail.poll()
    away = path.with_name("away")
    path.rename(away)
    assert tail.poll() == []
    append(away, b"two\n")
    away.rename(path)
    assert texts(tail.poll()) == ["two"]
    assert tail.restarts == 0


def test_what_is_no_file_gives_nothing(tmp_path: Path) -> None:
    assert Tail(tmp_path, parse).poll() == []
    assert Tail(tmp_path / "file" / "below", parse).poll() == []


def test_it_can_go_on_where_another_ended(path: Path) -> None:
    path.write_bytes(b"one\ntwo\nthr")
    first = Tail(path, parse)
    first.poll()
    append(path, b"ee\n")
    assert texts(Tail(path, parse, offset=first.offset).poll()) == ["three"]


def test_a_line_that_never_ends_is_let_go_and_counted(path: Path) -> None:
    tail = Tail(path, parse, longest_line=100)
    path.write_bytes(b"one\n" + b"x" * 99)
    assert texts(tail.poll()) == ["one"]
    append(path, b"yy")
    assert tail.poll() == [Skipped("too-long")]
    append(path, b"z" * 500)
    assert tail.poll() == []
    append(path, b"z\ntwo\n")
    assert texts(tail.poll()) == ["two"]


@pytest.mark.parametrize("after", [b'"assistant"', b"x" * 500 + b'"assistant"', b'"assis'])
def test_a_line_that_is_let_go_tells_whether_it_may_have_held_a_reading(
    path: Path, after: bytes
) -> None:
    tail = Tail(path, parse, longest_line=100)
    path.write_bytes(b'{"' + b"x" * 100 + after)
    found: list[SessionEvent | Skipped] = []
    for rest in (b"", b'tant"', b"x" * 200, b"\ntwo\n"):
        append(path, rest)
        found += tail.poll(limit_bytes=40)
        while tail.behind:
            found += tail.poll(limit_bytes=40)
    skipped = [event for event in found if isinstance(event, Skipped)]
    assert [event.reading for event in skipped][-1] is True
    assert len(skipped) <= 2
    assert texts(found[-1:]) == ["two"]
    read: list[SessionEvent | Skipped] = []
    read_all(path, parse, read.append, block=40, longest_line=100)
    assert texts(read[-1:]) == ["two"]
    assert [event.reading for event in read if isinstance(event, Skipped)][-1] is True


def test_what_is_let_go_is_not_held(path: Path) -> None:
    path.write_bytes(b"x" * (LONGEST_LINE + POLL_BYTES + 1))
    tail = Tail(path, parse)
    tail.poll()
    while tail.behind:
        tail.poll()
    assert sum(map(len, tail._place.partial)) < 100
    assert tail.offset == 0


def test_a_line_of_too_many_values_is_never_parsed(path: Path) -> None:
    line = b'{"type":"assistant","message":{"content":[' + b"{}," * MOST_VALUES + b"{}]}}"
    path.write_bytes(line + b"\n" + line.replace(b"assistant", b"user") + b"\n")
    tail = Tail(path, parse)
    found = tail.poll()
    while tail.behind:
        found += tail.poll()
    reason: Literal["too-many-values"] = "too-many-values"
    assert found == [Skipped(reason, reading=True), Skipped(reason)]


@pytest.mark.parametrize(
    "text", ["[{,}] " * 20_000, '\\"\\\\,{[' * 60_000, "\\" * 300_001 + ",[" * 60_000]
)
def test_what_stands_inside_a_string_is_no_value(path: Path, text: str) -> None:
    path.write_bytes(json.dumps({"text": text, "more": [1, {"a": "b"}]}).encode() + b"\n")
    tail = Tail(path, parse)
    found = tail.poll()
    while tail.behind:
        found += tail.poll()
    assert [type(event) for event in found] == [UserSaid]


def test_one_look_ends_after_so_much_parsing(path: Path) -> None:
    path.write_bytes(b"one\n" * 10)
    tail = Tail(path, parse, look_seconds=-1.0)
    assert texts(tail.poll()) == ["one"]
    assert tail.behind == 36
    assert texts(tail.poll()) == ["one"]


def test_lines_are_parsed_by_whoever_fetches(path: Path) -> None:
    path.write_bytes(b"one\n")
    threads: list[int] = []

    def noted(line: bytes) -> Sequence[SessionEvent] | Skipped:
        threads.append(threading.get_ident())
        return parse(line)

    tail = Tail(path, noted)
    with ThreadPoolExecutor(1) as pool:
        fetched = pool.submit(tail.fetch).result()
    assert texts(tail.take(fetched)) == ["one"]
    assert tail.take(fetched) == []
    assert threads
    assert threading.get_ident() not in threads


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_no_descriptor_is_kept(path: Path) -> None:
    path.write_bytes(b"one\n")
    before = open_descriptors()
    tails = [Tail(path, parse) for _ in range(50)]
    for tail in tails:
        tail.poll()
    assert open_descriptors() == before


PIECES = st.lists(st.sampled_from([b"a", b"bc\n", b"\n", b"!x\n", b"\0\xff\n", b"\xe2\x80\xa8"]))


@given(PIECES, st.integers(1, 7))
def test_piecewise_reading_equals_reading_at_once(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], limit: int
) -> None:
    path = tmp_path_factory.mktemp("tail") / "session.jsonl"
    path.touch()
    tail = Tail(path, parse)
    found: list[SessionEvent | Skipped] = []
    for piece in [*pieces, b"\n"]:
        append(path, piece)
        found += tail.poll(limit_bytes=limit)
        while tail.behind:
            found += tail.poll(limit_bytes=limit)
    whole: list[SessionEvent | Skipped] = []
    read_all(path, parse, whole.append)
    assert found == whole == Tail(path, parse).poll()
    assert tail.restarts == 0

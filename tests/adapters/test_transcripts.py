from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.adapters.transcript_scan import read_all
from cockpit.adapters.transcripts import Tail
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

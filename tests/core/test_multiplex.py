"""Streams over one connection: what arrives is what was sent, and a peer cannot break out."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.multiplex import (
    GREETING,
    LONGEST_FRAME,
    LONGEST_REASON,
    MOST_STREAMS,
    WINDOW,
    Frame,
    Kind,
    Multiplexer,
    Violation,
)


def pair() -> tuple[Multiplexer, Multiplexer]:
    """The end here and the end on the host, which know each other."""
    ours, theirs = Multiplexer(opens=True), Multiplexer(opens=False)
    assert carry(theirs, ours) == []
    assert carry(ours, theirs) == []
    return ours, theirs


def carry(sender: Multiplexer, receiver: Multiplexer, piece: int = 1_000_000) -> list[Frame]:
    """Bring over what waits, in pieces of that size."""
    data = sender.output()
    return [
        frame
        for start in range(0, len(data), piece)
        for frame in receiver.receive(data[start : start + piece])
    ]


def opened(ours: Multiplexer, theirs: Multiplexer) -> int:
    stream = ours.open_stream()
    assert stream is not None
    assert carry(ours, theirs) == [Frame(Kind.OPEN, stream)]
    return stream


def frame(kind: int, stream: int = 0, payload: bytes = b"", length: int | None = None) -> bytes:
    return struct.pack("!BIH", kind, stream, len(payload) if length is None else length) + payload


def forged(*frames: bytes) -> bytes:
    """What a host sends that follows no rule but the compression."""
    deflate = zlib.compressobj()
    return GREETING + deflate.compress(b"".join(frames)) + deflate.flush(zlib.Z_SYNC_FLUSH)


def client() -> Multiplexer:
    """One end here, with the stream 1."""
    ours = Multiplexer(opens=True)
    assert ours.open_stream() == 1
    return ours


def read(frames: Iterator[Frame]) -> list[Frame]:
    return list(frames)


@given(
    texts=st.lists(st.tuples(st.integers(0, 2), st.binary(min_size=1, max_size=300)), max_size=20),
    piece=st.integers(1, 50),
)
def test_each_stream_gets_its_bytes_in_order_however_they_are_cut(
    texts: list[tuple[int, bytes]], piece: int
) -> None:
    ours, theirs = pair()
    streams = [opened(ours, theirs) for _ in range(3)]
    for number, text in texts:
        ours.send(streams[number], text)

    arrived = dict.fromkeys(streams, b"")
    for each in carry(ours, theirs, piece):
        arrived[each.stream] += each.payload

    for number, stream in enumerate(streams):
        assert arrived[stream] == b"".join(text for each, text in texts if each == number)


def test_a_stream_that_nobody_reads_stops_and_another_goes_on() -> None:
    ours, theirs = pair()
    slow, quick = opened(ours, theirs), opened(ours, theirs)
    sent = 0
    while room := theirs.may_send(slow):
        theirs.send(slow, b"x" * room)
        sent += room
    theirs.send(quick, b"an answer")

    assert sent == WINDOW
    assert carry(theirs, ours)[-1] == Frame(Kind.DATA, quick, b"an answer")
    ours.consumed(slow, WINDOW // 2)
    carry(ours, theirs)
    assert theirs.may_send(slow) == LONGEST_FRAME


def test_a_stream_ends_in_each_direction_by_itself() -> None:
    ours, theirs = pair()
    stream = opened(ours, theirs)
    ours.end(stream)
    ours.end(stream)
    assert carry(ours, theirs) == [Frame(Kind.END, stream)]
    assert ours.may_send(stream) == 0

    theirs.send(stream, b"the answer")
    theirs.end(stream)

    assert carry(theirs, ours) == [
        Frame(Kind.DATA, stream, b"the answer"),
        Frame(Kind.END, stream),
    ]
    assert carry(ours, theirs) == []


def test_a_stream_that_was_cut_brings_nothing_more_and_makes_room() -> None:
    ours, theirs = pair()
    for _ in range(MOST_STREAMS + 10):
        stream = opened(ours, theirs)
        theirs.send(stream, b"on its way")
        ours.reset(stream)
        ours.reset(stream)
        assert carry(theirs, ours) == []
        assert [each.kind for each in carry(ours, theirs)] == [Kind.RESET]
        assert theirs.may_send(stream) == 0


def test_a_reset_has_a_reason_of_limited_length() -> None:
    ours, theirs = pair()
    stream = opened(ours, theirs)

    theirs.reset(stream, 4, "No supervisor " * 1000)

    (cut,) = carry(theirs, ours)
    assert cut.payload.startswith(b"\x04No supervisor ")
    assert len(cut.payload) == LONGEST_REASON + 1


def test_no_more_streams_than_the_limit_are_opened() -> None:
    ours, _ = pair()
    streams = [ours.open_stream() for _ in range(MOST_STREAMS)]

    assert None not in streams
    assert ours.open_stream() is None


def test_a_question_is_answered_also_by_an_end_that_is_otherwise_quiet() -> None:
    ours, theirs = pair()
    ours.ping()
    assert carry(ours, theirs) == []
    assert theirs.has_output
    assert carry(theirs, ours) == []
    assert not ours.has_output


def test_what_a_later_version_adds_is_skipped() -> None:
    ours = client()
    assert read(ours.receive(forged(frame(99, 7, b"new"), frame(Kind.DATA, 1, b"old")))) == [
        Frame(Kind.DATA, 1, b"old")
    ]


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"Welcome to gpu1\n" * 10_000, "greeting"),
        (GREETING + b"no zlib at all", "damaged"),
        (GREETING + zlib.compress(b""), "ended"),
        (forged(frame(Kind.DATA, 1, length=LONGEST_FRAME + 1)), "too long"),
        (forged(frame(Kind.DATA, 2, b"x")), "never opened"),
        (forged(frame(Kind.DATA, 0, b"x")), "never opened"),
        (forged(frame(Kind.OPEN, 2)), "wrong end"),
        (forged(frame(Kind.CREDIT, 1, b"\0")), "wrong length"),
        (forged(frame(Kind.CREDIT, 1, b"\0\0\0\x01")), "More bytes were consumed"),
        (forged(frame(Kind.END, 1), frame(Kind.DATA, 1, b"x")), "follows the end"),
        (forged(*[frame(Kind.DATA, 1, bytes(LONGEST_FRAME))] * 17), "more than its limit"),
    ],
)
def test_a_host_that_breaks_the_rules_is_found_out(sent: bytes, why: str) -> None:
    with pytest.raises(Violation, match=why):
        read(client().receive(sent))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_text_before_the_greeting_is_skipped(size: int) -> None:
    ours = Multiplexer(opens=True)
    assert ours.open_stream() == 1
    sent = b"Welcome to gpu1\ncockpit-multi" + forged(frame(Kind.DATA, 1, b"x"))
    frames: list[Frame] = []
    for start in range(0, len(sent), size):
        frames += read(ours.receive(sent[start : start + size]))
    assert frames == [Frame(Kind.DATA, 1, b"x")]


def test_a_stream_that_was_cut_may_not_go_on_for_ever() -> None:
    ours = client()
    ours.reset(1)

    with pytest.raises(Violation, match="after it was reset"):
        read(ours.receive(forged(*[frame(Kind.DATA, 1, bytes(LONGEST_FRAME))] * 17)))


def test_a_client_may_not_open_a_stream_twice_nor_too_many() -> None:
    theirs = Multiplexer(opens=False)
    with pytest.raises(Violation, match="twice"):
        read(theirs.receive(forged(frame(Kind.OPEN, 1), frame(Kind.OPEN, 1))))
    many = [frame(Kind.OPEN, number) for number in range(1, MOST_STREAMS + 2)]
    with pytest.raises(Violation, match="Too many"):
        read(Multiplexer(opens=False).receive(forged(*many)))


def test_a_flood_of_questions_is_not_answered_one_by_one() -> None:
    ours = client()
    before = ours.queued

    assert read(ours.receive(forged(frame(Kind.PING) * 1_000_000))) == []

    assert ours.queued - before <= 65_536 + 7


def test_compression_does_not_help_a_host_past_the_limit_of_a_stream() -> None:
    ours = client()
    bomb = forged(*[frame(Kind.DATA, 1, bytes(LONGEST_FRAME))] * 5_000)
    arrived: list[int] = []

    with pytest.raises(Violation):
        arrived.extend(len(each.payload) for each in ours.receive(bomb))

    assert len(bomb) < 500_000
    assert sum(arrived) == WINDOW

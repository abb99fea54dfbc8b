"""The context over time: every reading where it belongs, and what is not known left open."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from cockpit.tui.present.plot import COMPACTED, HANDED_ON, MARK, STEPS, plot
from cockpit.tui.present.span import plain
from cockpit.tui.terminal.ascii import ascii_only
from cockpit.wire.course import Course, CoursePoint, Stretch
from cockpit.wire.status import MarksStatus
from tests.tui.scene_sessions import MARKS, course, readings, stretch

FULL = STEPS[-1]


def drawn(told: Course, width: int = 60, height: int = 10) -> list[str]:
    lines = [plain(line) for line in plot(told, width, height)]
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}
    return lines


def heights(lines: list[str]) -> list[int]:
    """Full cells of each column, from the left."""
    return [sum(line[x] == FULL for line in lines) for x in range(len(lines[0]))]


def one(*tokens: int, **fields: object) -> Course:
    points = [CoursePoint(call, each) for call, each in enumerate(tokens, 1)]
    return Course(agent="api", stretches=[stretch(1, points, **fields)])


@pytest.mark.parametrize("links", [1, 2, 9, 40])
@pytest.mark.parametrize("size", [(8, 2), (20, 5), (58, 6), (100, 20), (200, 40)])
def test_any_chain_fits_any_room(links: int, size: tuple[int, int]) -> None:
    chain = [stretch(number, readings(150_000, 50)) for number in range(1, links + 1)]
    lines = drawn(Course(agent="api", stretches=chain), *size)
    assert f"#{links}" in lines[-1] or size[0] == 8


def test_what_grows_rises_and_the_band_is_that_of_the_reading() -> None:
    rising = heights(drawn(one(20_000, 60_000, 110_000, 145_000)))
    shown = [height for height in rising if height]
    assert shown == sorted(shown)
    roles = {
        span.role
        for line in plot(one(20_000, 110_000, 125_000, 145_000, 160_000), 60, 10)
        for span in line
        if FULL in span.text
    }
    assert roles == {f"plot-{band}" for band in ("calm", "notice", "warn", "act", "force")}


def test_without_marks_no_band_is_claimed() -> None:
    told = one(20_000, 90_000, marks=MarksStatus(), window=None, compacts_at=None)
    roles = {span.role for line in plot(told, 60, 10) for span in line if FULL in span.text}
    assert roles == {"plot-unknown"}
    assert not any(MARK in line for line in drawn(told))


def test_the_marks_are_named_where_there_is_room() -> None:
    text = "\n".join(drawn(one(20_000, 140_000), 80, 30))
    for name in ("notice 100k", "warn 120k", "act 140k", "force 147k", "compacts 167k"):
        assert name in text
    assert "notice" not in "\n".join(drawn(one(20_000, 140_000), 40, 30))


def test_a_compaction_stands_between_the_reading_before_and_the_one_after() -> None:
    points = [
        CoursePoint(1, 100_000),
        CoursePoint(2, 140_000),
        CoursePoint(2, 141_000, "compacted"),
        CoursePoint(3, 30_000),
        CoursePoint(4, 40_000),
    ]
    lines = drawn(Course(agent="api", stretches=[stretch(1, points)]), 50, 12)
    (at,) = {line.index(COMPACTED) for line in lines if COMPACTED in line}
    tall = heights(lines)
    assert tall[at - 1] > 2 * max(tall[at + 1 :]) > 0


def test_after_a_compaction_nothing_is_known_until_the_next_reply() -> None:
    points = [CoursePoint(1, 100_000), CoursePoint(1, 100_000, "compacted")]
    lines = drawn(Course(agent="api", stretches=[stretch(1, points)]), 50, 12)
    assert heights(lines)[-2] == 0
    assert any(COMPACTED in line for line in lines)


def test_each_session_has_its_segment_in_order() -> None:
    lines = drawn(course(), 80, 12)
    assert lines[-1].index("#1") < lines[-1].index("#2")
    at = {line.index(HANDED_ON) for line in lines[:-1]}
    assert len(at) == 1
    assert lines[-1].index("#2") == at.pop() + 1


def test_a_session_without_a_record_is_left_open() -> None:
    gone = Stretch(session="x", number=1, state="handed_off", unknown="Its record is gone.")
    lines = drawn(Course(agent="api", stretches=[gone, stretch(2, readings(90_000))]), 60, 8)
    assert "╌╌╌" in lines[-2][:6]
    assert not any(heights(lines)[:4])
    assert "Its record is gone." in "\n".join(drawn(Course(agent="api", stretches=[gone])))
    assert "No token count yet." in "\n".join(drawn(Course(agent="api")))


def test_what_was_undone_is_no_part_of_the_course() -> None:
    chain = [stretch(1, readings(90_000), state="live"), stretch(2, readings(50_000))]
    chain[1] = chain[1].model_copy(update={"state": "undone"})
    assert "#2" not in drawn(Course(agent="api", stretches=chain))[-1]


def test_a_reading_beyond_the_window_is_inside_the_picture() -> None:
    told = one(100_000, 250_000, marks=MARKS)
    assert max(heights(drawn(told))) >= 8


def test_in_ascii_a_compaction_is_told_from_a_handoff() -> None:
    signs = {line[15] for line in map(ascii_only, drawn(course(), 80, 12)[:5])}
    assert signs == {":"}
    assert ascii_only(HANDED_ON) == "|"

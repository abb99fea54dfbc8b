"""Columns give way in order, and whatever is left fits the screen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from cockpit.tui.present.columns import Layout, layout
from cockpit.tui.present.fleet import AgentLine, Heading, heading_spans, lines_of, row_spans
from cockpit.tui.present.row import Row, row_of
from cockpit.tui.present.span import plain
from tests.tui.scene import agent, context, fleet

NOW = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)


def rows() -> list[Row]:
    return [row_of(one, heard_seconds=0, now=NOW) for one in fleet()]


def keys(found: Layout) -> list[str]:
    return [column.key for column in found.columns]


def test_a_wide_screen_shows_everything() -> None:
    shown = keys(layout(rows(), 200))
    assert shown == [
        "name", "bar", "tokens", "percent", "band", "trend", "turns", "chain", "state", "activity",
        "age", "cost",
    ]  # fmt: skip


def test_the_name_the_bar_and_the_state_never_give_way() -> None:
    for width in range(20, 301):
        assert {"name", "bar", "state"} <= set(keys(layout(rows(), width)))


def test_what_an_agent_does_has_room_for_words_or_none() -> None:
    for width in range(20, 301):
        found = layout(rows(), width)
        for column in found.columns:
            assert column.key != "activity" or column.width >= 16


def test_the_word_of_the_band_leaves_its_mark_behind() -> None:
    assert "mark" in keys(layout(rows(), 80))
    assert "band" not in keys(layout(rows(), 80))


def test_a_narrower_screen_never_shows_more() -> None:
    counts = [len(keys(layout(rows(), width))) for width in range(30, 301)]
    assert counts == sorted(counts)


@pytest.mark.parametrize("width", [*range(24, 64), 80, 100, 120, 121, 180, 200, 300])
def test_every_line_is_exactly_as_wide_as_the_screen(width: int) -> None:
    agents = {one.name: one for one in fleet()}
    agents["wide"] = agent(
        "wide", activity="漢字 and more 漢字 until it is too long for any column"
    )
    made = {name: row_of(one, heard_seconds=0, now=NOW) for name, one in agents.items()}
    found = layout(list(made.values()), width)
    for line in lines_of(agents.values()):
        if isinstance(line, Heading):
            spans = heading_spans(line, found)
        elif isinstance(line, AgentLine):
            spans = row_spans(made[line.name], line, found, selected=False)
        assert cell_len(plain(spans)) == width, plain(spans)


def test_nobody_to_show_is_no_trouble() -> None:
    assert layout([], 80).width == 80


def test_the_trend_is_there_where_there_is_room_and_goes_first() -> None:
    told = context(60_000, trend=[20_000, 40_000, 60_000])
    shown = [row_of(agent("api", context=told, activity="Edit"), heard_seconds=0, now=NOW)]
    assert shown[0].trend == "▁▂▃"
    assert "trend" in [column.key for column in layout(shown, 160).columns]
    assert "trend" not in [column.key for column in layout(shown, 70).columns]
    unknown = [row_of(agent("api", tokens=None), heard_seconds=0, now=NOW)]
    assert "trend" not in [column.key for column in layout(unknown, 160).columns]


def test_a_hook_that_failed_is_said_before_what_the_agent_does() -> None:
    failed = "hook save (on_error) failed: ended with 1"
    busy = agent("api", activity="Edit", note=failed, warning=failed)
    idle = agent("api", activity=None, note=f"so; {failed}", warning=failed)
    said = [row_of(one, heard_seconds=0, now=NOW).activity for one in (busy, idle)]
    assert said == [f"{failed}; Edit", f"so; {failed}"]

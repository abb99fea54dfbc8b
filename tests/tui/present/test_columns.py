"""Columns give way in order, and whatever is left fits the screen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from cockpit.tui.present.columns import Layout
from cockpit.tui.present.fleet import AgentLine, Heading, heading_spans, row_spans
from cockpit.tui.present.row import Row, row_of
from cockpit.tui.present.span import plain
from tests.tui.present.listed import layout_of, lines_of
from tests.tui.scene import agent, fleet

NOW = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)


def rows() -> list[Row]:
    return [row_of(one, heard_seconds=0, now=NOW) for one in fleet()]


def keys(found: Layout) -> list[str]:
    return [column.key for column in found.columns]


def test_a_wide_screen_shows_everything() -> None:
    shown = keys(layout_of(rows(), 200))
    assert shown == ["state", "name", "bar", "percent", "activity", "age", "cost"]


def test_the_state_the_name_and_the_bar_never_give_way() -> None:
    for width in range(20, 301):
        assert {"name", "bar", "state"} <= set(keys(layout_of(rows(), width)))


def test_what_an_agent_does_has_room_for_words_or_none() -> None:
    for width in range(20, 301):
        found = layout_of(rows(), width)
        for column in found.columns:
            assert column.key != "activity" or column.width >= 12


def test_a_narrower_screen_never_shows_more() -> None:
    counts = [len(keys(layout_of(rows(), width))) for width in range(30, 301)]
    assert counts == sorted(counts)


def places(found: Layout) -> dict[str, tuple[int, int]]:
    """Where each column starts, and how wide it is."""
    start, places = 0, {}
    for column in found.columns:
        places[column.key] = (start, column.width)
        start += column.width
    return places


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 200])
def test_the_bar_stands_where_it_stood_in_the_first_frame(width: int) -> None:
    """Before anything is known of any agent, and once every column has something to show."""
    first = [row_of(agent("a", "starting", None), heard_seconds=0, now=NOW)]
    early, late = places(layout_of(first, width)), places(layout_of(rows(), width))
    for key in ("state", "name", "bar", "percent"):
        assert early[key] == late[key]


def test_the_bar_has_16_to_32_cells_by_the_width_of_the_terminal() -> None:
    widths = [places(layout_of(rows(), width))["bar"][1] for width in range(40, 301)]
    assert widths == sorted(widths)
    assert (widths[0], widths[-1]) == (16, 32)
    assert places(layout_of(rows(), 80))["bar"][1] == 16


@pytest.mark.parametrize("width", [*range(24, 64), 80, 100, 120, 121, 180, 200, 300])
def test_every_line_is_exactly_as_wide_as_the_screen(width: int) -> None:
    agents = {one.name: one for one in fleet()}
    agents["wide"] = agent(
        "wide", activity="漢字 and more 漢字 until it is too long for any column"
    )
    made = {name: row_of(one, heard_seconds=0, now=NOW) for name, one in agents.items()}
    found = layout_of(list(made.values()), width)
    for line in lines_of(agents.values()):
        if isinstance(line, Heading):
            spans = heading_spans(line, found.width)
        elif isinstance(line, AgentLine):
            spans = row_spans(made[line.name], line, found, selected=False)
        assert cell_len(plain(spans)) == width, plain(spans)


def test_nobody_to_show_is_no_trouble() -> None:
    assert layout_of([], 80).width == 80


def test_a_hook_that_failed_is_said_before_what_the_agent_does() -> None:
    failed = "hook save (on_error) failed: ended with 1"
    busy = agent("api", activity="Edit", note=failed, warning=failed)
    idle = agent("api", activity=None, note=f"so; {failed}", warning=failed)
    said = [row_of(one, heard_seconds=0, now=NOW).activity for one in (busy, idle)]
    assert said == [f"{failed}; Edit", f"so; {failed}"]

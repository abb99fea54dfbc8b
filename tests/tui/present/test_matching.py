"""The words of a filter: names first, other fields only from the beginning of a word."""

from __future__ import annotations

import pytest

from cockpit.tui.present.fleet import AgentLine, row_spans
from cockpit.tui.present.matching import Match, match
from cockpit.tui.present.row import row_of
from tests.tui.present.listed import layout_of, lines_of
from tests.tui.present.test_fleet import NOW
from tests.tui.scene import agent


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["check"], Match((0, 1, 2, 3, 4), by_name=True)),
        (["out"], Match((5, 6, 7), by_name=True)),
        (["cko"], Match((3, 4, 5), by_name=True)),
        (["cot"], Match((0, 5, 7), by_name=True)),
        (["shop"], Match((), by_name=False)),
        (["check", "shop"], Match((0, 1, 2, 3, 4), by_name=False)),
        (["prompt"], Match((), by_name=False)),
        (["ompt"], None),
        (["17"], Match((), by_name=False)),
        (["zebra"], None),
        (["check", "zebra"], None),
        ([], Match((), by_name=True)),
    ],
)
def test_how_an_agent_matches(words: list[str], found: Match | None) -> None:
    checkout = agent("checkout", branch="agent/shop-17", mode="prompt", activity=None)
    assert match(checkout, words) == found


def test_names_that_match_come_first() -> None:
    agents = [agent("web", branch="api/2"), agent("api", branch="main")]
    found = [line for line in lines_of(agents, "api") if isinstance(line, AgentLine)]
    assert [(line.name, line.number) for line in found] == [("api", 1), ("web", 2)]


def test_the_letters_that_match_are_marked() -> None:
    row = row_of(agent("checkout"), heard_seconds=0.0, now=NOW)
    spans = row_spans(row, AgentLine("checkout", 1, (0, 5)), layout_of([row], 120), selected=False)
    assert [span.text for span in spans if span.role == "name-matched"] == ["c", "o"]
    assert "checkout" in "".join(span.text for span in spans)

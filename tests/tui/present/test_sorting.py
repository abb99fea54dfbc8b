"""Orders inside the groups: total, stable, and unknown never first."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from cockpit.tui.present.fleet import AgentLine, Heading, heading_spans
from cockpit.tui.present.sorting import ORDERS, next_order
from cockpit.tui.present.span import plain
from tests.tui.present.listed import lines_of
from tests.tui.scene import agent

AGENTS = [
    agent("mid", tokens=80_000, chain_cost_usd=0.5, last_activity_at="2026-11-21T20:10:00Z"),
    agent("new", tokens=None),
    agent("full", tokens=150_000, chain_cost_usd=2.0, last_activity_at="2026-11-21T20:15:00Z"),
    agent("calm", tokens=10_000, cost_usd=0.1, last_activity_at="2026-11-21T19:00:00Z"),
]


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("need", "mid new full calm"),
        ("context", "full mid calm new"),
        ("name", "calm full mid new"),
        ("age", "calm mid full new"),
        ("cost", "full mid calm new"),
        ("what a newer version knows", "mid new full calm"),
    ],
)
def test_each_order(order: str, names: str) -> None:
    assert [
        one.name for one in lines_of(AGENTS, sort=order) if isinstance(one, AgentLine)
    ] == names.split()


def test_a_key_goes_through_all_of_them() -> None:
    seen = ["need"]
    while (order := next_order(seen[-1])) != "need":
        seen.append(order)
    assert seen == list(ORDERS)
    assert next_order("unheard of") == "need"


def test_who_needs_the_pilot_stays_first_in_every_order() -> None:
    fleet = [*AGENTS, agent("zzz", "needs_you", tokens=1_000)]
    for order in ORDERS:
        places = [line for line in lines_of(fleet, sort=order) if isinstance(line, AgentLine)]
        assert places[0].name == "zzz"
        assert len(places) == 5


def test_the_first_heading_says_the_order() -> None:
    first = next(line for line in lines_of(AGENTS) if isinstance(line, Heading))
    assert "fullest first" in plain(heading_spans(first, 80, ORDERS["context"]))
    assert "first" not in plain(heading_spans(first, 80))
    for width in range(1, 80):
        assert cell_len(plain(heading_spans(first, width, ORDERS["context"]))) == width

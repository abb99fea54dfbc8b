"""Single changes lead to the same lines as listing all agents anew."""

from __future__ import annotations

import random

import pytest

from cockpit.tui.present.columns import Extent, layout
from cockpit.tui.present.fleet import AgentLine
from cockpit.tui.present.listing import Listing
from cockpit.tui.present.sorting import ORDERS
from cockpit.wire.status import AgentStatus
from tests.tui.present.listed import every_line, lines_of
from tests.tui.scene import agent

STATES = ("needs_you", "working", "idle", "done", "stopped", "exited", "unknown")


def changed(name: str, chance: random.Random) -> AgentStatus:
    minute = chance.randrange(60)
    return agent(
        name,
        chance.choice(STATES),
        tokens=chance.choice([None, chance.randrange(150_000)]),
        chain_cost_usd=chance.choice([None, chance.randrange(300) / 100]),
        last_activity_at=chance.choice([None, f"2026-11-21T20:{minute:02}:00Z"]),
        activity=chance.choice(["Edit", "Read", None]),
    )


@pytest.mark.parametrize("sort", list(ORDERS))
@pytest.mark.parametrize("wanted", ["", "read", "a1", "nothing has this"])
def test_changes_of_single_agents(sort: str, wanted: str) -> None:
    chance = random.Random(f"{sort} {wanted}")
    agents = {f"a{number}": changed(f"a{number}", chance) for number in range(20)}
    listing = Listing()
    listing.fill(agents.values(), wanted, sort)
    for step in range(200):
        name = chance.choice(list(agents))
        agents[name] = changed(name, chance)
        listing.change(agents[name])
        listing.airy = bool(step % 2)
        lines = every_line(listing)
        assert lines == lines_of(agents.values(), wanted, sort, airy=listing.airy)
        listed = [line.name for line in lines if isinstance(line, AgentLine)]
        assert listing.names == listed
        for name in agents:
            at = listing.line_of(name)
            assert (at is None) == (name not in listed)
            assert at is None or getattr(lines[at], "name", None) == name
        assert listing.line_of(None) is None
        with pytest.raises(IndexError):
            listing.line(listing.height)


def test_it_notices_other_agents_another_filter_and_another_order() -> None:
    agents = {name: agent(name) for name in ("one", "two")}
    listing = Listing()
    listing.fill(agents.values(), "One", "name")
    assert listing.holds(agents, "one", "name")
    assert not listing.holds(agents, "two", "name")
    assert not listing.holds(agents, "one", "cost")
    assert not listing.holds({"one": agents["one"]}, "one", "name")
    assert not listing.holds({**agents, "three": agent("three")}, "one", "name")


def test_a_column_is_as_wide_as_the_widest_text_that_is_left() -> None:
    extent = Extent()
    empty = layout(extent, 120)
    for name, cost in (("one", "$1.00"), ("host/two", "$1000.00"), ("host/two", "$2000.00")):
        extent.put(name, "now", cost)
    assert (extent.age, extent.cost, extent.has_hosts) == (3, 8, True)
    extent.remove("host/two")
    extent.remove("host/two")
    assert (extent.age, extent.cost, extent.has_hosts) == (3, 5, False)
    extent.remove("one")
    assert layout(extent, 120) == empty

"""Forms filled in by keys in a real terminal: what they keep, and that it counts at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux


@pytest.fixture
def fleet(flight: Flight) -> Flight:
    """One agent that waits for a prompt and has a reading."""
    agent = flight.cockpit.agent
    flight.fly(agent("api", "observe", pause=2, step_tokens=1000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle" and row.context.tokens, "api")
    return flight


def test_a_new_agent_is_kept_in_the_file_and_flies(fleet: Flight) -> None:
    terminal = fleet.terminal("--config", str(fleet.cockpit.config))
    terminal.until("▌ 1 api")

    # All in one go, as over a slow line.
    terminal.press("n", *"extra", "Tab", "Tab", *"count", "BTab", "BTab", "BTab", "Right")
    terminal.until("Start an agent", "extra starts as a new agent", "Saves to", "flight.toml")
    assert "extra" not in fleet.cockpit.config.read_text()
    terminal.press("C-s")

    terminal.until("── extra ", gone=("Start an agent",))
    assert 'name = "extra"' in fleet.cockpit.config.read_text()
    row = fleet.until(lambda row: row.context.tokens, "extra")
    assert fleet.cockpit.prompts(row)[0].startswith("count\n\nWhen the whole job is done")


@pytest.mark.long
def test_marks_and_keys_that_are_changed_count_at_once(fleet: Flight) -> None:
    before = fleet.row("api").context.marks.act
    terminal = fleet.terminal("--config", str(fleet.cockpit.config))
    terminal.until("▌ 1 api")

    terminal.press(",")
    terminal.until("Settings", "No changes yet", "api")
    terminal.press("Tab", "Tab", "Tab", "Tab", "5", "5", "%")
    terminal.until("Ctrl-S saves")
    terminal.press("C-s")
    terminal.until("Saved ", "── api ", gone=("Settings",))
    row = fleet.until(lambda row: row.context.marks.act != before, "api")
    assert (row.context.marks.act, row.state) == (110_000, "idle")
    assert 'act = "55%"' in fleet.cockpit.config.read_text()

    terminal.press(",")
    terminal.until("Settings")
    terminal.press("C-k")
    terminal.until("Keys", "approve-straight")
    terminal.press(*"sort", "Tab", *"T", "C-s")
    terminal.until("Saved ", gone=("Keys",))
    terminal.press("T")
    terminal.until("Sorted by context", "fullest first")

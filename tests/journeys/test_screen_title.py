"""The title of the user's own terminal says who is needed, in our words only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.long_cases import cases

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight, Terminal

pytestmark = pytest.mark.tmux


@pytest.fixture
def fleet(flight: Flight) -> Flight:
    flight.fly(flight.cockpit.agent("api", "prompt", pause=2, step_tokens=1000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle")
    return flight


def title(terminal: Terminal) -> str:
    return terminal.ask("display-message", "-p", "#{pane_title}").strip()


@pytest.mark.long
@pytest.mark.parametrize("words", cases((), long=[(("--direct",),)]), ids=["home", "direct"])
def test_the_title_says_that_somebody_is_needed_until_it_is_left(
    fleet: Flight, words: tuple[str, ...]
) -> None:
    terminal = fleet.shell(*words)
    before = terminal.ask("display-message", "-p", "#{host}").strip()  # tmux's title of a pane
    terminal.until("▌ 1 api", "q quit")
    fleet.wait_for(lambda: title(terminal) == "cockpit")

    fleet.hand_off()
    fleet.phase("review")
    fleet.wait_for(lambda: title(terminal) == "1 needs you - cockpit")

    terminal.press("Enter")
    terminal.until("F12", gone=("▌",))
    if not words:
        fleet.wait_for(lambda: title(terminal) == "cockpit")
    terminal.press("F12")
    fleet.wait_for(lambda: title(terminal) == "1 needs you - cockpit")
    terminal.until("▌ 1 api")
    terminal.press("q")
    terminal.until("LEFT 0")
    if words:
        assert title(terminal) == before

"""The whole way by mouse, as a terminal sends it: nothing is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journeys.conftest import wait_for

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight, Terminal

pytestmark = pytest.mark.tmux

LEFT, DRAG = 0, 32


@pytest.fixture
def fleet(flight: Flight) -> Flight:
    """Two agents that wait for a prompt; `api` is in mode prompt."""
    agent = flight.cockpit.agent
    flight.fly(
        agent("able", "observe", pause=2, step_tokens=1000),
        agent("api", "prompt", pause=2, step_tokens=1000),
    )
    flight.start("able", "api")
    for name in ("able", "api"):
        flight.until(lambda row: row.state == "idle", name)
    return flight


@pytest.fixture
def terminal(fleet: Flight) -> Terminal:
    """A terminal that looks at them."""
    terminal = fleet.terminal()
    terminal.until("▌ 1 able", "f hand off", "q quit")
    return terminal


def mouse(terminal: Terminal, button: int, column: int, line: int, end: str = "M") -> None:
    """One report of a mouse, from 0, as terminals write it since SGR."""
    terminal.type(f"\x1b[<{button};{column + 1};{line + 1}{end}")


def place(terminal: Terminal, words: str) -> tuple[int, int]:
    """Column and line at which these words begin."""
    lines = terminal.until(words).split("\n")
    line = next(number for number, text in enumerate(lines) if words in text)
    return lines[line].index(words), line


def click(terminal: Terminal, words: str) -> None:
    column, line = place(terminal, words)
    mouse(terminal, LEFT, column, line)
    mouse(terminal, LEFT, column, line, "m")


@pytest.mark.long
def test_select_go_in_and_come_back(terminal: Terminal) -> None:
    click(terminal, "2 api")
    terminal.until("▌ 2 api", "── api ")
    click(terminal, "2 api")
    terminal.until("F12 back to the cockpit", gone=("▌",))
    click(terminal, "back to the cockpit")
    terminal.until("▌ 2 api", gone=("F12 back",))
    click(terminal, "Enter attach")
    terminal.until("F12 back to the cockpit", gone=("▌",))


@pytest.mark.long
def test_hand_off_read_and_refuse(terminal: Terminal, flight: Flight) -> None:
    click(terminal, "2 api")
    terminal.until("▌ 2 api")
    click(terminal, "f hand off")
    terminal.until("y hand off")
    click(terminal, "y hand off")
    flight.phase("review")
    click(terminal, "d document")
    terminal.until("Handoff api", "Current Task")
    click(terminal, "r refuse")
    flight.until(lambda row: row.handoff is None)
    terminal.until("▌ 2 api", gone=("Handoff api",))


@pytest.mark.long
def test_every_action_has_a_way_without_a_key(terminal: Terminal) -> None:
    click(terminal, "idle 2 ")  # the title of a group sorts
    terminal.until("Sorted by")
    click(terminal, "? help")
    click(terminal, "Stop the agent; keep its worktree.")
    terminal.until("Stop able?")
    click(terminal, "n no")
    terminal.until("▌ 1 able", gone=("Stop able?",))

    click(terminal, "cockpit  2 idle")  # the line at the top: the palette
    click(terminal, "Mark the agent's job as done.")
    click(terminal, "n no")
    terminal.until("▌ 1 able", gone=("n no", "Mark the agent's job"))

    click(terminal, "o open")
    click(terminal, "4 diff")
    terminal.until("No uncommitted changes", "q back")  # the footer moves "q back"
    click(terminal, "q back")
    terminal.until("▌ 1 able", "q quit")
    click(terminal, "s send")
    terminal.until("Send to able")
    click(terminal, "Esc back")
    terminal.until("▌ 1 able", gone=("Send to able",))


@pytest.mark.long
def test_the_pane_beside_the_list_is_drawn_larger(fleet: Flight) -> None:
    terminal = fleet.terminal(size=(200, 29))  # without a frame
    terminal.until("│── able ", "? for shortcuts", "f hand off")
    column, line = place(terminal, "── able ")
    mouse(terminal, LEFT, column + 4, line)
    mouse(terminal, DRAG, column - 26, line)
    mouse(terminal, LEFT, column - 26, line, "m")

    def moved() -> bool:
        return abs(place(terminal, "── able ")[0] - (column - 30)) <= 2

    wait_for(moved, lambda: f"from {column} on:\n{terminal.seen()}")

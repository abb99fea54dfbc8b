"""Terminals of all sizes, several at once, one inside another, and one that it owns alone."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.journeys.conftest import unadorned

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux

SIZES = [(40, 10), (60, 15), (100, 30), (300, 100)]


@pytest.fixture
def fleet(flight: Flight) -> Flight:
    """Two agents that wait for a prompt, in this order; `api` is in mode prompt."""
    agent = flight.cockpit.agent
    flight.fly(
        agent("able", "observe", pause=2, step_tokens=1000),
        agent("api", "prompt", pause=2, step_tokens=1000),
    )
    flight.start("able", "api")
    for name in ("able", "api"):
        flight.until(lambda row: row.state == "idle", name)
    return flight


@pytest.mark.long
def test_every_size_and_every_change_of_size(fleet: Flight) -> None:
    terminal = fleet.terminal(size=SIZES[0])
    for columns, rows in [*SIZES, *reversed(SIZES)]:
        terminal.resize(columns, rows)

        def fits(rows: int = rows) -> bool:
            seen = unadorned(terminal.seen())
            lines = seen.removesuffix("\n").split("\n")
            whole = len(lines) == rows and "q quit" in lines[-1]
            return whole and "▌ 1 able" in seen and ("Step 2 of 9" in seen) == (rows >= 15)

        fleet.wait_for(fits)
    assert b"Traceback" not in terminal.written()


@pytest.mark.long
def test_another_size_is_drawn_whole(fleet: Flight) -> None:
    """What a terminal makes of what stood in it, when it changes its size, is its own affair."""
    terminal = fleet.terminal("--direct")
    terminal.until("▌ 1 able", "q quit")
    before = len(terminal.written())
    terminal.resize(100, 20)
    fleet.wait_for(lambda: b"able" in terminal.written()[before:])


@pytest.mark.long
def test_a_form_in_the_smallest_terminal(fleet: Flight) -> None:
    terminal = fleet.terminal(size=SIZES[0])
    terminal.until("▌ 1 able", "q quit")

    terminal.press("n")
    terminal.until("Start an agent", "the agent's job (optional)", "Enter start")
    terminal.type("new")
    terminal.until("name       new", gone=("Enter a name:",))
    terminal.press("C-g")

    terminal.until("▌ 1 able")
    terminal.press("x")
    terminal.until("Stop able?", "y stop it  n no")
    terminal.press("n")
    terminal.until("▌ 1 able", gone=("Stop able?",))


@pytest.mark.long
def test_resized_while_a_document_is_open(fleet: Flight) -> None:
    fleet.hand_off()
    fleet.phase("review")
    terminal = fleet.terminal(size=(100, 30))
    terminal.until("▌ 1 api")
    terminal.press("d")
    for size in [*SIZES, *reversed(SIZES)]:
        terminal.resize(*size)
        terminal.until("Handoff api", "a approve", "q back")


@pytest.mark.long
def test_two_terminals_do_not_drag_each_other(fleet: Flight) -> None:
    large, small = fleet.terminal(size=(120, 40)), fleet.terminal(size=(60, 15))
    for one in (large, small):
        one.until("▌ 1 able")

    small.press("k")  # the screen has the size of the terminal that was typed in last
    small.until("▌ 1 able", "q quit")
    small.press("Enter")
    small.until("F12 back to the cockpit", "? for shortcuts")
    large.press("j")
    large.until("▌ 2 api", "── api ")

    assert "F12 back to the cockpit" in small.seen()
    assert "Step 2 of 9" in small.seen()
    small.close()
    large.press("Enter")
    large.until("F12 back to the cockpit", gone=("▌",))
    large.press("F12")
    large.until("▌ 2 api")


@pytest.mark.long
def test_inside_the_tmux_of_the_pilot(fleet: Flight) -> None:
    """Theirs has its prefix and its variables; ours takes `F12` and nothing else."""
    terminal = fleet.inside_tmux()
    terminal.until("▌ 1 able", "q quit")

    terminal.press("Enter")
    terminal.until("F12 back to the cockpit", "? for shortcuts")
    terminal.press("C-b")
    terminal.type("x")
    fleet.wait_for(lambda: "^B" in repr(terminal.seen()) or "x" in terminal.seen())
    terminal.press("F12")
    terminal.until("▌ 1 able")

    done = subprocess.run(["tmux", "ls"], capture_output=True, text=True, check=False)
    assert "no server running" in done.stderr or "error connecting" in done.stderr


@pytest.mark.long
def test_in_a_terminal_of_its_own(fleet: Flight) -> None:
    terminal = fleet.shell("--direct")
    terminal.until("▌ 1 able", "f hand off")
    terminal.press("j")
    terminal.until("▌ 2 api", "── api ")

    for _ in range(3):
        terminal.press("Enter")
        terminal.until("F12 back to the cockpit", "? for shortcuts", gone=("▌",))
        terminal.press("F12")
        terminal.until("▌ 2 api", "── api ", "q quit")
    terminal.press("Enter")
    terminal.until("F12 back to the cockpit", "? for shortcuts", gone=("▌",))
    terminal.type("go on")
    terminal.press("Enter")
    terminal.until("All steps are counted")
    terminal.press("F12")
    terminal.until("▌ 2 api", "─ done ")

    terminal.press("q")
    terminal.until("LEFT 0", gone=("api", "exited"))
    modes = terminal.ask(
        "display-message", "-p", "#{alternate_on}#{cursor_flag}#{mouse_any_flag}#{keypad_flag}"
    )
    assert modes.strip() == "0100"


@pytest.mark.long
def test_attached_where_no_screen_was_ever_opened(fleet: Flight) -> None:
    """The key that comes back has nothing to come back to: it gives the terminal back."""
    terminal = fleet.shell("attach", "api")
    terminal.until("F12 leaves", "? for shortcuts")

    terminal.press("F12")

    terminal.until("LEFT 0", gone=("? for shortcuts",))
    assert fleet.row().pid

"""What a user sees when something beneath the screen is killed, and how it goes on."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux


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


def test_the_supervisor_is_killed_and_comes_back(fleet: Flight) -> None:
    terminal = fleet.terminal()
    terminal.until("▌ 1 able", "2 idle", "Step 2 of 9")
    pid = fleet.row("api").pid

    fleet.cockpit.kill()

    terminal.until("supervisor unreachable", "Step 2 of 9")
    terminal.press("f")
    terminal.until("The supervisor is not responding. Run: cockpit up")
    terminal.press("j")
    message = "The supervisor is not responding. Run: cockpit up"
    terminal.until("▌ 2 api", "── api ", message, gone=("Step 2 of 9",))
    terminal.press("?")
    terminal.until("Go to the agent's pane")
    terminal.press("q")

    fleet.fly()
    terminal.until("▌ 2 api", "2 idle", "Step 2 of 9", gone=("supervisor unreachable",))
    assert fleet.row("api").pid == pid
    terminal.press("Enter")
    terminal.until("F12 back to the cockpit", "? for shortcuts")
    terminal.press("F12")
    terminal.until("▌ 2 api")


@pytest.mark.long
def test_a_plain_cockpit_brings_the_supervisor_back_under_an_open_screen(fleet: Flight) -> None:
    open_already = fleet.terminal()
    open_already.until("▌ 1 able", "2 idle", "Step 2 of 9")
    fleet.cockpit.kill()
    open_already.until("supervisor unreachable")

    another = fleet.terminal()

    for terminal in (another, open_already):
        terminal.until("▌ 1 able", "2 idle", "Step 2 of 9", gone=("supervisor unreachable",))


@pytest.mark.long
def test_in_the_middle_of_a_review(fleet: Flight) -> None:
    terminal = fleet.terminal()
    terminal.until("▌ 1 able")
    terminal.press("2", "f")
    terminal.until("y hand off")
    terminal.press("y")
    terminal.until("◆ review", "d document")
    terminal.press("d")
    terminal.until("Handoff api", "Approving ends this session")

    fleet.cockpit.kill()
    terminal.until("Handoff api", "Current Task", gone=("a approve",))
    terminal.press("a")
    terminal.until("The supervisor is not responding. Run: cockpit up")
    fleet.fly()

    terminal.until("Handoff api", "a approve", "Approving ends this session")
    terminal.press("a")
    fleet.until(lambda row: row.handoffs == 1 and row.handoff is None)
    terminal.until("▌", "── api ", gone=("Handoff api",))


@pytest.mark.long
def test_the_tmux_server_is_killed(fleet: Flight) -> None:
    terminal = fleet.shell()
    terminal.until("▌ 1 able", "2 idle")

    fleet.cockpit.tmux("kill-server")

    seen = terminal.until("LEFT 1", "the tmux server exited", "To start again: cockpit")
    session = fleet.until(lambda row: row.state == "needs_you", "able").session_id
    assert f"able: ended; reopen its session: cockpit start able --resume {session}" in "".join(
        seen.splitlines()
    )
    again = fleet.terminal()
    again.until("▌ 1 able", "◆ reopen?", "reopen it: cockpit start", "able --resume")
    again.until("n start", "R reopen all")
    again.press("n")
    again.until("Start an agent", "starts as configured")
    again.press("Enter")
    fleet.until(lambda row: row.state == "idle" and row.pid, "able")
    again.until("── able ", "Step 2 of 9")


@pytest.mark.long
def test_a_client_that_is_ended_takes_what_waits_for_it_along(fleet: Flight) -> None:
    """By its own pid, as the shell knows it: no client stays in a terminal that it shares."""
    line = fleet.line()
    line.until("able", "2 idle")
    assert "1" in fleet.cockpit.tmux("list-clients", "-F", "#{session_attached}")
    os.kill(line.pid, signal.SIGTERM)
    assert line.wait() != 0
    assert fleet.cockpit.tmux("list-clients") == ""
    assert "server has ended" not in line.text()


@pytest.mark.long
def test_an_agent_is_killed_by_hand(fleet: Flight) -> None:
    terminal = fleet.terminal()
    terminal.until("▌ 1 able", "2 idle")
    pid = fleet.row("able").pid
    assert pid

    os.kill(pid, signal.SIGKILL)

    terminal.until("exited", "── able ", "ended by signal 9")
    terminal.press("s")
    terminal.until("able has ended. Press n to start it.")

"""Everything by keys, as a user presses them, and what is seen then."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight, Terminal

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


def in_review(fleet: Flight, editor: str = "true") -> Terminal:
    """A terminal with the document of `api` open in it, by keys."""
    terminal = fleet.terminal(EDITOR=editor)
    terminal.until("▌ 1 able")
    terminal.press("2", "f")
    terminal.until("y hand off")
    terminal.press("y")
    terminal.until("◆ review", "d document")
    terminal.press("d")
    terminal.until("Handoff api", "e edit", "Current Task")
    return terminal


def editing(fleet: Flight, change: str) -> str:
    """An editor that makes this change (a `sed` script), notes that it did, and is left."""
    script = fleet.cockpit.home / "editor"
    script.write_text(f"#!/bin/sh\nsed -i '{change}' \"$1\"\n: > '{left(fleet)}'\n")
    script.chmod(0o755)
    return str(script)


def left(fleet: Flight) -> Path:
    return fleet.cockpit.home / "editor-was-left"


def clear(terminal: Terminal) -> None:
    """Empty the field of a name. What is typed at once after the key may be emptied with it."""
    terminal.press("C-u")
    terminal.until("Enter a name: a-z, 0-9")


@pytest.mark.long
def test_into_the_agent_that_was_chosen_and_back(fleet: Flight) -> None:
    terminal = fleet.terminal()
    terminal.until("▌ 1 able", "── able ")

    terminal.press("j")
    terminal.until("▌ 2 api", "── api ")
    terminal.press("1")
    terminal.until("▌ 1 able", "── able ")
    terminal.press("7")
    terminal.until("No agent 7.")
    terminal.press("Down")
    terminal.until("▌ 2 api", "── api ")

    terminal.press("Enter")
    terminal.until("F12 back to the cockpit", "? for shortcuts", gone=("▌ 2 api",))
    terminal.type("yes; go on $(id) `id` #{pid}")
    terminal.until("❯ yes; go on $(id) `id` #{pid}")
    terminal.press("Enter")
    terminal.until("All steps are counted")
    terminal.press("F12")
    terminal.until("▌ 2 api", "── api ", "─ done ")
    assert "yes; go on $(id) `id` #{pid}" in fleet.cockpit.prompts(fleet.row())


@pytest.mark.long
def test_tab_goes_to_the_agent_that_needs_the_user(fleet: Flight) -> None:
    terminal = fleet.terminal()
    terminal.until("▌ 1 able")
    terminal.press("Tab")
    terminal.until("No agent needs you")
    fleet.hand_off()
    terminal.until("review  document ready")

    terminal.press("Tab")

    terminal.until("▌ 1 api", "the handoff document is waiting for your approval")


def test_the_edited_document_is_what_the_successor_reads(fleet: Flight) -> None:
    task = "s/^Count step 3 of 9[.]$/Count them by hand./"
    step = "s/^1[.] `.*/1. `make edited-by-hand`/"
    terminal = in_review(fleet, editing(fleet, f"{task}; {step}"))

    terminal.press("e")
    fleet.wait_for(left(fleet).exists)
    terminal.until("Count them by hand.", "Approving ends this session")
    terminal.press("a")

    row = fleet.until(lambda row: row.handoffs == 1 and row.handoff is None)
    assert fleet.do(fleet.cockpit.events("handoff.edited"))
    assert "edited-by-hand" in fleet.cockpit.prompts(row)[0]

    def was_read() -> bool:
        results = [line for line in fleet.cockpit.said(row) if "tool_result" in str(line)]
        return any("edited-by-hand" in str(line) for line in results)

    fleet.wait_for(was_read)
    terminal.until("── api ", "─ done ", gone=("Handoff api",))


@pytest.mark.long
def test_an_edit_that_breaks_the_document_is_refused(fleet: Flight) -> None:
    terminal = in_review(fleet, editing(fleet, "/^## Next Steps/d"))
    pid = fleet.row().pid

    terminal.press("e")
    fleet.wait_for(left(fleet).exists)
    terminal.until("Handoff api", "Approving ends this session")
    terminal.press("a")

    terminal.until("The edited document is incomplete", "`## Next Steps` is missing")
    terminal.until("Handoff api", "a approve")
    assert fleet.phase("review").pid == pid
    terminal.press("r")
    terminal.until("── api ", "─ idle ", gone=("Handoff api",))
    row = fleet.until(lambda row: row.handoff is None)
    assert (row.pid, row.session_number) == (pid, 1)


@pytest.mark.long
def test_an_editor_that_is_not_there(fleet: Flight) -> None:
    terminal = in_review(fleet, editor="no-such-editor")

    terminal.press("e")

    terminal.until("Cannot start the editor no-such-editor", "EDITOR to your editor", "a approve")


@pytest.mark.long
def test_put_off(fleet: Flight) -> None:
    terminal = in_review(fleet)

    terminal.press("z")

    terminal.until("snoozed until", "── api ", gone=("Handoff api",))
    row = fleet.until(lambda row: row.needs is None)
    assert row.handoff is not None
    assert row.handoff.phase == "review"


@pytest.mark.long
def test_a_prompt_of_several_lines(fleet: Flight) -> None:
    terminal = fleet.terminal()
    terminal.until("▌ 1 able")
    terminal.press("2", "s")
    terminal.until("Send to api", "Enter send")

    terminal.type("first line")
    terminal.press("C-j")
    terminal.type("second $(line)")
    terminal.until("first line", "second $(line)")
    terminal.press("Enter")

    terminal.until("api accepted the prompt", "─ done ", gone=("Send to api",))
    assert "first line\nsecond $(line)" in fleet.cockpit.prompts(fleet.row())


@pytest.mark.long
def test_a_paste_that_no_terminal_marks_ends_nobody(fleet: Flight) -> None:
    """As a Linux console hands it on: every letter of it is a key."""
    terminal = fleet.terminal()
    terminal.until("▌ 1 able")
    pid = fleet.row("able").pid

    terminal.type("xy")
    terminal.until("Stop able?", "y was ignored: it arrived with other keys")
    terminal.press("n")
    terminal.until("▌ 1 able", gone=("Stop able?",))
    terminal.type("make cache\n")
    terminal.until("11 keys arrived at once, like a paste", "▌ 1 able")

    assert (fleet.row("able").pid, fleet.row("able").handoff) == (pid, None)
    assert fleet.do(fleet.cockpit.events("handoff.begun")) == []


@pytest.mark.long
def test_stopping_takes_two_different_keys_and_starting_a_form(fleet: Flight) -> None:
    terminal = fleet.terminal()
    terminal.until("▌ 1 able")
    pid = fleet.row("able").pid

    terminal.press("x", "x", "x", "x", "Enter", "Space", "x")
    terminal.until("Stop able?", "y stop it  n no")
    terminal.press("n")
    terminal.until("▌ 1 able", gone=("Stop able?",))
    assert fleet.row("able").pid == pid

    terminal.press("x")
    terminal.until("Stop able?")
    terminal.press("y")
    terminal.until("stopped 1", "▌ 2 able", "stopped by you")
    terminal.press("x", "x")
    terminal.until("able has ended. Press n to start it.", gone=("Stop able?",))

    terminal.press("n")
    terminal.until("Start an agent", "starts as configured")
    clear(terminal)
    terminal.type("Not A Name")
    terminal.until("Try: not-a-name")
    terminal.press("Enter")
    terminal.until("Start an agent", "Try: not-a-name")
    clear(terminal)
    terminal.type("api")
    terminal.until("api is already running")
    clear(terminal)
    terminal.type("new")
    terminal.until("starts as a new agent")
    terminal.press("Tab")
    terminal.type("nowhere")
    terminal.until("is not a directory")
    terminal.press("C-g")
    terminal.until("▌ 2 able", gone=("Start an agent",))

    terminal.press("n")
    terminal.until("starts as configured")
    terminal.press("Enter")
    row = fleet.until(lambda row: row.pid not in (None, pid) and row.state == "idle", "able")
    assert row.state == "idle"
    terminal.until("▌ 1 able", "idle 2")


@pytest.mark.long
def test_leaving_the_screen_leaves_everything_else(fleet: Flight) -> None:
    first = fleet.shell()
    first.until("▌ 1 able")
    first.press("j", "?")
    first.until("Keys", "Go to the agent's pane", "F12 returns from a pane")
    first.press("q")
    first.until("▌ 2 api", gone=("Go to the agent's pane",))
    pids = [fleet.row(name).pid for name in ("able", "api")]

    first.press("q")

    first.until("LEFT 0")
    assert [fleet.row(name).pid for name in ("able", "api")] == pids
    assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    again = fleet.terminal()
    again.until("▌ 2 api", "── api ", "? for shortcuts")


@pytest.mark.long
def test_an_own_key_comes_back_from_a_pane_and_is_named_there(flight: Flight) -> None:
    """The file is read before the tmux server starts; the screen and its help name the key too."""
    flight.fly(
        flight.cockpit.agent("able", "observe", pause=2, step_tokens=1000),
        '[keys]\npane.back = "F9"\n',
    )
    flight.start("able")
    terminal = flight.terminal("--config", str(flight.cockpit.config))
    terminal.until("▌ 1 able")
    terminal.press("?")
    terminal.until("F9 returns from a pane")
    terminal.press("q")
    terminal.until("▌ 1 able", gone=("F9 returns",))
    terminal.press("Enter")
    terminal.until("F9 back to the cockpit", gone=("▌ 1 able", "F12"))
    terminal.press("F9")
    terminal.until("▌ 1 able", gone=("F9 back",))

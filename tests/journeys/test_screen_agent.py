"""One agent whole, by keys in a real terminal: what it wrote, held and left; and silence."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight, Terminal

pytestmark = [pytest.mark.long, pytest.mark.tmux]


def test_an_agent_that_was_handed_on_is_seen_whole(flight: Flight) -> None:
    cockpit = flight.cockpit
    flight.fly(cockpit.agent(mode="auto", steps=4, pause=2, step_tokens=1_000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle")
    flight.hand_off()
    flight.until(lambda row: row.handoffs == 1 and row.handoff is None and row.state == "done")
    (cockpit.repository / "README.md").write_text("\x1b[2J evil [b]words[/b]\n")
    (cockpit.repository / "new.txt").touch()
    terminal = flight.terminal()
    terminal.until("▌ 1 api")

    terminal.press("o")
    terminal.until("1 pane", "5 events", "session 2 (max 4)", "All steps are counted")
    terminal.press("2")
    terminal.until("#1", "»#2", "→", "agent wrote it", "completed", "now", "Enter document")
    terminal.press("k", "Enter")
    terminal.until("Document api", "by the agent", "Current Task")
    terminal.press("q", "3")
    terminal.until("goal", "Count the steps.", gone=("Document api",))
    terminal.press("4")
    terminal.until("new.txt", "── README.md ──", "+ evil [b]words[/b]", gone=("Count the steps.",))
    (cockpit.repository / "newer.txt").touch()
    terminal.press("r")
    terminal.until("newer.txt")
    terminal.press("Tab")
    terminal.until("continues in session 2")

    quiet_after(terminal)
    terminal.press("Left")
    terminal.until("▌ 1 api", gone=("5 events",))


def quiet_after(terminal: Terminal, seconds: float = 3.0) -> None:
    """Nothing is written for so long, once what was asked for is there. Ten tries at most."""
    for _ in range(10):
        before = len(terminal.written())
        end = time.monotonic() + seconds
        while len(terminal.written()) == before:
            if time.monotonic() > end:
                return
            time.sleep(0.05)
    raise AssertionError(f"it never falls silent: {terminal.written()[-300:]!r}")

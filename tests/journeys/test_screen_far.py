"""The screen of another machine, which here is another folder of this one: real supervisors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux


@pytest.fixture
def here(own_home: Path, connect: Any) -> Path:
    """A cockpit that has never flown, and knows the one that does as `gpu1`."""
    home = own_home / "here"
    home.mkdir(mode=0o700)
    argv = json.dumps(connect(own_home / "ck"))
    (home / "cockpit.toml").write_text(f'[[hosts]]\nname = "gpu1"\nconnect = {argv}\n')
    return home


def test_a_far_agent_is_seen_entered_and_handed_off(flight: Flight, here: Path) -> None:
    flight.fly(flight.cockpit.agent("api", "prompt", pause=2, step_tokens=1000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle")
    terminal = flight.terminal("--host", "gpu1", COCKPIT_HOME=str(here))
    terminal.until("gpu1", "▌ 1 api")

    terminal.press("Enter")
    terminal.until("F12 back to the cockpit", gone=("▌ 1 api",))
    terminal.press("F12")
    terminal.until("▌ 1 api", gone=("F12 back",))

    terminal.press("f")
    terminal.until("y hand off")
    terminal.press("y")
    flight.phase("review")
    terminal.until("◆ review")
    terminal.press("d")
    terminal.until("Handoff api", "Current Task")
    terminal.press("e")
    terminal.until("The document is a file on gpu1: edit it there.")
    terminal.press("a")
    flight.until(lambda row: row.handoffs == 1)
    # The supervisor is killed when no request is open.
    terminal.until("▌ 1", "done", gone=("Handoff api",))

    flight.cockpit.kill()
    terminal.until("gpu1 ○ lost just now: No supervisor is running on gpu1", "▌ 1 api")
    flight.fly(flight.cockpit.agent("api", "prompt", pause=2, step_tokens=1000))
    terminal.until("▌ 1 api", gone=("lost just now",))
    assert not (here / "run" / "cockpit.sock").exists()

"""One screen for two machines, the other of which is another folder here: real supervisors."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.journeys.conftest import COCKPIT, Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux

WEB = '[[agents]]\nname = "web"\nruntime = "command"\ncommand = ["cat"]\n'


@pytest.fixture
def here(own_home: Path, connect: Any) -> Iterator[Path]:
    """A cockpit with an agent of its own, `web`, that knows the one which flies as `gpu1`."""
    home = own_home / "here"
    home.mkdir(mode=0o700)
    argv = json.dumps(connect(own_home / "ck"))
    hosts = f'[[hosts]]\nname = "gpu1"\nconnect = {argv}\n'
    (home / "cockpit.toml").write_text(hosts + WEB)
    cockpit(home, own_home, "start", "web")
    yield home
    cockpit(home, own_home, "down", "--agents")


def cockpit(home: Path, at: Path, *words: str) -> None:
    environment = {**os.environ, "COCKPIT_HOME": str(home)}
    subprocess.run([*COCKPIT, *words], cwd=at, env=environment, check=True, capture_output=True)


def select(terminal: Terminal, name: str) -> None:
    """By the digit that stands before its name."""
    found = re.search(rf"(\d) {re.escape(name)}\b", terminal.until(f" {name} "))
    assert found
    terminal.press(found[1])
    terminal.until(f"▌ {found[1]} {name}")


@pytest.mark.long
def test_two_machines_are_one_fleet_and_one_is_lost_alone(flight: Flight, here: Path) -> None:
    flight.fly(flight.cockpit.agent("api", "prompt", pause=2, step_tokens=1000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle")
    terminal = flight.terminal(size=(120, 30), COCKPIT_HOME=str(here))
    terminal.until("local ● · gpu1 ●", " web ", "gpu1/api")

    select(terminal, "gpu1/api")
    terminal.press("Enter")
    terminal.until("F12 back to the cockpit", gone=("gpu1 ●",))
    terminal.press("F12")
    terminal.until("local ● · gpu1 ●", gone=("F12 back",))

    terminal.press("f")
    terminal.until("y hand off")
    terminal.press("y")
    flight.phase("review")
    terminal.until("◆ review")
    terminal.press("d")
    terminal.until("Handoff gpu1/api", "Current Task")
    terminal.press("e")
    terminal.until("The document is a file on gpu1: edit it there.")
    terminal.press("a")
    terminal.until("Approved")  # no request is open when the supervisor is killed
    flight.until(lambda row: row.handoffs == 1)
    flight.until(lambda row: row.state == "done")
    terminal.until("─ done ")

    flight.cockpit.kill()
    terminal.until("local ● · gpu1 ○ lost just now", "~ gpu1/api")
    terminal.until("No supervisor is running on gpu1", "doctor")
    terminal.press("i")
    terminal.until("Inbox", "○ lost", "No supervisor is running on gpu1")
    terminal.press("q")
    select(terminal, "web")
    terminal.press("s")
    terminal.until("Send to web")
    terminal.type("is anybody there")
    terminal.press("Enter")
    terminal.until("is anybody there", gone=("Send to web",))

    flight.fly(flight.cockpit.agent("api", "prompt", pause=2, step_tokens=1000))
    terminal.until("local ● · gpu1 ●", "gpu1/api", gone=("lost", "~ gpu1/api"))


@pytest.mark.long
def test_a_name_with_a_host_starts_an_agent_there(flight: Flight, here: Path) -> None:
    flight.fly(flight.cockpit.agent("api", "prompt", pause=2, step_tokens=1000))
    terminal = flight.terminal(size=(120, 30), COCKPIT_HOME=str(here))
    terminal.until("local ● · gpu1 ●", "gpu1/api")

    terminal.press("n")
    terminal.until("Start an agent")
    terminal.press("C-u")
    terminal.type("gpu1/api")
    terminal.press("C-s")

    flight.until(lambda row: row.state == "idle")
    terminal.until("gpu1/api", "─ idle ")

"""`cockpit` where nothing flies: screen and supervisor begin together, or neither is left."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.journeys.conftest import COCKPIT, Line, wait_for

pytestmark = pytest.mark.tmux


def test_everything_begins(own_home: Path) -> None:
    line = Line(at=own_home)
    try:
        line.until("no agents", "quit")
    finally:
        line.hang_up()
        subprocess.run([*COCKPIT, "down", "--agents"], check=True, capture_output=True)


@pytest.mark.long
def test_a_supervisor_that_does_not_come_up_leaves_no_screen_behind(own_home: Path) -> None:
    """That no process is left is looked at by the fixture, when this is over."""
    (own_home / "bad.toml").write_text("[cockpit]\nthme = 'night'\n")
    line = Line("--config", str(own_home / "bad.toml"), at=own_home)
    try:
        assert line.wait() == 2
        wait_for(lambda: "thme" in line.text(), line.text)
    finally:
        line.hang_up()


@pytest.mark.long
def test_agents_outlive_a_supervisor_that_does_not_come_up(own_home: Path) -> None:
    (own_home / "ck" / "cockpit.toml").write_text(
        '[[agents]]\nname = "api"\nruntime = "command"\ncommand = ["/bin/cat"]\n'
    )
    for words in (["up"], ["start", "api"], ["down"]):
        subprocess.run([*COCKPIT, *words], check=True, capture_output=True)
    (own_home / "bad.toml").write_text("[cockpit]\nthme = 'night'\n")
    line = Line("--config", str(own_home / "bad.toml"), at=own_home)
    assert line.wait() == 2
    line.hang_up()
    subprocess.run([*COCKPIT, "up"], check=True, capture_output=True)
    said = subprocess.run([*COCKPIT, "status"], check=True, capture_output=True, text=True).stdout
    subprocess.run([*COCKPIT, "down", "--agents"], check=True, capture_output=True)
    assert "stopped" not in said
    assert "exited" not in said

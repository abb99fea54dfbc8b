"""The connection drops while something is going on: it goes on, and the next `cockpit` shows it."""

from __future__ import annotations

import json
import os
import signal
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.demo.jobs import ROUNDING
from cockpit.demo.leftovers import carriers
from cockpit.demo.model import ModelServer
from cockpit.demo.scratch import MODEL, agent_environment, put_onboarding, table
from cockpit.demo.script import Script
from tests.journeys.conftest import wait_for

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux


@pytest.fixture
def fleet(flight: Flight) -> Flight:
    """Two agents that wait for a prompt; the second in the list is in mode prompt."""
    agent = flight.cockpit.agent
    flight.fly(
        agent("able", "observe", pause=2, step_tokens=1000),
        agent("api", "prompt", pause=2, step_tokens=1000, pace=1.0),
    )
    flight.start("able", "api")
    for name in ("able", "api"):
        flight.until(lambda row: row.state == "idle", name)
    return flight


@pytest.mark.long
def test_while_the_document_is_being_written(fleet: Flight) -> None:
    line = fleet.line()
    line.shows("── able ")
    line.type("j")
    line.shows("── api ")
    line.type("f")
    line.shows("y hand off")
    line.type("y")
    fleet.phase("documenting")
    pid = fleet.row().pid

    line.hang_up()
    row = fleet.phase("review")

    assert row.pid == pid
    assert row.handoff is not None
    assert Path(row.handoff.document or "").is_file()
    kinds = [event.kind for event in fleet.do(fleet.cockpit.events())]
    assert "handoff.document" in kinds
    again = fleet.line()
    again.shows("── api ", "◆ review", "▌ 1 api")
    again.type("a")
    row = fleet.until(lambda row: row.handoffs == 1 and row.handoff is None)
    assert row.session_number == 2


def test_while_a_review_is_open_on_the_screen(fleet: Flight) -> None:
    line = fleet.line()
    line.shows("── able ")
    line.type("j")
    line.shows("── api ")
    line.type("f")
    line.shows("y hand off")
    line.type("y")
    fleet.phase("review")
    line.shows("d document")
    line.type("d")
    line.shows("Handoff api", "Current Task")

    line.hang_up()

    assert fleet.phase("review").needs is not None
    again = fleet.line()
    again.shows("Handoff api", "Current Task", "Approving ends this session")
    again.type("q")
    again.shows("── api ", "◆ review")
    again.type("d")
    again.type("r")
    fleet.until(lambda row: row.handoff is None)


@pytest.mark.long
def test_a_screen_that_was_killed_comes_back_with_its_selection(fleet: Flight) -> None:
    line = fleet.line()
    line.shows("── able ")
    line.type("j")
    line.shows("▌ 2 api", "── api ")
    line.hang_up()
    # The selection is saved at most once a second.
    saved = fleet.cockpit.places.state / "screen.json"
    wait_for(lambda: '"api"' in saved.read_text(), lambda: saved.read_text())

    for pid in screens(fleet.cockpit.home):
        os.kill(pid, signal.SIGKILL)

    fleet.line().shows("▌ 2 api", "── api ")


def screens(home: Path) -> list[int]:
    """Processes that draw the cockpit's screen in the home window."""
    found = []
    for pid in carriers(home):
        with suppress(OSError):
            if b"--in-home-window" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


@pytest.mark.long
@pytest.mark.claude
def test_the_real_cli_is_handed_off_over_two_connections(flight: Flight) -> None:
    """The Claude Code that ships inside claude-agent-sdk, against the demo's model."""
    with ModelServer(Script(pace=0.3)) as model:
        flight.fly(real_agent(flight, model.url))
        flight.start("api")
        line = flight.line()
        line.shows("── api ")
        flight.until(lambda row: row.state == "working" and row.context.tokens)
        line.type("f")
        line.shows("y hand off")
        line.type("y")
        flight.phase("documenting")

        line.hang_up()
        before = flight.until(lambda row: row.handoff and row.handoff.phase == "review")

        again = flight.line()
        again.shows("── api ", "◆ review")
        again.type("d")
        again.shows("Handoff api", "Current Task", "Approving ends this session")
        again.type("a")
        after = flight.until(lambda row: row.handoffs == 1 and row.handoff is None)
        assert (before.session_number, after.session_number) == (1, 2)
        assert after.pid != before.pid
        # What the new session says last stays on its pane.
        again.shows("── api ", "I run all tests and commit")
        flight.cockpit.end_everybody()


def real_agent(flight: Flight, model: str) -> str:
    """The table of an agent that is the real CLI; no account, and a home of its own."""
    claude = flight.cockpit.home / "bin" / "claude"
    bundled = bundled_path()
    assert bundled is not None
    claude.unlink()
    claude.symlink_to(bundled)
    key = f"sk-ant-simulated-{uuid.uuid4().hex}"
    settings = flight.cockpit.home / "claude"
    settings.mkdir()
    put_onboarding(settings, key, flight.cockpit.repository)
    return (
        f'[[agents]]\nname = "api"\nmode = "prompt"\nmodel = "{MODEL}"\n'
        f'directory = "{flight.cockpit.repository}"\narguments = ["--allowedTools", "Bash"]\n'
        f"prompt = {json.dumps(ROUNDING.prompt)}\n"
        f"env = {table(agent_environment(key, model))}\n"
    )

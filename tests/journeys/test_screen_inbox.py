"""The inbox and the history by keys, in a real terminal, over agents that really wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cockpit.wire.verbs import Approve, Handoff, Refuse

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight

pytestmark = pytest.mark.tmux


def test_what_waits_is_one_key_away_and_answered_where_it_stands(flight: Flight) -> None:
    agent = flight.cockpit.agent
    flight.fly(
        agent("asker", "observe", faults="permission", step_tokens=1000),
        agent("calm", "observe", pause=2, step_tokens=1000),
        agent("writer", "prompt", pause=2, step_tokens=1000),
    )
    flight.start("asker", "calm", "writer")
    for name in ("calm", "writer"):
        flight.until(lambda row: row.state == "idle", name)
    asked = flight.until(lambda row: row.needs, "asker").needs
    assert asked
    assert asked.kind == "permission"
    assert asked.tool
    assert asked.command
    assert asked.since
    flight.do(flight.cockpit.ask(Handoff(name="writer", now=True)))
    flight.phase("review", "writer")
    terminal = flight.terminal()
    terminal.until("▌ 1")

    terminal.press("i")
    terminal.until(
        "Inbox", "1 permission · 1 review",
        f"▌ ◆ permission   asker   {asked.tool}: {asked.command.splitlines()[0][:40]}",
        "do you want to proceed?",
    )  # fmt: skip
    terminal.press("Enter")
    terminal.until("F12 back to the cockpit", gone=("Inbox",))
    # The dialog is the agent's own: its answer is given to it, once it can be meant for it.
    where = ["list-panes", "-t", str(flight.row("asker").pane), "-F", "#{pane_input_off}"]
    flight.until(lambda _: flight.cockpit.tmux(*where).strip() == "0", "asker")
    terminal.press("Enter")
    flight.until(lambda row: row.needs is None, "asker")
    terminal.press("F12")
    terminal.until("Inbox", "▌ ◆ review       writer", gone=("permission",))
    terminal.press("Enter")
    terminal.until("Handoff writer", "Current Task")
    terminal.press("r")
    flight.until(lambda row: row.handoff is None, "writer")
    terminal.until("nothing needs you", gone=("Handoff writer",))
    terminal.press("q")
    terminal.until("── ", gone=("nothing needs you",))


@pytest.mark.long
def test_every_handoff_is_found_read_compared_and_gone_on_from(flight: Flight) -> None:
    agent = flight.cockpit.agent
    elsewhere = flight.cockpit.home / "elsewhere"
    elsewhere.mkdir()
    flight.fly(agent("api", "prompt", pause=2, step_tokens=1000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle")
    for answer in (Refuse(name="api"), Approve(name="api")):
        flight.do(flight.cockpit.ask(Handoff(name="api", now=True)))
        flight.phase("review")
        flight.do(flight.cockpit.ask(answer))
        flight.until(lambda row: row.handoff is None)
    terminal = flight.terminal()
    terminal.until("▌ 1 api")

    terminal.press("H")
    terminal.until("History", "2 handoffs", "✓ done", "· refused", "Count the steps.")
    terminal.press("/")
    terminal.until("search the documents")
    terminal.type('NOWHERE" OR (')
    terminal.until("0 handoffs", "No document contains all of these words.")
    terminal.press("C-u")
    terminal.type("count steps")
    terminal.until("2 handoffs · with", "Count the steps.")
    terminal.press("Enter")
    terminal.until("Document api", "Current Task", "by the agent")
    terminal.press("q")
    terminal.until("2 handoffs · with", gone=("Current Task",))
    terminal.press("Space", "Down", "Space")
    terminal.until("2 marked")
    terminal.press("c")
    terminal.until("Compare  api")
    terminal.press("q", "q")
    terminal.until("2 handoffs", gone=("Compare", "with “"))

    terminal.press("n")
    terminal.until("Continue from api's document", "starts from this document")
    terminal.press("C-u")
    terminal.type("again")
    terminal.press("Enter")
    terminal.until("api is already running in", gone=("Continue from",))
    terminal.press("n")
    terminal.until("starts from this document")
    terminal.press("C-u")
    terminal.type("again")
    terminal.press("Tab")
    terminal.type("elsewhere")
    terminal.press("Enter")
    terminal.until("History", gone=("Continue from",))

    def names() -> list[str]:
        return [row.name for row in flight.do(flight.cockpit.client.status()).agents]

    flight.wait_for(lambda: "again" in names())
    row = flight.until(lambda row: row.session_id and row.pid, "again")
    assert row.directory == str(elsewhere)
    assert "Count the steps." in str(flight.do(flight.cockpit.client.history("again")))

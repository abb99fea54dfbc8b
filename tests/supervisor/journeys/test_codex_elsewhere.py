"""A session of Codex itself that the user started, listed and adopted. The model is simulated."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import pytest

from cockpit.config.kernel import USES_LINUX
from cockpit.demo.conversation import TokenCount
from cockpit.wire.verbs import Adopt, Send
from tests.supervisor.journeys.cli_model import SLOW, bash, say
from tests.supervisor.journeys.codex_pilot import CODEX, CodexPilot
from tests.supervisor.journeys.user_terminal import Tmux, listed, user_terminal

if TYPE_CHECKING:
    from cockpit.demo.conversation import Reply, Request
    from tests.supervisor.conftest import Cockpit

pytestmark = [
    pytest.mark.tmux,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CODEX is None, reason="codex is not installed: make clis"),
    pytest.mark.skipif(not USES_LINUX, reason="only Linux names the holder of a lock"),
]

READY = "Ask Codex to do anything"
"""Shown in an empty composer."""


def answer(request: Request) -> Reply:
    """A model that works for long when it is told so."""
    if not request.has_tools:
        return say("A title")
    if "Work for long." in request.latest:
        return bash("sleep 63", 40_000)
    return say("Done.", 30_000)


@pytest.fixture
def pilot(cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch) -> Iterator[CodexPilot]:
    made = CodexPilot(cockpit, answer)
    monkeypatch.setenv("CODEX_HOME", str(made.folder))
    monkeypatch.setenv("LAB_KEY", "made up")
    yield made
    made.model.stop()


def codex(cockpit: Cockpit, prompt: str) -> AbstractContextManager[Tmux]:
    program = cockpit.home / "bin" / "codex"
    return user_terminal(cockpit, f"{program} --no-daemon -- '{prompt}'")


async def test_a_session_without_hooks_is_found_by_its_open_files(
    cockpit: Cockpit, pilot: CodexPilot
) -> None:
    settings = pilot.folder / "config.toml"
    settings.write_text(settings.read_text() + "[features]\nhooks = false\n")
    async with cockpit.flying(pilot.table()):
        await cockpit.start()
        last = TokenCount(cache_read=30_000)
        row = await cockpit.until(
            lambda row: row.state == "idle" and row.context.tokens == last.context + last.output,
            within=SLOW,
        )
        assert row.transcript is not None
        assert cockpit.supervisor is not None
        found = cockpit.supervisor.fleet.agent("api").cli_session
        assert found is not None
        assert found in row.transcript


@pytest.mark.long
async def test_a_session_is_found_again_without_the_database(
    cockpit: Cockpit, pilot: CodexPilot
) -> None:
    async with cockpit.flying(pilot.table()):
        await cockpit.start()
        before = await cockpit.until(lambda row: row.state == "idle", within=SLOW)
    for path in cockpit.places.database.parent.glob(f"{cockpit.places.database.name}*"):
        path.unlink()
    async with cockpit.flying():
        row = await cockpit.until(lambda row: row.context.tokens is not None, within=SLOW)
        assert (row.pid, row.transcript) == (before.pid, before.transcript)
        assert (row.session_id or "none") in (row.transcript or "")


@pytest.mark.long
async def test_a_turn_that_adopting_interrupts_leaves_no_process_and_can_go_on(
    cockpit: Cockpit, pilot: CodexPilot
) -> None:
    async with cockpit.flying(pilot.table()) as supervisor:
        with codex(cockpit, "Work for long."):
            row = await listed(
                supervisor, lambda row: row.status == "busy" and row.context.tokens is not None
            )
            await cockpit.ask(Adopt(session=row.session_id, name="mine"))
            mine = await cockpit.until(lambda row: row.pid, "mine", within=SLOW)
            assert (mine.session_id, mine.transcript) == (row.session_id, row.transcript)
            sleeping = subprocess.run(
                ["pgrep", "-f", "^sleep 63"], capture_output=True, text=True, check=False
            )
            assert sleeping.stdout == ""
            pane = mine.pane or ""
            await cockpit.until(
                lambda row: (
                    row.state == "idle" and READY in cockpit.tmux("capture-pane", "-p", "-t", pane)
                ),
                "mine",
                within=SLOW,
            )
            await cockpit.ask(Send(name="mine", text="Go on."))
            await cockpit.until(
                lambda _: any(
                    "Work for long." in each.everything and "Go on." in each.latest
                    for each in pilot.model.requests
                ),
                "mine",
                within=SLOW,
            )

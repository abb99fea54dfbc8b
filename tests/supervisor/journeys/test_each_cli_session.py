"""A session of each CLI: its tokens, what ends its turn, its dialogs, and how it goes on.

What only one CLI does is in the file of that CLI.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from cockpit.config.kernel import USES_LINUX
from cockpit.core.errors import NotNow
from cockpit.demo.conversation import ApiError, Reply, Request
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Adopt, Send, Stop
from tests.supervisor.journeys import codex_pilot, copilot_pilot, gemini_pilot, opencode_pilot
from tests.supervisor.journeys.cli_model import SLOW, bash, say
from tests.supervisor.journeys.cli_pilot import CliPilot, Pilots
from tests.supervisor.journeys.user_terminal import listed, user_terminal

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = [pytest.mark.tmux, pytest.mark.timeout(900)]
long = pytest.mark.long
each_but_claude = pytest.mark.parametrize("name", ["codex", "gemini", "copilot", "opencode"])


class Told(NamedTuple):
    """What a row says of a session of this CLI, and what its pane shows."""

    window: int
    confidence: str
    compacts_at: float
    model: str
    argument: bytes
    """An argument without which the CLI does not work in a pane of cockpit's."""
    at_rest: str
    """Shown in a pane in which the session waits for a prompt."""


TOLD = {
    "codex": Told(
        codex_pilot.NAMED,
        "reported",
        0.9 * codex_pilot.WINDOW,
        "lab",
        b"--no-daemon",
        "Ask Codex to do anything",
    ),
    "gemini": Told(
        gemini_pilot.WINDOW,
        "derived",
        gemini_pilot.WINDOW / 2,
        "gemini-2.5-pro",
        b"--session-id",
        "Type your message",
    ),
    "copilot": Told(
        copilot_pilot.WINDOW, "reported", 0.8 * copilot_pilot.WINDOW, "lab", b"", "Done."
    ),
    "opencode": Told(
        opencode_pilot.WINDOW,
        "reported",
        opencode_pilot.WINDOW - opencode_pilot.REPLY,
        "lab/large",
        b"",
        "Done.",
    ),
}


def done(_: Request) -> Reply:
    return say("Done.", tokens=30_001)


def shows(cockpit: Cockpit, row: AgentStatus, text: str) -> bool:
    return text in cockpit.tmux("capture-pane", "-p", "-t", row.pane or "")


def prompted(flown: CliPilot) -> int:
    """How often the model was asked to work."""
    return sum(request.has_tools for request in flown.model.requests)


@pytest.mark.parametrize(
    "name",
    ["codex", *(pytest.param(name, marks=long) for name in ("gemini", "copilot", "opencode"))],
)
async def test_its_tokens_are_read_as_the_model_counted_them(
    cockpit: Cockpit, name: str, pilots: Pilots
) -> None:
    told, flown = TOLD[name], pilots.working(done)
    async with cockpit.flying(flown.table()):
        started = await cockpit.start()
        tokens = flown.counted(30_001)
        # A hook can tell that a turn is over before the last reply is read from the record.
        row = await cockpit.until(
            lambda row: row.state == "idle" and row.context.tokens == tokens, within=SLOW
        )
        assert (row.context.window, row.context.confidence) == (told.window, told.confidence)
        assert (row.context.compacts_at, row.context.compacts_at_source) == (
            told.compacts_at,
            "formula",
        )
        assert (row.model, row.note) == (told.model, None)
        assert flown.transcripts in Path(row.transcript or "").parents
        ident = row.cli_session_id or row.session_id
        assert (row.cli_session_id is not None) == (name in {"codex", "opencode"})
        assert str(ident)[:8] in str(row.transcript)
        (chain,) = await cockpit.client.history(None)
        assert chain.sessions[0].cli_id == row.cli_session_id
        words = Path(f"/proc/{started.pid}/cmdline").read_bytes()
        assert b"Count the steps" not in words
        assert told.argument in words
        assert flown.prompt in flown.model.requests[-1].everything


@long
@each_but_claude
async def test_a_session_goes_on_after_a_stop(cockpit: Cockpit, pilots: Pilots) -> None:
    flown = pilots.working(done)
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        before = await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Stop(name="api"))
        asked = prompted(flown)
        await cockpit.start(resume="last", prompt="Go on.")
        after = await cockpit.until(
            lambda row: row.state == "idle" and row.pid and prompted(flown) > asked, within=SLOW
        )
        assert (after.session_id, after.transcript) == (before.session_id, before.transcript)
        assert after.session_number == 1
        await cockpit.ask(Stop(name="api"))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("claude", marks=pytest.mark.claude),
        *(pytest.param(name, marks=long) for name in ("codex", "copilot", "opencode")),
    ],
)
async def test_an_error_of_the_api_is_told(cockpit: Cockpit, pilots: Pilots) -> None:
    failed = Reply(error=ApiError(400, "invalid_request_error", "No such thing"))
    flown = pilots.working(lambda _: failed)
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "failed"
        assert "No such thing" in row.needs.detail


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("claude", marks=[pytest.mark.claude, long]),
        *(pytest.param(name, marks=long) for name in ("copilot", "opencode")),
    ],
)
async def test_a_usage_limit_is_told(cockpit: Cockpit, pilots: Pilots) -> None:
    limited = Reply(error=ApiError(429, "rate_limit_error", "Usage limit reached"))
    flown = pilots.working(lambda _: limited)
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "usage_limit"


@long
@pytest.mark.parametrize("name", ["codex", "copilot"])
async def test_a_folder_that_is_not_trusted_is_told(cockpit: Cockpit, pilots: Pilots) -> None:
    flown = pilots.working(done)
    flown.trust()
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "trust"
        before = cockpit.tmux("capture-pane", "-p", "-t", row.pane or "")
        # As if the dialog was opened since the last look at the pane.
        assert cockpit.supervisor is not None
        agent = cockpit.supervisor.fleet.agent("api")
        agent.troubles.dialog = None
        with pytest.raises(NotNow, match="asking a question"):
            await cockpit.ask(Send(name="api", text="Trust me."))
        assert cockpit.tmux("capture-pane", "-p", "-t", row.pane or "") == before
    assert not prompted(flown)


@long
@pytest.mark.parametrize("name", ["copilot", "opencode"])
async def test_a_permission_dialog_is_told_and_answered(cockpit: Cockpit, pilots: Pilots) -> None:
    command = "touch once"
    flown = pilots.working(
        lambda request: (
            say("Done.")
            if any(call.input.get("command") == command for call in request.calls_made)
            else bash(command)
        )
    )
    async with cockpit.flying(flown.table(permission="acceptEdits")):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert (row.needs.kind, row.needs.tool) == ("permission", "Bash")
        assert row.needs.command == command

        def answered(row: AgentStatus) -> bool:
            """The hook runs before the dialog is drawn, and keys before that are lost."""
            if row.needs:
                cockpit.tmux("send-keys", "-t", row.pane or "", "Enter")
            return row.state == "idle" and not row.needs

        await cockpit.until(answered, within=SLOW)
        assert (cockpit.repository / "once").exists()


@long
@pytest.mark.parametrize(
    ("name", "in_a_turn"), [("copilot", "esc interrupt"), ("opencode", "sleep 60")]
)
async def test_an_interrupted_turn_is_idle(
    cockpit: Cockpit, pilots: Pilots, in_a_turn: str
) -> None:
    flown = pilots.working(lambda _: bash("sleep 60"))
    async with cockpit.flying(flown.table()):
        started = await cockpit.start()
        await cockpit.until(lambda _: shows(cockpit, started, in_a_turn), within=SLOW)

        def idle(row: AgentStatus) -> bool:
            """Escape counts only when it is pressed twice within some seconds."""
            if row.state != "idle":
                cockpit.tmux("send-keys", "-t", row.pane or "", "Escape")
            return row.state == "idle"

        await cockpit.until(idle, within=SLOW)


@long
@pytest.mark.parametrize(
    ("name", "in_a_turn"), [("copilot", "esc interrupt"), ("opencode", "sleep 61")]
)
async def test_it_ends_politely_and_leaves_nothing(
    cockpit: Cockpit, pilots: Pilots, in_a_turn: str
) -> None:
    flown = pilots.working(lambda _: bash("sleep 61"))
    async with cockpit.flying(flown.table()):
        row = await cockpit.start()
        await cockpit.until(lambda _: shows(cockpit, row, in_a_turn), within=SLOW)
        await cockpit.ask(Stop(name="api"))
        assert cockpit.living(row) == []


@pytest.mark.parametrize(
    ("name", "confidence"),
    [
        pytest.param(
            "codex",
            "reported",
            marks=pytest.mark.skipif(
                not USES_LINUX, reason="only Linux names the holder of a lock"
            ),
        ),
        pytest.param("gemini", "derived", marks=long),
        pytest.param("copilot", "reported", marks=long),
        # Its database does not have the size of the model's window.
        pytest.param("opencode", "assumed", marks=long),
    ],
)
async def test_a_session_that_the_user_started_is_listed_and_adopted(
    cockpit: Cockpit,
    name: str,
    confidence: str,
    pilots: Pilots,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told, flown = TOLD[name], pilots.answering(done)
    for variable, text in flown.environment().items():
        monkeypatch.setenv(variable, text)
    async with cockpit.flying(flown.table()) as supervisor:
        assert await supervisor.elsewhere.rows() == []
        with user_terminal(cockpit, flown.typed("Keep a word.")) as tmux:
            row = await listed(supervisor, lambda row: row.status == "idle" and row.context.tokens)
            assert (row.runtime, row.directory) == (name, str(cockpit.repository))
            assert (row.goal, row.refusal, row.model) == ("Keep a word.", None, told.model)
            assert row.context.tokens == flown.counted(30_001)
            assert row.context.confidence == confidence
            assert row.context.window == told.window or confidence == "assumed"

            await cockpit.ask(Adopt(session=row.session_id, name="mine"))
            mine = await cockpit.until(
                lambda row: row.pid and row.context.tokens, "mine", within=SLOW
            )
            assert mine.session_id == row.session_id
            # opencode's plugin copies the transcript to another folder as soon as it has started.
            found = Path(row.transcript or "")
            copy = found.parents[1] / "opencode" / found.name
            assert Path(mine.transcript or "") in {found, *([copy] if name == "opencode" else [])}
            assert (mine.runtime, mine.goal) == (name, "Keep a word.")
            # The terminal is as it was before the CLI, and says where the session is.
            assert "cockpit attach mine" in tmux("capture-pane", "-p")
            assert tmux("display-message", "-p", "#{alternate_on}") == "0\n"
            assert await supervisor.elsewhere.rows() == []
            await cockpit.until(
                lambda row: (
                    row.state not in {"starting", "working"} and shows(cockpit, row, told.at_rest)
                ),
                "mine",
                within=SLOW,
            )
            await cockpit.ask(Send(name="mine", text="And another."))
            await cockpit.until(
                lambda _: any(
                    "Keep a word." in each.everything and "And another." in each.everything
                    for each in flown.model.requests
                ),
                "mine",
                within=SLOW,
            )

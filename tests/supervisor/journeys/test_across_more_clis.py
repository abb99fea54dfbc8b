"""A job that moves from Claude Code to opencode, to Copilot and back, with the real programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.core.prompt_files import prompt_files_in
from cockpit.demo.conversation import DOCUMENT_PATH, Reply, Request, TokenCount, ToolCall
from cockpit.demo.job import EVERYTHING
from cockpit.demo.model import ModelServer
from cockpit.demo.scratch import agent_environment, put_onboarding, table
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Handoff, Stop, Undo
from tests.journeys.real_agent import DOCUMENT
from tests.supervisor.journeys.copilot_pilot import COPILOT, CopilotPilot
from tests.supervisor.journeys.opencode_pilot import OPENCODE, OpencodePilot

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

SLOW = 240.0
KEY = "sk-ant-made-up-0123456789abcdefghij"

pytestmark = [
    pytest.mark.long,
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        OPENCODE is None or COPILOT is None,
        reason="opencode and copilot are not installed: make clis",
    ),
]


def answer(request: Request) -> Reply:
    """A model that opens its prompt, reads the document that is named in it, writes the one that is
    asked for, and then works."""
    if not request.has_tools:
        return Reply("A title")
    done = request.calls_made
    opened = [call.path for call in done if call.name == "Read"]
    files = prompt_files_in(request.opening)
    if request.model == "lab" and files[0] not in opened:
        return Reply(tool_calls=(ToolCall("Read", {"file_path": files[0]}),))
    named = DOCUMENT_PATH.findall(request.everything if request.model == "lab" else request.opening)
    if named and len(opened) < (2 if request.model == "lab" else 1):
        return Reply(tool_calls=(ToolCall("Read", {"file_path": named[-1]}),))
    tokens = TokenCount(cache_read=30_000 + 100 * len(done))
    if request.document_asked is not None:
        call = ToolCall("Write", {"file_path": request.document_asked, "content": DOCUMENT})
        return Reply(tool_calls=(call,), tokens=tokens)
    if request.documents_written or len(done) > 60:
        return Reply("Done.", tokens=tokens)
    call = ToolCall("Bash", {"command": f"sleep 0.3; echo step {len(done)}"})
    return Reply(tool_calls=(call,), tokens=tokens)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(answer) as server:
        yield server


def agent(cockpit: Cockpit, model: ModelServer, environment: dict[str, str]) -> str:
    """An agent of the real Claude Code, with what the other two need."""
    claude, program = cockpit.home / "claude", cockpit.home / "bin" / "claude"
    claude.mkdir(exist_ok=True)
    put_onboarding(claude, KEY, cockpit.repository)
    known = claude / ".claude.json"
    accepted = {**json.loads(known.read_text()), "bypassPermissionsModeAccepted": True}
    known.write_text(json.dumps(accepted))
    bundled = bundled_path()
    assert bundled is not None
    program.unlink(missing_ok=True)
    program.symlink_to(bundled)
    env = {
        **agent_environment(KEY, model.url),
        "CLAUDE_CONFIG_DIR": str(claude),
        "IS_SANDBOX": "1",  # else Claude Code refuses the widest mode to root
        **environment,
    }
    return (
        "[[agents]]\nname = 'api'\nruntime = 'claude'\nmodel = 'claude-sonnet-5-5'\nmode = 'auto'\n"
        "permission_mode = 'bypassPermissions'\n"
        f"arguments = ['--allowedTools', {json.dumps(EVERYTHING)}]\n"
        f"directory = {json.dumps(str(cockpit.repository))}\nprompt = 'Count the steps.'\n"
        f"env = {table(env)}\n"
    )


def has_read(model: ModelServer, document: str) -> bool:
    return any(
        call.name == "Read" and call.path == document
        for request in model.requests
        for call in request.calls_made
    )


async def handed_to(cockpit: Cockpit, model: ModelServer, cli: str, told: str) -> AgentStatus:
    """Hand the job to a CLI, and wait until its session has read the document of the one before."""
    before = (await cockpit.row()).handoffs
    await cockpit.ask(Handoff(name="api", to=cli))
    row = await cockpit.until(
        lambda row: row.handoffs == before + 1 and row.handoff is None, within=SLOW
    )
    assert row.runtime == cli
    (chain,) = await cockpit.client.history("api")
    paper = str(chain.sessions[-2].document)
    await cockpit.until(lambda _: has_read(model, paper), within=SLOW)
    assert f"runs in {told}" in Path(paper).read_text()
    await cockpit.until(lambda row: row.context.tokens, within=SLOW)
    return row


async def test_a_job_goes_to_opencode_to_copilot_and_back(
    cockpit: Cockpit, model: ModelServer
) -> None:
    opencode = OpencodePilot(cockpit, answer, model)
    copilot = CopilotPilot(cockpit, answer, model)
    environment = opencode.environment() | copilot.environment()
    async with cockpit.flying(agent(cockpit, model, environment)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.context.tokens and row.activity, within=SLOW)
        second = await handed_to(cockpit, model, "opencode", "opencode")
        third = await handed_to(cockpit, model, "copilot", "GitHub Copilot CLI")
        fourth = await handed_to(cockpit, model, "claude", "Claude Code")
        assert {row.pane for row in (second, third, fourth)} == {first.pane}
        assert {row.directory for row in (second, third, fourth)} == {first.directory}
        (chain,) = await cockpit.client.history("api")
        runtimes = [each.runtime for each in chain.sessions]
        assert runtimes == ["claude", "opencode", "copilot", "claude"]
        await cockpit.ask(Undo(name="api"))
        back = await cockpit.until(
            lambda row: row.runtime == "copilot" and row.pid not in (None, fourth.pid), within=SLOW
        )
        assert back.session_id == third.session_id
        await cockpit.ask(Stop(name="api"))

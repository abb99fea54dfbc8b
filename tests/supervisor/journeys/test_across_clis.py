"""A job that moves between CLIs: Claude Code, Codex and back, with the real programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.core.prompt_files import prompt_files_in
from cockpit.demo.conversation import DOCUMENT_PATH, Reply, Request, TokenCount, ToolCall
from cockpit.demo.job import EVERYTHING
from cockpit.demo.scratch import agent_environment, put_onboarding, table
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff, Stop, Undo
from tests.journeys.real_agent import DOCUMENT
from tests.journeys.short_session import SHORT_SESSION
from tests.supervisor.conftest import Cockpit
from tests.supervisor.journeys.codex_pilot import CODEX, CodexPilot
from tests.supervisor.journeys.gemini_pilot import GEMINI, GeminiPilot

SLOW = 240.0
KEY = "sk-ant-made-up-0123456789abcdefghij"

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CODEX is None, reason="codex is not installed: make clis"),
]


def answer(request: Request) -> Reply:
    """A model that reads what it is told to read, writes what it is asked for, and then works."""
    if not request.has_tools:
        return Reply("A title")
    done = request.calls_made
    tokens = TokenCount(cache_read=30_000 + 100 * len(done))
    by_file = not request.model.startswith("claude")
    if not done and by_file:
        command = f"cat {prompt_files_in(request.everything)[0]}"
        return Reply(tool_calls=(ToolCall("Bash", {"command": command}),), tokens=tokens)
    named = request.documents_named
    if by_file and len(done) == 1:  # its prompt is in the file that it has just opened
        named = tuple(DOCUMENT_PATH.findall(request.everything))
    in_gemini = request.model.startswith("gemini")
    if in_gemini and named and len(done) == 1:
        return Reply(tool_calls=(ToolCall("Bash", {"command": f"cat {named[-1]}"}),), tokens=tokens)
    if named and not in_gemini and not any(call.path == named[-1] for call in done):
        return Reply(tool_calls=(ToolCall("Read", {"file_path": named[-1]}),), tokens=tokens)
    if request.document_asked is not None:
        call = ToolCall("Write", {"file_path": request.document_asked, "content": DOCUMENT})
        return Reply(tool_calls=(call,), tokens=tokens)
    if request.documents_written or len(done) > 60:
        return Reply("Done.", tokens=tokens)
    if in_gemini:
        return Reply(tool_calls=(ToolCall("Read", {"file_path": "README.md"}),), tokens=tokens)
    call = ToolCall("Bash", {"command": f"sleep 0.3; echo step {len(done)}"})
    return Reply(tool_calls=(call,), tokens=tokens)


@pytest.fixture
def pilot(cockpit: Cockpit) -> Iterator[CodexPilot]:
    made = CodexPilot(cockpit, answer)
    yield made
    made.model.stop()


def agent(pilot: CodexPilot, mode: str = "auto", more: str = "", permission: str = "") -> str:
    """An agent of the real Claude Code, with what Codex needs too."""
    cockpit = pilot.cockpit
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
        **agent_environment(KEY, pilot.model.url),
        **SHORT_SESSION,
        "CLAUDE_CONFIG_DIR": str(claude),
        "CODEX_HOME": str(pilot.folder),
        "LAB_KEY": "made up",
        "GEMINI_CLI_HOME": str(cockpit.home / "gemini"),
        "GEMINI_API_KEY": "made up",
        "GOOGLE_GEMINI_BASE_URL": pilot.model.url,
        "IS_SANDBOX": "1",  # else Claude Code refuses the widest mode to root
    }
    return (
        "[[agents]]\nname = 'api'\nruntime = 'claude'\nmodel = 'claude-sonnet-5-5'\n"
        f"mode = '{mode}'\npermission_mode = '{permission or 'bypassPermissions'}'\n"
        f"arguments = ['--allowedTools', {json.dumps(EVERYTHING)}]\n"
        f"directory = {json.dumps(str(cockpit.repository))}\nprompt = 'Count the steps.'\n"
        f"env = {table(env)}\n{more}\n"
    )


def swapped(handoffs: int) -> Callable[[AgentStatus], bool]:
    return lambda row: row.handoffs == handoffs and row.handoff is None


@pytest.mark.long
@pytest.mark.skipif(GEMINI is None, reason="gemini is not installed: make clis")
async def test_a_job_goes_through_three_clis_and_back(cockpit: Cockpit, pilot: CodexPilot) -> None:
    gemini = GeminiPilot(cockpit, answer, pilot.model)
    gemini.link()
    async with cockpit.flying(agent(pilot)):
        first = await cockpit.start()
        await cockpit.until(lambda row: row.context.tokens and row.activity, within=SLOW)
        await cockpit.ask(Handoff(name="api", to="codex"))
        second = await cockpit.until(swapped(1), within=SLOW)
        assert (first.runtime, second.runtime) == ("claude", "codex")
        assert (second.pane, second.directory) == (first.pane, first.directory)
        assert second.configured_runtime == "claude"
        (chain,) = await cockpit.client.history("api")
        first_paper = str(chain.sessions[0].document)
        await cockpit.until(lambda _: pilot.has_read(first_paper), within=SLOW)
        assert "runs in Codex" in Path(first_paper).read_text()
        assert (
            await cockpit.until(lambda row: row.context.tokens, within=SLOW)
        ).context.window == 95_000

        await cockpit.ask(Handoff(name="api", to="gemini"))
        third = await cockpit.until(swapped(2), within=SLOW)
        assert (third.runtime, third.pane) == ("gemini", first.pane)
        (chain,) = await cockpit.client.history("api")
        second_paper = str(chain.sessions[1].document)
        await cockpit.until(lambda _: gemini.has_read(second_paper), within=SLOW)
        assert "runs in Gemini CLI" in Path(second_paper).read_text()

        await cockpit.ask(Handoff(name="api", to="claude"))
        fourth = await cockpit.until(swapped(3), within=SLOW)
        (chain,) = await cockpit.client.history("api")
        runtimes = [each.runtime for each in chain.sessions]
        assert runtimes == ["claude", "codex", "gemini", "claude"]
        third_paper = str(chain.sessions[2].document)
        await cockpit.until(lambda _: pilot.has_read(third_paper), within=SLOW)
        assert "runs in Claude Code" in Path(third_paper).read_text()

        await cockpit.ask(Undo(name="api"))
        back = await cockpit.until(
            lambda row: row.runtime == "gemini" and row.pid not in (None, fourth.pid), within=SLOW
        )
        assert back.session_id == third.session_id
        await cockpit.ask(Stop(name="api"))


@pytest.mark.long
@pytest.mark.parametrize("mode", ["default", "acceptEdits"])
async def test_a_mode_without_a_counterpart_is_asked_about_and_never_widened(
    cockpit: Cockpit, pilot: CodexPilot, mode: str
) -> None:
    """Codex runs commands in its sandbox without asking, also where it edits."""
    async with cockpit.flying(agent(pilot, permission=mode)) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.context.tokens and row.activity, within=SLOW)
        done = await cockpit.ask(Handoff(name="api", to="codex"))
        assert f"Codex has no permission mode like {mode!r}" in done.message
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert (row.needs.kind, row.handoff and row.handoff.to) == ("handoff", "codex")
        assert "'plan'" in row.needs.detail
        await cockpit.ask(Approve(name="api", straight=True))
        second = await cockpit.until(swapped(1), within=SLOW)
        assert second.runtime == "codex"
        told = Path(f"/proc/{second.pid}/cmdline").read_bytes().split(b"\0")
        assert told[told.index(b"--sandbox") + 1] == b"read-only"
        # The mode of the job stays: a session of Claude Code after it has this mode again.
        session = supervisor.fleet.agent("api").session
        assert session is not None
        assert (session.number, session.permission_mode) == (2, mode)
        await cockpit.ask(Stop(name="api"))


@pytest.mark.long
async def test_a_mode_chosen_in_a_cli_is_the_one_that_it_gets_again(
    cockpit: Cockpit, pilot: CodexPilot
) -> None:
    """Codex has no mode like Claude Code's `default`: it may do no more, and Claude no less."""
    standin = {"STANDIN_STEPS": "9", "STANDIN_PAUSE": "2", "STANDIN_STEP_TOKENS": "100"}
    env = {"CODEX_HOME": str(pilot.folder), "LAB_KEY": "made up", "STANDIN_PACE": "0.05", **standin}
    job = (
        "[[agents]]\nname = 'api'\nruntime = 'codex'\nmode = 'prompt'\n"
        "permission_mode = 'acceptEdits'\n"
        f"directory = {json.dumps(str(cockpit.repository))}\nprompt = 'Count the steps.'\n"
        f"env = {table(env)}\n[agents.handoff]\nwriters = ['facts']\n"
    )

    async def hand_over(to: str, number: int) -> AgentStatus:
        await cockpit.ask(Handoff(name="api", to=to))
        await cockpit.until(lambda row: row.needs, within=SLOW)
        await cockpit.ask(Approve(name="api", straight=True))
        return await cockpit.until(swapped(number), within=SLOW)

    def modes(row: AgentStatus) -> list[str]:
        lines = [line for line in cockpit.said(row) if line["type"] == "permission-mode"]
        return [line["permissionMode"] for line in lines]

    async with cockpit.flying(job) as supervisor:
        await cockpit.start()
        await cockpit.until(lambda row: row.context.tokens, within=SLOW)
        second = await hand_over("claude", 1)
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        for presses in (2, 3):
            cockpit.tmux("send-keys", "-t", str(second.pane), "BTab")
            await cockpit.until(lambda row, told=presses: len(modes(row)) >= told)  # type: ignore[misc]
        assert modes(second) == ["acceptEdits", "plan", "default"]
        seen = supervisor.fleet.agent("api").session_state
        await cockpit.until(lambda _: seen.permission_mode == "default")

        third = await hand_over("codex", 2)
        assert third.runtime == "codex"
        told = Path(f"/proc/{third.pid}/cmdline").read_bytes().split(b"\0")
        assert told[told.index(b"--sandbox") + 1] == b"read-only"
        await cockpit.until(lambda row: row.context.tokens, within=SLOW)

        fourth = await hand_over("claude", 3)
        assert fourth.runtime == "claude"
        await cockpit.until(lambda row: row.transcript and modes(row))
        assert modes(await cockpit.row())[0] == "default"
        await cockpit.ask(Stop(name="api"))


@pytest.mark.long
async def test_a_cli_chosen_in_the_question_is_asked_about_too(
    cockpit: Cockpit, pilot: CodexPilot
) -> None:
    env = {"CODEX_HOME": str(pilot.folder), "LAB_KEY": "made up", "STANDIN_PACE": "0.1"}
    standin = (
        "[[agents]]\nname = 'api'\nmode = 'prompt'\npermission_mode = 'default'\n"
        f"directory = {json.dumps(str(cockpit.repository))}\nprompt = 'Count the steps.'\n"
        f"env = {table(env | {'STANDIN_STEP_TOKENS': '60000', 'STANDIN_STEPS': '60'})}\n"
    )
    async with cockpit.flying(standin):
        await cockpit.start()
        await cockpit.until(lambda row: row.handoff and row.handoff.phase == "asked")
        done = await cockpit.ask(Handoff(name="api", to="codex"))
        assert "Codex has no permission mode like 'default'" in done.message
        row = await cockpit.row()
        assert row.handoff is not None
        assert row.needs is not None
        assert (row.handoff.phase, row.handoff.to) == ("asked", "codex")
        assert "Codex has no permission mode like 'default'" in row.needs.detail
        await cockpit.ask(Approve(name="api"))
        await cockpit.until(lambda row: row.handoff and row.handoff.phase != "asked")
        await cockpit.ask(Stop(name="api"))


def limited(pilot: CodexPilot, mode: str) -> str:
    """A stand-in for Claude Code that reaches its usage limit, with Codex as its successor."""
    env = {
        "CODEX_HOME": str(pilot.folder),
        "LAB_KEY": "made up",
        "STANDIN_PACE": "0.05",
        "STANDIN_FAULTS": "limited",
    }
    return (
        f"[[agents]]\nname = 'api'\nmode = '{mode}'\npermission_mode = 'bypassPermissions'\n"
        f"directory = {json.dumps(str(pilot.cockpit.repository))}\nprompt = 'Count the steps.'\n"
        f"env = {table(env)}\n[agents.handoff]\nsuccessor = 'codex'\non_limit = 'hand_over'\n"
    )


async def test_a_usage_limit_hands_the_job_over_to_the_next_cli(
    cockpit: Cockpit, pilot: CodexPilot
) -> None:
    async with cockpit.flying(limited(pilot, "auto")):
        await cockpit.start()
        second = await cockpit.until(swapped(1), within=SLOW)
        assert second.runtime == "codex"
        (chain,) = await cockpit.client.history("api")
        (handed,) = chain.sessions[0].handoffs
        assert (handed.reason, handed.writer) == ("limit", "facts")
        paper = str(chain.sessions[0].document)
        await cockpit.until(lambda _: pilot.has_read(paper), within=SLOW)
        await cockpit.ask(Stop(name="api"))


@pytest.mark.long
async def test_a_usage_limit_asks_first_where_the_user_is_asked(
    cockpit: Cockpit, pilot: CodexPilot
) -> None:
    async with cockpit.flying(limited(pilot, "prompt")):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.handoff, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "handoff"
        assert "usage limit reached" in row.needs.detail
        assert row.handoff is not None
        assert (row.handoff.phase, row.handoff.to) == ("asked", "codex")
        await cockpit.ask(Stop(name="api"))

"""Agents that ended are put away: forgotten, or under another name. What they did stays."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from cockpit.core.errors import BadUsage, NoSuchAgent, NotNow, ProgramMissing
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import (
    Approve,
    Continue,
    Down,
    Forget,
    Handoff,
    Plan,
    Rename,
    Start,
    Stop,
)

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux
AGENT: dict[str, Any] = {"mode": "prompt", "steps": 9, "pause": 2, "step_tokens": 100}


def new(cockpit: Cockpit) -> Start:
    """An agent that no file defines, in a worktree of its own."""
    where = str(cockpit.repository)
    return Start(name="web", cwd=where, worktree=True, prompt="Count the steps.")


async def names(cockpit: Cockpit) -> list[str]:
    return [row.name for row in (await cockpit.client.status()).agents]


def ended(row: AgentStatus) -> bool:
    return row.pid is None


async def handed_off(cockpit: Cockpit, name: str = "api") -> AgentStatus:
    """Hand the agent's job to a second session, then stop the agent."""
    await cockpit.start(name)
    await cockpit.until(lambda row: row.state == "idle", name)
    await cockpit.ask(Handoff(name=name))
    await cockpit.until(lambda row: row.needs and row.needs.kind == "review", name)
    await cockpit.ask(Approve(name=name))
    await cockpit.until(lambda row: row.session_number == 2 and row.handoff is None, name)
    await cockpit.ask(Stop(name=name))
    return await cockpit.until(ended, name)


async def test_a_forgotten_agent_leaves_its_history_and_files(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(**AGENT)):
        await cockpit.ask(new(cockpit))
        row = await cockpit.until(lambda row: row.needs and row.needs.kind == "handoff", "web")
        worktree = row.worktree
        await cockpit.ask(Approve(name="web"))
        await cockpit.until(lambda row: row.needs and row.needs.kind == "review", "web")
        await cockpit.ask(Approve(name="web"))
        row = await cockpit.until(lambda row: row.session_number == 2 and not row.handoff, "web")
        await cockpit.ask(Stop(name="web"))
        pane = (await cockpit.until(ended, "web")).pane
        history = await cockpit.client.history("web")
        handoff = history[0].sessions[0].handoff or ""
        text = await cockpit.client.document(handoff)
        done = await cockpit.ask(Forget(name="web"))
        assert done.message.startswith("Forgot web; its history and documents are kept")
        assert worktree is not None
        assert f"worktree {worktree}" in done.message
        assert "web" not in await names(cockpit)
        assert pane is None or pane not in cockpit.tmux("list-panes", "-a", "-F", "#{pane_id}")
        assert await cockpit.client.history("web") == history
        assert await cockpit.client.document(handoff) == text
        assert os.path.isdir(worktree)  # noqa: PTH112 (nothing waits for it)
        assert worktree in [tree.directory for tree in await cockpit.client.worktrees()]
        assert row.session_id is not None
    async with cockpit.flying():
        assert "web" not in await names(cockpit)
        (chain,) = await cockpit.client.history("web")
        assert [one.id for one in chain.sessions] == [one.id for one in history[0].sessions]


@pytest.mark.long
async def test_a_configured_agent_comes_back_as_not_started(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(**AGENT)):
        await handed_off(cockpit)
        done = await cockpit.ask(Forget(name="api"))
        assert (
            f"{cockpit.config} defines the agent, so it is listed again as not started"
            in done.message
        )
        row = await cockpit.row()
        assert (row.session_id, row.state, row.session_number) == (None, "stopped", None)
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "idle")
        assert row.session_number == 1
        assert len(await cockpit.client.history("api")) == 2


async def test_a_process_or_a_handoff_keeps_an_agent(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(**AGENT)):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.state == "idle")
        for verb in (Forget(name="api"), Rename(name="api", to="web")):
            refusal = await cockpit.refused(verb)
            assert isinstance(refusal, NotNow)
            assert refusal.title == f"api is running (pid {row.pid})"
            assert refusal.hint == "Stop the agent first: cockpit stop api"
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(lambda row: row.needs and row.needs.kind == "review")
        os.kill(row.pid or 0, signal.SIGKILL)
        await cockpit.until(ended)
        for verb in (Forget(name="api"), Rename(name="api", to="web")):
            refusal = await cockpit.refused(verb)
            assert isinstance(refusal, NotNow)
            assert refusal.title == "A handoff of api is in progress"
        assert isinstance(await cockpit.refused(Forget(name="nobody")), NoSuchAgent)


@pytest.mark.long
async def test_history_and_chain_follow_another_name(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(**AGENT), cockpit.agent("web", **AGENT)):
        row = await handed_off(cockpit)
        history = await cockpit.client.history("api")
        assert isinstance(await cockpit.refused(Rename(name="api", to="web")), NotNow)
        assert isinstance(await cockpit.refused(Rename(name="api", to="Web!")), BadUsage)
        done = await cockpit.ask(Rename(name="api", to="server"))
        assert done.name == "server"
        assert done.message.startswith("Renamed api to server")
        assert f"{cockpit.config} still defines api" in done.message
        now = await cockpit.row("server")
        assert (now.session_id, now.session_number, now.job) == (row.session_id, 2, row.job)
        (chain,) = await cockpit.client.history("server")
        assert chain.agent == "server"
        assert chain.sessions == history[0].sessions
        told = await cockpit.client.events(limit=2000)
        assert not [each for each in told if each.agent == "api" and each.kind == "agent.started"]
        assert (await cockpit.row("api")).session_id is None
    async with cockpit.flying():
        assert (await cockpit.row("server")).session_id == row.session_id
        await cockpit.ask(Start(name="server", resume="last"))
        again = await cockpit.until(lambda row: row.pid, "server")
        assert again.session_id == row.session_id
        assert len(await cockpit.client.history("server")) == 1


@pytest.mark.long
async def test_worktree_and_branch_keep_their_names(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(**AGENT)):
        await cockpit.ask(new(cockpit))
        row = await cockpit.until(lambda row: row.pid and row.context.tokens, "web")
        await cockpit.ask(Stop(name="web"))
        await cockpit.until(ended, "web")
        done = await cockpit.ask(Rename(name="web", to="server"))
        assert f"worktree {row.worktree} and branch {row.branch} keep their names" in done.message
        now = await cockpit.row("server")
        assert (now.worktree, now.branch) == (row.worktree, row.branch)
        if now.pane:
            labels = cockpit.tmux("list-panes", "-a", "-F", "#{@cockpit_label} #{window_name}")
            assert "server server" in labels.splitlines()
        await cockpit.ask(Start(name="server", resume="last"))
        await cockpit.until(lambda row: row.pid, "server")


@pytest.mark.long
async def test_a_document_of_a_forgotten_agent_starts_another(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(**AGENT)):
        await handed_off(cockpit)
        (chain,) = await cockpit.client.history("api")
        document = chain.sessions[1].began_with
        await cockpit.ask(Forget(name="api"))
        assert document is not None
        done = await cockpit.ask(Continue(document=document, name="again"))
        assert done.name == "again"


@pytest.mark.long
async def test_an_end_of_all_agents_keeps_how_the_others_ended(cockpit: Cockpit) -> None:
    never = cockpit.agent("never", **AGENT)
    over = cockpit.agent("over", more='runtime = "command"\ncommand = ["sh", "-c", "exit 3"]')
    async with cockpit.flying(cockpit.agent(**AGENT), never, over):
        await cockpit.start()
        await cockpit.start("over")
        await cockpit.until(lambda row: row.pid and row.state == "idle")
        await cockpit.until(lambda row: row.exit_code == 3, "over")
        await cockpit.ask(Down(agents=True))
    async with cockpit.flying():
        assert (await cockpit.row()).note == "stopped by you"
        assert (await cockpit.row("never")).note is None
        row = await cockpit.row("over")
        assert (row.state, row.exit_code) == ("exited", 3)


async def test_a_plain_command_starts_without_a_configuration(cockpit: Cockpit) -> None:
    async with cockpit.flying(cockpit.agent(**AGENT)):
        where = str(cockpit.repository)
        await cockpit.ask(Start(name="logs", cwd=where, command=["sleep", "600"]))
        row = await cockpit.until(lambda row: row.pid, "logs")
        assert row.runtime == "command"
        refusal = await cockpit.refused(
            Start(name="more", cwd=where, runtime="claude", command=["sleep", "600"])
        )
        assert isinstance(refusal, BadUsage)
        missing = await cockpit.refused(Plan(name="more", cwd=where, runtime="codex"))
        assert isinstance(missing, ProgramMissing)

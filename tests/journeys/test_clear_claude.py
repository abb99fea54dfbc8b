"""What a session of the real Claude Code costs after `/clear`: its own cost, counted from 0."""

from __future__ import annotations

import subprocess

import pytest

from cockpit.wire.verbs import Send, Start
from tests.journeys.real_agent import NO_CLI, RealAgent, real_agent, say

pytestmark = [
    pytest.mark.long,
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(NO_CLI, reason="the SDK of this platform brings no CLI"),
]


def type_in(agent: RealAgent, pane: str, *keys: str) -> None:
    """Keys of somebody who is attached."""
    socket = str(agent.flown.scratch.places.tmux_socket)
    subprocess.run(["tmux", "-S", socket, "send-keys", "-t", pane, *keys], check=True)


def shown(agent: RealAgent, pane: str) -> str:
    socket = str(agent.flown.scratch.places.tmux_socket)
    capture = ["tmux", "-S", socket, "capture-pane", "-p", "-t", pane]
    return subprocess.run(capture, check=True, capture_output=True, text=True).stdout


async def test_the_cost_of_a_session_begins_at_0_after_clear_and_the_job_keeps_both() -> None:
    with real_agent(lambda _: say("Done.", 60_000), arguments="[]") as agent:
        scratch = agent.flown.scratch
        config, directory = str(scratch.config), str(scratch.repository)
        await agent.flown.client.ask(
            Start(name=agent.name, config=config, named=True, prompt="Go on.", directory=directory)
        )
        first = await agent.until(lambda row: row.state in {"idle", "done"} and row.cost_usd)
        assert first.pane is not None
        assert first.chain_cost_usd == pytest.approx(first.cost_usd)

        type_in(agent, first.pane, "-l", "/clear")
        await agent.until(lambda _: "❯ /clear" in shown(agent, first.pane or ""))
        type_in(agent, first.pane, "Enter")
        cleared = await agent.until(lambda row: row.session_number == 2)
        assert not cleared.cost_usd
        await agent.flown.client.ask(Send(name=agent.name, text="Go on."))

        second = await agent.until(lambda row: row.state in {"idle", "done"} and row.cost_usd)
        before = cleared.chain_cost_usd or 0.0
        assert (second.cost_usd or 0.0) < 1.5 * before  # the model's replies are equal
        assert second.chain_cost_usd == pytest.approx(before + (second.cost_usd or 0.0))

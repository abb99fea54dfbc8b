"""The subagents of Claude Code. The model is simulated.

A whole flight, Ctrl-C, and what ends its turn are in the files `test_each_cli*`, dialogs in
`tests/journeys/test_answer_claude`, a compaction in `test_compaction_kept`, and a killed supervisor
in `test_killed_in_flight` there.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from tests.supervisor.journeys.cli_model import SLOW, bash, say, swapped
from tests.supervisor.journeys.cli_pilot import Pilots

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit


pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.timeout(900),
]


@pytest.fixture
def name() -> str:
    return "claude"


@pytest.mark.long
async def test_a_request_does_not_reach_a_subagent(cockpit: Cockpit, pilots: Pilots) -> None:
    asked_inside: list[str] = []
    waits = threading.Event()
    """The request waits for the next tool call."""

    def steps(request: Request) -> Reply:
        if request.documents_named:
            return say("Done.")
        # The subagent runs in the background, so the main agent must have a tool of its own.
        if any(call.name == "Bash" for call in request.calls_made):
            return say("All is well.", tokens=146_000)
        if any(call.name in ("Task", "Agent") for call in request.calls_made):
            waiting = "until [ -e over ]; do sleep 0.2; done"
            return bash(waiting, 145_000, description="a command")
        given = {
            "description": "look",
            "prompt": "SUBTASK: look",
            "subagent_type": "general-purpose",
        }
        name = "Agent" if "Agent" in request.tools else "Task"
        return Reply(tool_calls=(ToolCall(name, given),), tokens=TokenCount(cache_read=20_000))

    def inside(request: Request) -> Reply:
        if request.document_asked:
            asked_inside.append(request.document_asked)
        if not waits.is_set():
            return bash("sleep 0.3; echo before", 5_000, description="a command")
        after = sum("after" in str(call.input) for call in request.calls_made)
        if after > 3:
            return say("The subtask is done.", tokens=6_000)
        command = "echo after" if after < 3 else "touch over; echo after"
        return bash(command, 5_000, description="a command")

    def answer(request: Request) -> Reply:
        is_inside = request.has_tools and "SUBTASK" in request.opening
        return inside(request) if is_inside and not request.documents_named else main(request)

    main = pilots.cli.worker(steps)
    flown = pilots.answering(answer)
    async with cockpit.flying(flown.table("auto")) as supervisor:
        await cockpit.start()
        agent = supervisor.fleet.agent("api")
        await cockpit.until(lambda _: agent.session_state.activity.subagents, within=SLOW)
        row = await cockpit.until(
            lambda row: row.handoff and "next tool call" in (row.handoff.detail or ""), within=SLOW
        )
        waits.set()
        assert row.context.tokens == TokenCount(cache_read=145_000).context  # not the subagent's
        await cockpit.until(swapped, within=SLOW)
        assert not asked_inside
        assert not agent.session_state.activity.subagents
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"

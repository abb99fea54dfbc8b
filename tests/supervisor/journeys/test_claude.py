"""Claude Code itself: what ends its turn, and its subagents. The model is simulated.

A whole flight and Ctrl-C are in `test_each_cli`, dialogs in `tests/journeys/test_answer_claude`, a
compaction in `test_compaction_kept`, and a killed supervisor in `test_killed_in_flight` there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from cockpit.demo.conversation import ApiError, Reply, Request, TokenCount, ToolCall
from cockpit.demo.model import Answer
from tests.journeys.real_agent import DOCUMENT
from tests.supervisor.journeys.claude_pilot import CLAUDE, ClaudePilot
from tests.supervisor.journeys.cli_model import SLOW, bash, made_with_models, say, swapped

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit


pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.timeout(900),
    pytest.mark.skipif(CLAUDE is None, reason="the SDK of this platform brings no CLI"),
]


@pytest.fixture
def pilot(cockpit: Cockpit) -> Iterator[Callable[[Answer], ClaudePilot]]:
    yield from made_with_models(ClaudePilot, cockpit)


def worker(steps: Callable[[Request], Reply]) -> Answer:
    """A model that reads a document that its prompt names, writes the one that is asked for, and
    otherwise does its steps."""

    def answer(request: Request) -> Reply:
        if not request.has_tools:
            return Reply("A title")
        named = request.documents_named
        if named and not request.calls_made:
            return Reply(tool_calls=(ToolCall("Read", {"file_path": named[-1]}),))
        if request.document_asked is not None:
            call = ToolCall("Write", {"file_path": request.document_asked, "content": DOCUMENT})
            return Reply(tool_calls=(call,), tokens=TokenCount(cache_read=145_000))
        return steps(request)

    return answer


async def test_an_error_of_the_api_is_told(
    cockpit: Cockpit, pilot: Callable[[Answer], ClaudePilot]
) -> None:
    failed = Reply(error=ApiError(400, "invalid_request_error", "No such thing"))
    flown = pilot(worker(lambda request: failed))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "failed"
        assert "No such thing" in row.needs.detail


async def test_a_usage_limit_is_told(
    cockpit: Cockpit, pilot: Callable[[Answer], ClaudePilot]
) -> None:
    limited = Reply(error=ApiError(429, "rate_limit_error", "Usage limit reached"))
    flown = pilot(worker(lambda request: limited))
    async with cockpit.flying(flown.table()):
        await cockpit.start()
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert row.needs.kind == "usage_limit"


@pytest.mark.long
async def test_a_request_does_not_reach_a_subagent(
    cockpit: Cockpit, pilot: Callable[[Answer], ClaudePilot]
) -> None:
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

    main = worker(steps)
    flown = pilot(answer)
    async with cockpit.flying(flown.table("auto")) as supervisor:
        await cockpit.start()
        agent = supervisor.fleet.agent("api")
        await cockpit.until(lambda _: agent.session_state.conduct.subagents, within=SLOW)
        row = await cockpit.until(
            lambda row: row.handoff and "next tool call" in (row.handoff.detail or ""), within=SLOW
        )
        waits.set()
        assert row.context.tokens == TokenCount(cache_read=145_000).context  # not the subagent's
        await cockpit.until(swapped, within=SLOW)
        assert not asked_inside
        assert not agent.session_state.conduct.subagents
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"

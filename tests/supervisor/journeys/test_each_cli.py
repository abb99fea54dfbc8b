"""One whole flight of each CLI, in a worktree: its bar against what the model counted, the question
in the middle of a long turn, the document, the review, and the session that reads it.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.wire.verbs import Approve, Stop
from tests.supervisor.journeys.cli_model import SLOW, bash
from tests.supervisor.journeys.cli_pilot import CliPilot, Pilots, has_read

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.supervisor.conftest import Cockpit

ACT = 60_000

pytestmark = [pytest.mark.tmux, pytest.mark.timeout(900)]


class LongTurn:
    """A model whose first session works in one turn until it is asked for a document."""

    def __init__(self, cli: type[CliPilot]) -> None:
        self._cli = cli
        self._work = cli.worker(self._step)
        self.counted: set[int] = set()
        """The contexts that the model counted, each as the CLI adds it up."""
        self.ended_early = False

    def answer(self, request: Request) -> Reply:
        """As `Answer`."""
        reply = self._reply(request)
        if request.has_tools:
            output = reply.tokens.output if self._cli.counts_output else 0
            self.counted.add(reply.tokens.context + output)
            was_asked = bool(request.documents_written) or has_read(request)
            self.ended_early |= not reply.tool_calls and not was_asked
        return reply

    def _reply(self, request: Request) -> Reply:
        if has_read(request):
            return Reply("Done.", tokens=TokenCount(cache_read=20_000))
        if request.documents_written:
            return Reply("Written.", tokens=TokenCount(cache_read=72_000))
        return self._work(request)

    def _step(self, request: Request) -> Reply:
        number = len(request.calls_made) + 1
        call = ToolCall("Bash", {"command": f"pwd; sleep 0.2; echo step {number}"})
        return Reply(
            tool_calls=(call,),
            tokens=TokenCount(cache_read=min(70_000 + number, 10_000 + 9_000 * number)),
        )


@asynccontextmanager
async def readings(cockpit: Cockpit) -> AsyncIterator[list[int]]:
    """The tokens in the agent's row, each time that they change, until the block is left."""
    seen: list[int] = []

    async def look() -> None:
        while True:
            with suppress(StopIteration):
                tokens = (await cockpit.row()).context.tokens
                if tokens is not None and tokens not in seen[-1:]:
                    seen.append(tokens)
            await asyncio.sleep(0.05)

    task = asyncio.create_task(look())
    try:
        yield seen
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("claude", marks=[pytest.mark.claude, pytest.mark.long]),
        "codex",
        pytest.param("gemini", marks=pytest.mark.long),
        pytest.param("opencode", marks=pytest.mark.long),
        pytest.param("copilot", marks=pytest.mark.long),
    ],
)
async def test_a_long_turn_in_a_worktree_is_handed_over_with_the_right_numbers(
    cockpit: Cockpit, name: str, pilots: Pilots
) -> None:
    turn = LongTurn(pilots.cli)
    pilot = pilots.answering(turn.answer)
    trees = cockpit.home / "trees"
    more = (
        f"[agents.context]\nact = '{ACT // 1000}k'\n[agents.worktree]\n"
        f"strategy = 'git_worktree'\ndirectory = {json.dumps(str(trees))}\n"
    )
    offered = pilot.table("prompt", more).replace("mcp = false", "mcp = true")
    async with cockpit.flying(offered), readings(cockpit) as seen:
        first = await cockpit.start()
        assert first.worktree is not None
        assert trees in Path(first.worktree).parents
        row = await cockpit.until(lambda row: row.needs, within=SLOW)
        assert row.needs is not None
        assert (row.needs.kind, row.runtime) == ("handoff", name), row.needs
        assert (row.context.tokens or 0) >= ACT
        assert not turn.ended_early
        await cockpit.ask(Approve(name="api"))
        row = await cockpit.until(lambda row: row.needs and row.needs.kind == "review", within=SLOW)
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"
        assert not turn.ended_early
        assert len(seen) > 3, seen
        await cockpit.ask(Approve(name="api"))
        second = await cockpit.until(
            lambda row: row.handoffs == 1 and row.handoff is None, within=SLOW
        )
        assert (second.pane, second.worktree) == (first.pane, first.worktree)
        assert second.pid != first.pid
        (chain,) = await cockpit.client.history("api")
        assert [each.state for each in chain.sessions] == ["handed_off", "live"]
        paper = chain.sessions[0].document
        assert paper is not None
        assert Path(first.worktree) in Path(paper).parents
        assert "Watch the server." in Path(paper).read_text()
        await cockpit.until(lambda _: pilot.has_read(paper), within=SLOW)
        assert cockpit.supervisor is not None
        progress = cockpit.supervisor.fleet.agent("api").progress
        await cockpit.until(
            lambda _: progress.arrival and progress.arrival.details.tokens_after, within=SLOW
        )
        (chain,) = await cockpit.client.history("api")
        assert chain.sessions[1].tokens_at_start in turn.counted
        await cockpit.ask(Stop(name="api"))
    assert set(seen) <= turn.counted, sorted(set(seen) - turn.counted)
    assert first.worktree in "".join(each.everything for each in pilot.model.requests)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "state"),
    [
        pytest.param("claude", "idle", marks=pytest.mark.claude),
        ("codex", "idle"),
        ("gemini", "idle"),
        ("copilot", "idle"),
        ("opencode", "exited"),
    ],
)
async def test_ctrl_c_in_a_turn(cockpit: Cockpit, name: str, pilots: Pilots, state: str) -> None:
    """It interrupts the turn, and ends opencode."""
    # Claude Code refuses a long sleep, and Codex does not show other commands as they are.
    command = "tail -n 62 -f /dev/null" if name == "claude" else "sleep 62"
    pilot = pilots.working(lambda _: bash(command))
    async with cockpit.flying(pilot.table()):
        pane = (await cockpit.start()).pane or ""
        await cockpit.until(
            lambda row: (
                row.state == "working" and command in cockpit.tmux("capture-pane", "-p", "-t", pane)
            ),
            within=SLOW,
        )
        cockpit.tmux("send-keys", "-t", pane, "C-c")
        await cockpit.until(lambda row: row.state == state, within=SLOW)

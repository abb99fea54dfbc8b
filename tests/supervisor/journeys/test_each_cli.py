"""One whole flight of each CLI, in a worktree: its bar against what the model counted, the question
in the middle of a long turn, the document, the review, and the session that reads it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.model import Answer
from cockpit.wire.verbs import Approve, Stop
from tests.supervisor.journeys import (
    test_claude,
    test_codex,
    test_copilot,
    test_gemini,
    test_opencode,
)
from tests.supervisor.journeys.claude_pilot import CLAUDE, ClaudePilot
from tests.supervisor.journeys.cli_model import SLOW
from tests.supervisor.journeys.codex_pilot import CODEX, CodexPilot
from tests.supervisor.journeys.copilot_pilot import COPILOT, CopilotPilot
from tests.supervisor.journeys.gemini_pilot import GEMINI, GeminiPilot
from tests.supervisor.journeys.opencode_pilot import OPENCODE, OpencodePilot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.supervisor.conftest import Cockpit

ACT = 60_000

pytestmark = [pytest.mark.tmux, pytest.mark.timeout(900)]


class Cli(NamedTuple):
    """A CLI's own folder and model, and how its model works."""

    pilot: Callable[[Cockpit, Answer], Any]
    worker: Callable[[Callable[[Any], Reply]], Answer]
    program: str | None
    counts_output: bool
    """Whether the CLI's context includes the last reply itself."""


CLIS = {
    "claude": Cli(ClaudePilot, test_claude.worker, CLAUDE, counts_output=False),
    "codex": Cli(CodexPilot, test_codex.worker, CODEX, counts_output=True),
    "gemini": Cli(GeminiPilot, test_gemini.worker, GEMINI, counts_output=False),
    "opencode": Cli(OpencodePilot, test_opencode.worker, OPENCODE, counts_output=True),
    "copilot": Cli(CopilotPilot, test_copilot.worker, COPILOT, counts_output=True),
}


class LongTurn:
    """A model whose first session works in one turn until it is asked for a document."""

    def __init__(self, cli: Cli) -> None:
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

    def _step(self, at: int | Request) -> Reply:
        number = at if isinstance(at, int) else len(at.calls_made) + 1
        call = ToolCall("Bash", {"command": f"pwd; sleep 0.2; echo step {number}"})
        return Reply(
            tool_calls=(call,),
            tokens=TokenCount(cache_read=min(70_000 + number, 10_000 + 9_000 * number)),
        )


def has_read(request: Request) -> bool:
    """Whether the session has opened the document of the one before it."""
    commands = [str(call.input.get("command", "")) for call in request.calls_made]
    opened = [call.path for call in request.calls_made if call.name == "Read"]
    opened += [words.removeprefix("cat ") for words in commands if words.startswith("cat ")]
    return any(ToolCall("Read", {"file_path": path}).is_about_document for path in opened)


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


@pytest.fixture
def flown(cockpit: Cockpit, name: str) -> Iterator[tuple[Any, LongTurn]]:
    cli = CLIS[name]
    if cli.program is None:
        pytest.skip(f"{name} is not installed: make clis")
    turn = LongTurn(cli)
    made = cli.pilot(cockpit, turn.answer)
    if isinstance(made, GeminiPilot):
        made.link()
    yield made, turn
    made.model.stop()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("claude", marks=[pytest.mark.claude, pytest.mark.long]),
        "codex",
        pytest.param("gemini", marks=pytest.mark.long),
        "opencode",
        "copilot",
    ],
)
async def test_a_long_turn_in_a_worktree_is_handed_over_with_the_right_numbers(
    cockpit: Cockpit, name: str, flown: tuple[Any, LongTurn]
) -> None:
    pilot, turn = flown
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
async def test_ctrl_c_in_a_turn(cockpit: Cockpit, name: str, state: str) -> None:
    """It interrupts the turn, and ends opencode."""
    cli = CLIS[name]
    if cli.program is None:
        pytest.skip(f"{name} is not installed: make clis")
    # Claude Code refuses a long sleep, and Codex does not show other commands as they are.
    command = "tail -n 62 -f /dev/null" if name == "claude" else "sleep 62"
    call = ToolCall("Bash", {"command": command})
    step = Reply(tool_calls=(call,), tokens=TokenCount(cache_read=20_000))
    pilot = cli.pilot(cockpit, cli.worker(lambda _: step))
    if isinstance(pilot, GeminiPilot):
        pilot.link()
    try:
        async with cockpit.flying(pilot.table()):
            pane = (await cockpit.start()).pane or ""
            await cockpit.until(
                lambda row: (
                    row.state == "working"
                    and command in cockpit.tmux("capture-pane", "-p", "-t", pane)
                ),
                within=SLOW,
            )
            cockpit.tmux("send-keys", "-t", pane, "C-c")
            await cockpit.until(lambda row: row.state == state, within=SLOW)
    finally:
        pilot.model.stop()

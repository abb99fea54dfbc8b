"""Handoffs of each CLI: who writes the document, what interrupts it, and what it waits for.

What only one CLI does is in the file of that CLI; a whole flight is in `test_each_cli`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents.own_command import SERVER
from cockpit.core.errors import NotNow
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.model import Answer
from cockpit.wire.verbs import Approve, Handoff
from tests.supervisor.journeys.cli_model import SLOW, bash, say, swapped
from tests.supervisor.journeys.cli_pilot import CliPilot, Pilots, has_read
from tests.supervisor.journeys.opencode_pilot import OpencodePilot
from tests.supervisor.journeys.tool_calls import calls_tools, hand_off_by_tool

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = [pytest.mark.tmux, pytest.mark.timeout(900)]
long = pytest.mark.long
PATIENT = "[agents.handoff]\ndeadline = '150s'\n"


def done(_: Request) -> Reply:
    return say("Done.", tokens=30_000)


def long_turn(request: Request) -> Reply:
    """A turn that fills the context, in the first session only."""
    if has_read(request):
        return say("Done.")
    number = len(request.calls_made)
    return bash(f"sleep 0.2; echo step {number}", min(80_000, 20_000 * number))


async def the_next_one_has_read_it(cockpit: Cockpit, flown: CliPilot) -> None:
    (chain,) = await cockpit.client.history("api")
    document = str(chain.sessions[0].document)
    await cockpit.until(lambda _: flown.has_read(document), within=SLOW)


async def writer(cockpit: Cockpit) -> object:
    return (await cockpit.event("handoff.document")).data["writer"]


@long
@pytest.mark.parametrize("name", ["copilot", "opencode"])
async def test_the_document_asks_for_no_permission(cockpit: Cockpit, pilots: Pilots) -> None:
    flown = pilots.working(done)
    async with cockpit.flying(flown.table("auto", permission="default")):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Handoff(name="api"))
        row = await cockpit.until(lambda row: swapped(row) or row.needs, within=SLOW)
        assert row.needs is None
        assert await writer(cockpit) == "agent"


@long
@pytest.mark.parametrize("name", ["codex", "gemini", "copilot", "opencode"])
async def test_a_copy_writes_the_document_where_the_agent_is_not_asked(
    cockpit: Cockpit, pilots: Pilots
) -> None:
    flown = pilots.working(done)
    more = f"{PATIENT}writers = ['sdk', 'facts']\n"
    async with cockpit.flying(flown.table("auto", more)):
        await cockpit.start()
        await cockpit.until(lambda row: row.state == "idle", within=SLOW)
        await cockpit.ask(Handoff(name="api"))
        await cockpit.until(swapped, within=SLOW)
        assert await writer(cockpit) == "sdk"


@long
@pytest.mark.parametrize("name", ["copilot", "opencode"])
async def test_now_interrupts_a_turn_that_goes_on(cockpit: Cockpit, pilots: Pilots) -> None:
    # A path outside the directory would open a permission dialog instead.
    begun, ended = cockpit.repository / "begun", cockpit.repository / "ended"
    flown = pilots.working(
        lambda request: (
            say("Done.") if has_read(request) else bash("touch begun; sleep 100; touch ended")
        )
    )
    async with cockpit.flying(flown.table("auto", PATIENT)):
        await cockpit.start()
        await cockpit.until(lambda _: begun.exists(), within=SLOW)
        await cockpit.ask(Handoff(name="api", now=True))
        await cockpit.until(swapped, within=SLOW)
        assert await writer(cockpit) == "agent"
        assert not ended.exists()
        assert "agent.needs_you" not in [event.kind for event in await cockpit.events()]


@long
@pytest.mark.parametrize("name", ["copilot", "opencode"])
async def test_a_supervisor_killed_while_a_document_is_written_finishes_the_handoff(
    cockpit: Cockpit, pilots: Pilots
) -> None:
    flown = pilots.working(long_turn)
    await cockpit.launch(flown.table("auto"))
    await cockpit.start()
    await cockpit.until(lambda row: row.handoff, within=SLOW)
    cockpit.kill()
    await cockpit.launch()
    await cockpit.until(swapped, within=SLOW)
    await the_next_one_has_read_it(cockpit, flown)


@long
@pytest.mark.parametrize("name", ["codex", "gemini"])
async def test_a_supervisor_that_was_away_knows_the_session_again_and_continues_a_handoff(
    cockpit: Cockpit, pilots: Pilots
) -> None:
    flown = pilots.working(done)
    tokens = flown.counted(30_000)
    await cockpit.launch(flown.table())
    await cockpit.start()
    before = await cockpit.until(
        lambda row: row.state == "idle" and row.context.tokens == tokens, within=SLOW
    )
    cockpit.kill()
    await cockpit.launch()
    after = await cockpit.until(
        lambda row: row.state == "idle" and row.context.tokens == tokens, within=SLOW
    )
    assert (after.pid, after.transcript) == (before.pid, before.transcript)

    await cockpit.ask(Handoff(name="api"))
    await cockpit.until(lambda row: row.needs and row.needs.kind == "review", within=SLOW)
    await cockpit.ask(Approve(name="api"))
    cockpit.kill()
    await cockpit.launch()
    row = await cockpit.until(swapped, within=SLOW)
    await the_next_one_has_read_it(cockpit, flown)
    assert row.session_number == 2


def codex_compacts(request: Request, work: Answer) -> Reply:
    if "CONTEXT CHECKPOINT COMPACTION" in request.latest:
        return say("<summary>All steps so far.</summary>")
    if "All steps so far." in request.everything:
        return say("Done.", tokens=9_000)
    return work(request)


def copilot_compacts(request: Request, work: Answer) -> Reply:
    return say("Done.", tokens=9_000) if len(request.calls_made) > 12 else work(request)


def opencode_compacts(request: Request, work: Answer) -> Reply:
    asked = "What did we do so far?" in request.opening
    return say("Done.", tokens=9_000) if asked and request.has_tools else work(request)


@long
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("codex", codex_compacts),
        ("copilot", copilot_compacts),
        ("opencode", opencode_compacts),
    ],
)
async def test_a_compaction_is_seen(
    cockpit: Cockpit, pilots: Pilots, model: Callable[[Request, Answer], Reply]
) -> None:
    def steps(request: Request) -> Reply:
        number = len(request.calls_made)
        return bash("sleep 0.3; echo on", [20_000, 60_000, 93_000, 93_000, 9_000][min(4, number)])

    work = pilots.cli.worker(steps)
    flown = pilots.answering(lambda request: model(request, work))
    async with cockpit.flying(flown.table("observe")):
        await cockpit.start()
        tokens = flown.counted(9_000)
        row = await cockpit.until(
            lambda row: row.compactions and row.state == "idle" and row.context.tokens == tokens,
            within=SLOW,
        )
        assert row.compactions == 1


COPILOT_TASK = {
    "description": "look",
    "prompt": "SUBTASK: look",
    "agent_type": "general-purpose",
    "name": "look",
}
OPENCODE_TASK = {"description": "look", "prompt": "SUBTASK: look", "subagent_type": "general"}


@long
@pytest.mark.parametrize(("name", "task"), [("copilot", COPILOT_TASK), ("opencode", OPENCODE_TASK)])
async def test_a_request_does_not_reach_a_subagent(
    cockpit: Cockpit, pilots: Pilots, task: dict[str, object]
) -> None:
    asked_inside: list[str] = []

    def steps(request: Request) -> Reply:
        if has_read(request):
            return say("Done.")
        if any(call.name == "task" for call in request.calls_made):
            return say("All is well.", tokens=80_000)
        return Reply(tool_calls=(ToolCall("task", task),), tokens=TokenCount(cache_read=70_000))

    def answer(request: Request) -> Reply:
        if request.has_tools and "SUBTASK" in request.opening:
            if request.document_asked:
                asked_inside.append(request.document_asked)
            if request.replies_made < 6:
                return bash(f"sleep 0.5; echo inside {request.replies_made}", 5_000)
            return say("The subtask is done.", tokens=6_000)
        return main(request)

    main = pilots.cli.worker(steps)
    flown = pilots.answering(answer)
    async with cockpit.flying(flown.table("auto")) as supervisor:
        await cockpit.start()
        agent = supervisor.fleet.agent("api")
        await cockpit.until(lambda _: agent.session_state.activity.subagents, within=SLOW)
        # opencode counts tokens after the subagent, so no threshold is crossed before its end. With
        # Copilot, a threshold may have begun the handoff already, which waits as well.
        with suppress(NotNow):
            await cockpit.ask(Handoff(name="api"))
        tokens = flown.counted(70_000)  # not the subagent's
        await cockpit.until(lambda row: row.context.tokens == tokens, within=SLOW)
        await cockpit.until(swapped, within=SLOW)
        assert not asked_inside
        assert not agent.session_state.activity.subagents
        assert await writer(cockpit) == "agent"


@long
@pytest.mark.parametrize(("name", "mark"), [("copilot", "-"), ("opencode", "_")])
async def test_it_is_offered_the_tools_and_calls_them_without_a_question(
    cockpit: Cockpit, pilots: Pilots, mark: str
) -> None:
    prefix = f"{SERVER}{mark}"
    readme = cockpit.repository / "README.md"
    flown = pilots.working(calls_tools(prefix, readme, second=has_read))
    if isinstance(flown, OpencodePilot):  # as a user who is asked about all other tools
        flown.configure(permission={"*": "ask", "read": "allow"})
    table = flown.table("auto", permission="acceptEdits" if mark == "-" else "")
    await hand_off_by_tool(cockpit, flown.model, table, prefix)

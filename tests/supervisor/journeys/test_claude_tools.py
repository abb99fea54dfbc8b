"""cockpit's tools in the real Claude Code: offered, called without a question, and ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest

from cockpit.adapters.agents.claude.plugin import TOOLS, TOOLS_RULE
from cockpit.adapters.agents.claude.program import bundled_path
from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.model import Answer, ModelServer
from cockpit.wire.verbs import Stop
from tests.supervisor.journeys.test_claude_skill import DOCUMENT, SECTIONS, real_agent
from tests.supervisor.journeys.tool_calls import every_result, results, servers

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

pytestmark = [
    pytest.mark.claude,
    pytest.mark.tmux,
    pytest.mark.skipif(bundled_path() is None, reason="the SDK of this platform brings no CLI"),
]
PREFIX = f"{TOOLS_RULE}__"
FIRST = ("context_status", "handoff_status", "get_subagent_status", "handoff_request")
SECOND = ("read_handoff", "search_history")


def answer(request: Request, patience: int = 100) -> Reply:
    """Calls each tool once, and does what it is asked for in between.

    `patience` is the number of calls after which it gives up on tools that are not there.
    """
    if not request.has_tools:
        return Reply("ok")
    tokens = TokenCount(cache_read=20_000)
    path = request.document_asked
    if path is not None:
        write = ToolCall("Write", {"file_path": path, "content": DOCUMENT})
        return Reply(tool_calls=(write,), tokens=tokens)
    called = [call.name for call in request.calls_made]
    wanted = [f"{PREFIX}{name}" for name in (SECOND if request.documents_named else FIRST)]
    missing = [name for name in wanted if name not in called]
    if not missing or len(called) > patience:
        return Reply("Done so far.", tokens=tokens)
    if missing[0] not in request.everything:  # its server is still starting
        call = ToolCall("Bash", {"command": "sleep 0.2; pwd"})
    elif "ToolSearch" not in called:  # the CLI gives only the names until it is asked
        query = f"select:{','.join(wanted)}"
        call = ToolCall("ToolSearch", {"query": query, "max_results": len(wanted)})
    else:
        given = {"words": "handoff git"} if missing[0].endswith("search_history") else {}
        call = ToolCall(missing[0], given)
    return Reply(tool_calls=(call,), tokens=tokens)


@contextmanager
def playing(model: Answer) -> Iterator[ModelServer]:
    made = ModelServer(model)
    made.start()
    try:
        yield made
    finally:
        made.stop()


@pytest.mark.long
async def test_the_cli_offers_the_tools_and_the_job_goes_on(cockpit: Cockpit) -> None:
    with playing(answer) as model:
        await hand_off_by_tool(cockpit, model)


async def hand_off_by_tool(cockpit: Cockpit, model: ModelServer) -> None:
    more = 'arguments = ["--allowedTools", "Bash"]\n'
    async with cockpit.flying(real_agent(cockpit, model.url).replace("env =", f"{more}env =")):
        await cockpit.start()
        second = await cockpit.until(
            lambda row: row.handoffs == 1 and row.handoff is None, within=300
        )
        begun = await cockpit.event("handoff.begun")
        assert begun.data["reason"] == "agent"
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"
        await cockpit.until(lambda _: "search_history" in results(model, PREFIX))
        found = results(model, PREFIX)
        assert found["context_status"]["window"] == second.context.window
        assert found["context_status"]["tokens"] == 21_003
        assert found["handoff_status"]["handoff"] is None
        assert found["get_subagent_status"]["this_session"] == []
        assert found["handoff_request"]["handoff"]["reason"] == "agent"
        (chain,) = await cockpit.client.history("api")
        handoff = chain.sessions[0].handoff
        assert f'id: "{handoff}"' in str(found["read_handoff"])
        assert [hit["id"] for hit in found["search_history"]["found"]] == [handoff]
        told = [event.text for event in await cockpit.events()]
        assert not any("permission" in text for text in told), told
        assert len(servers(cockpit)) == 1
        await cockpit.ask(Stop(name="api"))
        assert servers(cockpit) == []


def writes_its_document(request: Request, notes: str) -> Reply:
    """Names a file that is no document, then writes one, names it, and learns of its handoff."""
    if not request.has_tools:
        return Reply("ok")
    tokens = TokenCount(cache_read=20_000)
    created = f"{PREFIX}handoff_created"
    calls = [call.name for call in request.calls_made]
    if request.documents_named or calls.count(created) == 2 or len(calls) > 100:
        return Reply("Done so far.", tokens=tokens)
    if created not in request.everything:  # its server is still starting
        call = ToolCall("Bash", {"command": "sleep 0.2; pwd"})
    elif "ToolSearch" not in calls:
        call = ToolCall("ToolSearch", {"query": f"select:{created}", "max_results": 1})
    elif created not in calls:
        call = ToolCall(created, {"path": "README.md"})
    elif "Write" not in calls:
        call = ToolCall("Write", {"file_path": notes, "content": DOCUMENT})
    else:
        call = ToolCall(created, {"path": "notes.md"})
    return Reply(tool_calls=(call,), tokens=tokens)


@pytest.mark.long
async def test_the_cli_hands_on_a_document_that_it_wrote_by_itself(cockpit: Cockpit) -> None:
    notes = cockpit.repository / "notes.md"
    with playing(partial(writes_its_document, notes=str(notes))) as model:
        more = 'arguments = ["--allowedTools", "Bash,Write"]\n'
        table = real_agent(cockpit, model.url).replace("env =", f"{more}env =")
        async with cockpit.flying(table):
            await cockpit.start()
            await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None, within=300)
            refusal, accepted = every_result(model, f"{PREFIX}handoff_created")
            assert "README.md is not a handoff document" in str(refusal)
            assert accepted["handoff"]["reason"] == "agent"
            (begun,) = await cockpit.events("handoff.begun")
            assert begun.data["reason"] == "agent"
            (chain,) = await cockpit.client.history("api")
            handed_on = await cockpit.client.document(chain.sessions[0].handoff or "")
            for body in SECTIONS.values():
                assert body in handed_on


@pytest.mark.long
async def test_an_agent_that_is_offered_none_has_none(cockpit: Cockpit) -> None:
    more = 'mcp = false\narguments = ["--allowedTools", "Bash"]\n'
    with playing(partial(answer, patience=3)) as model:
        table = real_agent(cockpit, model.url).replace("env =", f"{more}env =")
        async with cockpit.flying(table):
            await cockpit.start()
            await cockpit.until(lambda row: row.state == "idle", within=300)
            assert model.requests
            assert not any(TOOLS in asked.everything for asked in model.requests)
            assert servers(cockpit) == []

"""The tools that agents get over MCP, asked by the package's own client inside of an agent."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client, types

from cockpit.core.ids import AgentName, HandoffId
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff, Refuse
from tests.long_cases import cases
from tests.supervisor.history.test_past_facts import end_in_the_middle
from tests.supervisor.journeys.test_callers import Inside

if TYPE_CHECKING:
    from cockpit.supervisor.supervisor import Supervisor
    from tests.supervisor.conftest import Cockpit

pytestmark = pytest.mark.tmux


class Tools:
    """The tools of one agent."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(self, name: str, **arguments: str) -> dict[str, Any]:
        answer = await self.client.call_tool(name, arguments)
        assert not answer.is_error, self._text(answer)
        found: dict[str, Any] = json.loads(self._text(answer))
        return found

    async def text(self, name: str, **arguments: str) -> str:
        answer = await self.client.call_tool(name, arguments)
        assert not answer.is_error, self._text(answer)
        return self._text(answer)

    async def refused(self, name: str, **arguments: str) -> str:
        answer = await self.client.call_tool(name, arguments)
        assert answer.is_error, self._text(answer)
        return self._text(answer)

    def _text(self, answer: types.CallToolResult) -> str:
        (part,) = answer.content
        assert isinstance(part, types.TextContent)
        return part.text


@asynccontextmanager
async def tools_of(cockpit: Cockpit, supervisor: Supervisor, name: str) -> AsyncIterator[Tools]:
    """A server with the marker of the agent's processes, as one that its CLI starts has it."""
    run = supervisor.fleet.agent(name).record.run
    assert run is not None
    async with _served(cockpit, COCKPIT_RUN=run) as tools:
        yield tools


@asynccontextmanager
async def _served(cockpit: Cockpit, **more: str) -> AsyncIterator[Tools]:
    process = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "cockpit", "mcp"],
        env={**os.environ, "COCKPIT_SOCKET": str(cockpit.places.socket), **more},
        cwd=cockpit.repository,
    )
    async with Client(stdio_client(process)) as client:
        yield Tools(client)


def idle(row: AgentStatus) -> bool:
    return row.state == "idle"


def reviewed(row: AgentStatus) -> bool:
    return row.needs is not None and row.needs.kind == "review"


async def test_an_agent_reads_its_context_and_asks_for_its_own_handoff(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=1_000)
    ) as supervisor:
        await cockpit.start()
        row = await cockpit.until(idle)
        async with tools_of(cockpit, supervisor, "api") as tools:
            context = await tools.ask("context_status")
            assert context["tokens"] == row.context.tokens
            assert context["window"] == row.context.window == 200_000
            assert context["marks"] == row.context.marks.model_dump()
            assert context["turns_left"] == row.context.turns_left
            status = await tools.ask("handoff_status")
            assert (status["handoff"], status["session_number"]) == (None, 1)
            assert status["next"] == "No handoff is in progress. Continue your work."
            assert (await tools.client.list_resources()).resources == []
            assert "no handoff document yet" in await tools.refused("read_handoff")
            unknown = await tools.refused("read_handoff", id="zzzz")
            assert unknown.endswith("search_history")  # an agent has no command for it
            assert await tools.ask("get_subagent_status") == {
                "this_session": [],
                "session_before": [],
                "session_before_unknown": None,
                "older": 0,
                "note": (await tools.ask("get_subagent_status"))["note"],
            }

            begun = await tools.ask("handoff_request")
            assert begun["message"].startswith("Handing off api")
            assert begun["handoff"]["reason"] == "agent"
            asked = (await cockpit.events("verb.asked"))[-1]
            assert (asked.data["verb"], asked.data["by"]["name"]) == ("handoff", "api")
            await cockpit.until(reviewed)
            status = await tools.ask("handoff_status")
            assert status["handoff"]["phase"] == "review"
            assert "The user reviews the document" in status["next"]
            assert "already" in await tools.refused("handoff_request")
            await cockpit.ask(Approve(name="api"))
            second = await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)
            assert second.session_number == 2


@pytest.mark.long
async def test_a_document_that_the_agent_wrote_is_handed_on(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=1_000)
    ) as supervisor:
        first = await cockpit.start()
        await cockpit.until(idle)
        notes = cockpit.repository / "notes.md"
        notes.write_text((await cockpit.ask(Handoff(name="api", dry_run=True))).text or "")
        async with tools_of(cockpit, supervisor, "api") as tools:
            assert "is not a handoff document" in await tools.refused(
                "handoff_created", path="README.md"
            )
            foreign = cockpit.repository / "foreign.md"
            foreign.write_text(notes.read_text().replace('agent: "api"', 'agent: "web"', 1))
            assert "written by the agent web" in await tools.refused(
                "handoff_created", path=str(foreign)
            )
            outside = cockpit.home / "notes.md"
            outside.write_text(notes.read_text())
            (cockpit.repository / "linked").symlink_to(cockpit.home)
            (cockpit.repository / "link.md").symlink_to(outside)
            for path in (str(outside), "../" * 20 + str(outside), "linked/notes.md"):
                refusal = await tools.refused("handoff_created", path=path)
                assert "is not in the agent's directory" in refusal, path
            refusal = await tools.refused("handoff_created", path="link.md")
            assert "symbolic link" in refusal
            # Relative to the agent's directory, whatever that of the server is.
            given = await tools.ask("handoff_created", path="notes.md")
            assert given["handoff"]["reason"] == "agent"
            row = await cockpit.until(reviewed)
            assert row.handoff is not None
            await cockpit.ask(Approve(name="api"))
            await cockpit.until(lambda row: row.handoffs == 1 and row.handoff is None)

        async with tools_of(cockpit, supervisor, "api") as tools:
            read = await tools.text("read_handoff")
            assert row.handoff.id in read
            assert str(first.session_id) in read
            assert await tools.text("read_handoff", id=row.handoff.id[:8]) == read
            (one,) = (await tools.client.list_resources()).resources
            assert one.uri == f"cockpit://handoff/{row.handoff.id}"
            (part,) = (await tools.client.read_resource(one.uri)).contents
            assert isinstance(part, types.TextResourceContents)
            assert part.text == read
            found = await tools.ask("search_history", words="handoff count")
            assert [hit["id"] for hit in found["found"]] == [row.handoff.id]
            assert (await tools.ask("search_history", words="nowhere"))["found"] == []

            sealed = Path(row.handoff.document or "")
            kept = sealed.read_bytes()
            sealed.unlink()
            sealed.symlink_to(outside)
            assert await tools.text("read_handoff", id=row.handoff.id) == read
            sealed.unlink()
            sealed.write_bytes(kept)

            end_in_the_middle(Path(first.transcript or ""))
            subagents = await tools.ask("get_subagent_status")
            (one_before,) = subagents["session_before"]
            assert (one_before["task"], one_before["status"]) == ("Look around", "unknown")
            assert "end with their session" in subagents["note"]
            asked = await tools.ask("get_subagent_status", id=one_before["id"])
            assert asked["session_before"] == [one_before]
            assert "no subagent 'x'" in await tools.refused("get_subagent_status", id="x")
            Path(first.transcript or "").unlink()
            subagents = await tools.ask("get_subagent_status")
            assert subagents["session_before"] is None
            assert "has no transcript. See Background Work" in subagents["session_before_unknown"]


@pytest.mark.long
async def test_a_document_that_cockpit_asked_for_needs_no_second_handoff(
    cockpit: Cockpit,
) -> None:
    """The stand-in waits in its turn, and leaves the writing to the test."""
    stuck = "while [ ! -e $DRAFT.over ]; do sleep 0.05; done"
    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=1_000, draft=stuck)
    ) as supervisor:
        await cockpit.start()
        await cockpit.until(idle)
        good = (await cockpit.ask(Handoff(name="api", dry_run=True))).text or ""
        async with tools_of(cockpit, supervisor, "api") as tools:
            await tools.ask("handoff_request")
            await cockpit.until(lambda row: row.handoff and row.handoff.phase == "documenting")
            draft = supervisor.fleet.agent("api").progress.details.draft
            assert draft is not None
            assert "Cannot read" in await tools.refused("handoff_created", path=draft)
            Path(draft).write_text(good)
            answer = await tools.ask("handoff_created", path=draft)
            assert "cockpit has this document" in answer["message"]
            here = os.path.relpath(draft, cockpit.repository)
            again = await tools.ask("handoff_created", path=f"./{here}")
            assert again["message"] == answer["message"]
            await cockpit.until(reviewed)
            # The agent may be late: cockpit has found the document by itself.
            late = await tools.ask("handoff_created", path=draft)
            assert late["message"] == answer["message"]
            assert late["handoff"]["phase"] == "review"
            await cockpit.ask(Refuse(name="api"))
        assert len(await cockpit.events("handoff.begun")) == 1


OWN_TREE = '[agents.worktree]\nstrategy = "git_worktree"\n'
CALLS = {
    "handoff_request": {},
    "handoff_created": {"path": "README.md"},
    "handoff_status": {},
    "context_status": {},
    "get_subagent_status": {},
    "read_handoff": {"id": "0"},
    "search_history": {"words": "handoff"},
}


@pytest.mark.parametrize("may_look", cases(False, long=[True]), ids=["by default", "with look"])
async def test_an_agent_sees_and_does_only_its_own(cockpit: Cockpit, may_look: bool) -> None:
    look = '[agents.may]\nothers = ["look"]\n' if may_look else ""
    steady: dict[str, Any] = {"mode": "prompt", "steps": 9, "pause": 2, "step_tokens": 1_000}
    async with cockpit.flying(
        cockpit.agent("web", more=OWN_TREE, **steady),
        cockpit.agent("api", more=OWN_TREE + look, **steady),
    ) as supervisor:
        for name in ("web", "api"):
            await cockpit.start(name)
            await cockpit.until(idle, name)
        await cockpit.ask(Handoff(name="web"))
        theirs = (await cockpit.until(reviewed, "web")).handoff
        assert theirs is not None
        assert theirs.document is not None

        async with tools_of(cockpit, supervisor, "api") as tools:
            for name in CALLS:
                assert "has no argument 'agent'" in await tools.refused(name, agent="web")
            # What is done is done to itself, whatever the user allows beyond that.
            assert (await tools.ask("handoff_status"))["handoff"] is None
            assert "is not in the agent's directory" in await tools.refused(
                "handoff_created", path=theirs.document
            )
            found = (await tools.ask("search_history", words="handoff"))["found"]
            if may_look:
                assert [(hit["agent"], hit["id"]) for hit in found] == [("web", theirs.id)]
                assert theirs.id in await tools.text("read_handoff", id=theirs.id)
                return
            assert found == []
            for named in (theirs.id, theirs.id[:8], theirs.document):
                refusal = await tools.refused("read_handoff", id=named)
                assert "this agent may not look at another agent" in refusal
            with pytest.raises(MCPError, match="This job has no document"):
                await tools.client.read_resource(f"cockpit://handoff/{theirs.id}")
            assert (await tools.client.list_resources()).resources == []

            # An id that begins like that of another agent tells nothing of that one.
            other = supervisor.fleet.agent("web").handoff_record
            assert other is not None
            ident = HandoffId(f"{theirs.id[:-2]}xx")
            own = replace(other, id=ident, agent=AgentName("api"), document=None, copy=None)
            supervisor.dependencies.store.save_handoff(own)
            refusal = await tools.refused("read_handoff", id=theirs.id[:8])
            assert own.id in refusal
            assert theirs.id not in refusal


@pytest.mark.long
async def test_a_name_in_the_environment_is_nobodys_identity(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=1_000)
    ) as supervisor:
        await cockpit.start()
        await cockpit.until(idle)
        assert supervisor.fleet.agent("api").alive
        async with _served(cockpit, COCKPIT_AGENT="api") as tools:
            for name, arguments in CALLS.items():
                assert NOT_AN_AGENT in await tools.refused(name, **arguments), name
            with pytest.raises(MCPError, match=NOT_AN_AGENT):
                await tools.client.list_resources()
            with pytest.raises(MCPError, match=NOT_AN_AGENT):
                await tools.client.read_resource("cockpit://handoff/0")
        assert await cockpit.events("handoff.begun") == []


UNSET = " ".join(
    f"-u {name}"
    for name in (
        "COCKPIT_RUN",
        "COCKPIT_SOCKET",
        "COCKPIT_STATE",
        "COCKPIT_HOME",
        "XDG_RUNTIME_DIR",
    )
)
"""As a CLI does that gives its servers little of its environment."""
NOT_AN_AGENT = "These tools are for agents that cockpit started"


@pytest.mark.long
async def test_an_agent_that_calls_itself_another_is_still_itself(cockpit: Cockpit) -> None:
    """The server is below the agent's process, without the markers of its environment."""
    inside = Inside(cockpit)
    asked, answers = inside.folder / "asked", inside.folder / "answers"
    os.mkfifo(asked)
    os.mkfifo(answers)
    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=1_000, more=OWN_TREE),
        inside.agent(cockpit),
    ):
        await cockpit.start()
        await cockpit.until(idle)
        await cockpit.start("inner")
        hidden = f"env {UNSET} COCKPIT_AGENT=api cockpit mcp"
        running = asyncio.create_task(inside.run(f"{hidden} < {asked} > {answers}"))
        relay = StdioServerParameters(
            command="sh", args=["-c", f"cat {answers} & exec cat > {asked}"]
        )
        async with Client(stdio_client(relay)) as client:
            tools = Tools(client)
            found = await tools.ask("context_status")
            assert found["tokens"] is None
            status = await tools.ask("handoff_status")
            assert (status["session_number"], status["mode"]) == (1, "prompt")
            await tools.ask("handoff_request")
            begun = await cockpit.event("handoff.begun")
            assert begun.agent == "inner"
        assert (await running).code == 0


@pytest.mark.long
async def test_tools_answer_again_when_the_supervisor_is_back(cockpit: Cockpit) -> None:
    async with cockpit.flying(
        cockpit.agent(mode="prompt", steps=9, pause=2, step_tokens=1_000)
    ) as supervisor:
        await cockpit.start()
        await cockpit.until(idle)
        run = supervisor.fleet.agent("api").record.run or ""
    async with _served(cockpit, COCKPIT_RUN=run) as tools:
        assert "ask the user to run: cockpit up" in await tools.refused("context_status")
        async with cockpit.flying():
            await cockpit.until(idle)
            assert (await tools.ask("context_status"))["tokens"]

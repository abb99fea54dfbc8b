"""A simulated model that calls cockpit's tools in a real CLI, and what they answered."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cockpit.demo.conversation import Reply, Request, TokenCount, ToolCall
from cockpit.demo.leftovers import carriers
from cockpit.demo.model import ModelServer
from cockpit.wire.verbs import Stop

if TYPE_CHECKING:
    from tests.supervisor.conftest import Cockpit

FIRST = ("context_status", "handoff_request")
SECOND = ("read_handoff", "search_history")
SLOW = 240.0
"""Seconds to wait for one state; see `cli_model`."""


def calls_tools(
    prefix: str, harmless: Path, *, second: Callable[[Request], bool]
) -> Callable[[Request], Reply]:
    """The steps of a session: each tool once. `second` tells the second session of the job.

    `harmless` is a file to read while the tools are not there.
    """

    def steps(request: Request) -> Reply:
        tokens = TokenCount(cache_read=20_000)
        called = [call.name for call in request.calls_made]
        wanted = [f"{prefix}{name}" for name in (SECOND if second(request) else FIRST)]
        missing = [name for name in wanted if name not in called]
        if not missing or len(called) > 200:
            return Reply("Done so far.", tokens=tokens)
        if missing[0] not in request.tools:  # its server is still starting
            call = ToolCall("Read", {"file_path": str(harmless)})
            return Reply(tool_calls=(call,), tokens=tokens)
        given = {"words": "handoff git"} if missing[0].endswith("search_history") else {}
        return Reply(tool_calls=(ToolCall(missing[0], given),), tokens=tokens)

    return steps


async def hand_off_by_tool(cockpit: Cockpit, model: ModelServer, table: str, prefix: str) -> None:
    """Fly an agent whose model calls the tools, over one handoff and to its end."""
    async with cockpit.flying(table):
        await cockpit.start()
        second = await cockpit.until(
            lambda row: row.handoffs == 1 and row.handoff is None, within=SLOW
        )
        assert (await cockpit.event("handoff.begun")).data["reason"] == "agent"
        assert (await cockpit.event("handoff.document")).data["writer"] == "agent"
        await cockpit.until(lambda _: "search_history" in results(model, prefix), within=SLOW)
        found = results(model, prefix)
        window = found["context_status"]["window"]
        assert window in (None, second.context.window), window  # not known before a reply is read
        assert found["handoff_request"]["handoff"]["reason"] == "agent", found
        (chain,) = await cockpit.client.history("api")
        handoff = chain.sessions[0].handoff
        assert f'id: "{handoff}"' in str(found["read_handoff"]), found["read_handoff"]
        assert [hit["id"] for hit in found["search_history"]["found"]] == [handoff], found
        told = [event.text for event in await cockpit.events()]
        assert not any("permission" in text for text in told), told
        assert len(servers(cockpit)) == 1
        await cockpit.ask(Stop(name="api"))
        assert servers(cockpit) == []


def results(model: ModelServer, prefix: str) -> dict[str, Any]:
    """The last result of each tool, as the model got it."""
    return {
        tool.removeprefix(prefix): answer
        for tool, answer in _answers(model).values()
        if tool.startswith(prefix)
    }


def every_result(model: ModelServer, tool: str) -> list[Any]:
    """The results of one tool's calls, in their order."""
    return [answer for called, answer in _answers(model).values() if called == tool]


def _answers(model: ModelServer) -> dict[str, tuple[str, Any]]:
    """The tool and the last result of each call, by the call's id."""
    found: dict[str, tuple[str, Any]] = {}
    for request in model.requests:
        names = {}
        for message in request.messages:
            for part in message["content"] if isinstance(message["content"], list) else []:
                if part.get("type") == "tool_use":
                    names[part["id"]] = part["name"]
                elif part.get("type") == "tool_result":
                    ident = part["tool_use_id"]
                    found[ident] = names.get(ident, ""), _value(part["content"])
    return found


def _value(content: Any) -> Any:
    text = (
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    )
    with suppress(ValueError):
        return json.JSONDecoder().raw_decode(text)[0]  # the CLI adds its reminders
    return text


def servers(cockpit: Cockpit) -> list[int]:
    """Pids of the tool servers that run."""
    found = []
    for pid in carriers(cockpit.home):
        with suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_bytes().endswith(b"\0cockpit\0mcp\0"):
                found.append(pid)
    return found

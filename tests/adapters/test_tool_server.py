"""The tool server, asked by the package's own client in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from mcp import Client, MCPError, types

from cockpit.adapters.tool_server import checked_arguments, tool_server
from cockpit.core.errors import BadUsage, NotNow
from cockpit.ports.agent_tools import Argument, Resource, Tool

FOREIGN = "a\x1b]52;c;aGk=\x07b\x1b[31mc\x00\u202ed\ud800\n"
"""As another's document or task may have it: sequences, controls and a half character."""
READ = Tool("read", "Read it.", (Argument("id", "Which one."),))
MOVE = Tool(
    "move", "Move it.", (Argument("to", "Where.", required=True, choices=("a", "b")),), True
)


class Offered:
    """Two tools, one document."""

    instructions = "What it is for."
    tools = (READ, MOVE)

    async def call(self, name: str, arguments: Mapping[str, str]) -> Mapping[str, Any] | str:
        if arguments.get("id") == "foreign":
            return {"ids": [FOREIGN], "in": [{"it": FOREIGN, "number": 7}]}
        if name == "move":
            raise NotNow("Not now", "It is moved already.", "Wait.")
        return {"ids": [arguments["id"]]} if "id" in arguments else "its text"

    async def resources(self) -> list[Resource]:
        return [Resource("cockpit://handoff/1", "one.md", "The first.")]

    async def read(self, uri: str) -> str:
        if uri == "cockpit://handoff/foreign":
            return FOREIGN
        if uri != "cockpit://handoff/1":
            raise NotNow("There is no such document", FOREIGN)
        return "# One"


def said(result: types.CallToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, types.TextContent)
    return part.text


async def test_tools_are_described_as_they_are() -> None:
    async with Client(tool_server(Offered(), "cockpit")) as client:
        assert client.instructions == "What it is for."
        read, move = (await client.list_tools()).tools
    assert (read.name, move.description) == ("read", "Move it.")
    assert read.annotations is not None
    assert move.annotations is not None
    assert (read.annotations.read_only_hint, move.annotations.read_only_hint) == (True, False)
    assert read.input_schema["required"] == []
    assert read.input_schema["additionalProperties"] is False
    assert move.input_schema["required"] == ["to"]
    assert move.input_schema["properties"]["to"]["enum"] == ["a", "b"]


async def test_an_answer_is_text_or_data_and_a_refusal_is_an_error_with_all_its_lines() -> None:
    async with Client(tool_server(Offered(), "cockpit")) as client:
        text = await client.call_tool("read", {})
        assert (said(text), text.is_error, text.structured_content) == ("its text", False, None)
        data = await client.call_tool("read", {"id": "7"})
        assert data.structured_content == json.loads(said(data)) == {"ids": ["7"]}
        refused = await client.call_tool("move", {"to": "a"})
        assert refused.is_error
        assert said(refused) == "Not now\nIt is moved already.\nWait."
        unknown = await client.call_tool("fly", {})
        assert unknown.is_error
        assert "Tools: read, move" in said(unknown)


async def test_resources_are_listed_and_read() -> None:
    async with Client(tool_server(Offered(), "cockpit")) as client:
        (one,) = (await client.list_resources()).resources
        assert (one.name, one.mime_type) == ("one.md", "text/markdown")
        (part,) = (await client.read_resource(one.uri)).contents
        assert isinstance(part, types.TextResourceContents)
        assert part.text == "# One"
        with pytest.raises(MCPError, match="no such document"):
            await client.read_resource("cockpit://handoff/2")


async def test_foreign_text_is_made_safe_wherever_it_is() -> None:
    async with Client(tool_server(Offered(), "cockpit")) as client:
        data = await client.call_tool("read", {"id": "foreign"})
        safe = "abcd\ufffd\n"
        assert data.structured_content == {"ids": [safe], "in": [{"it": safe, "number": 7}]}
        assert json.loads(said(data)) == data.structured_content
        (part,) = (await client.read_resource("cockpit://handoff/foreign")).contents
        assert isinstance(part, types.TextResourceContents)
        assert part.text == safe
        with pytest.raises(MCPError) as refused:
            await client.read_resource("cockpit://handoff/2")
        assert str(refused.value).endswith(f"document\n{safe}")


@pytest.mark.parametrize(
    ("tool", "given", "complaint"),
    [
        (READ, {"agent": "other"}, "no argument 'agent'"),
        (READ, {"id": 7}, "id must be text"),
        (READ, {"id": ["7"]}, "id must be text"),
        (READ, {"id": "x" * 4_097}, "id is too long"),
        (MOVE, {}, "needs the argument to"),
        (MOVE, {"to": ""}, "needs the argument to"),
        (MOVE, {"to": "c"}, "one of: a, b"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    tool: Tool, given: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(BadUsage, match=complaint):
        checked_arguments(tool, given)


def test_arguments_that_are_empty_are_left_out() -> None:
    assert checked_arguments(READ, {"id": None}) == {}
    assert checked_arguments(READ, {"id": ""}) == {}
    assert checked_arguments(MOVE, {"to": "b"}) == {"to": "b"}

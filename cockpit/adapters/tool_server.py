"""Serve tools over the Model Context Protocol, on stdin and stdout, with the package `mcp`.

Importing this module takes about a second and 60 MB, so only `cockpit mcp` imports it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from cockpit import __version__
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.safetext import safe_line, safe_text
from cockpit.ports.agent_tools import AgentTools, Argument, Tool


async def serve(offered: AgentTools, name: str) -> None:
    """Serve these tools on stdin and stdout, until stdin ends."""
    server = tool_server(offered, name)
    async with stdio_server() as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


def tool_server(offered: AgentTools, name: str) -> Server[Any]:
    """Return an MCP server with these tools and their resources; does not start the server."""

    async def list_tools(_: object, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in offered.tools])

    async def call_tool(_: object, asked: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            tool = _named(offered.tools, asked.name)
            arguments = checked_arguments(tool, asked.arguments or {})
            return _result(await offered.call(tool.name, arguments))
        except CockpitError as error:
            return types.CallToolResult(content=[_text(str(error))], is_error=True)

    async def list_resources(_: object, __: object) -> types.ListResourcesResult:
        try:
            resources = await offered.resources()
        except CockpitError as error:
            raise _protocol_error(error) from error
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=resource.uri,
                    name=safe_line(resource.name),
                    description=safe_line(resource.description),
                    mime_type=resource.type,
                )
                for resource in resources
            ]
        )

    async def read_resource(
        _: object, asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(asked.uri)
        try:
            text = await offered.read(uri)
        except CockpitError as error:
            raise _protocol_error(error) from error
        part = types.TextResourceContents(uri=uri, mime_type="text/markdown", text=safe_text(text))
        return types.ReadResourceResult(contents=[part])

    return Server(
        name,
        version=__version__,
        instructions=offered.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


def checked_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments of a call, without empty ones. Raises `BadUsage` for invalid ones."""
    known = {argument.name: argument for argument in tool.arguments}
    for name, value in arguments.items():
        argument = known.get(name)
        if argument is None:
            takes = ", ".join(known) or "none"
            raise BadUsage(
                f"{tool.name} has no argument {safe_line(name, 80)!r}",
                f"The tool's arguments: {takes}. The tool always applies to the calling agent.",
                hint="Call the tool again with these arguments only.",
            )
        if value is not None and not isinstance(value, str):
            raise BadUsage(f"{name} must be text", hint="Call the tool again with a string.")
        if value and len(value) > argument.longest:
            raise BadUsage(
                f"{name} is too long",
                f"The limit is {argument.longest} characters.",
                hint="Call the tool again with a shorter text.",
            )
        if value and argument.choices and value not in argument.choices:
            raise BadUsage(
                f"{name} must be one of: {', '.join(argument.choices)}",
                hint="Call the tool again with one of these values.",
            )
    for argument in tool.arguments:
        if argument.required and not arguments.get(argument.name):
            raise BadUsage(
                f"{tool.name} needs the argument {argument.name}",
                argument.description,
                hint="Call the tool again with this argument.",
            )
    return {name: value for name, value in arguments.items() if value}


def _named(tools: Sequence[Tool], name: str) -> Tool:
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        raise BadUsage(
            f"Unknown tool {safe_line(name, 80)!r}",
            "",
            f"Tools: {', '.join(tool.name for tool in tools)}",
        )
    return tool


def _described(tool: Tool) -> types.Tool:
    schema = {
        "type": "object",
        "properties": {argument.name: _schema(argument) for argument in tool.arguments},
        "required": [argument.name for argument in tool.arguments if argument.required],
        "additionalProperties": False,
    }
    hints = types.ToolAnnotations(
        read_only_hint=not tool.changes,
        destructive_hint=False,
        idempotent_hint=not tool.changes,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name, description=tool.description, input_schema=schema, annotations=hints
    )


def _schema(argument: Argument) -> dict[str, Any]:
    choices = {"enum": [*argument.choices]} if argument.choices else {}
    return {"type": "string", "description": argument.description, **choices}


def _result(answer: Mapping[str, Any] | str) -> types.CallToolResult:
    if isinstance(answer, str):
        return types.CallToolResult(content=[_text(answer)])
    data = _safe(answer)
    text = json.dumps(data, indent=1, ensure_ascii=False)
    return types.CallToolResult(content=[_text(text)], structured_content=data)


def _safe(value: Any) -> Any:
    """Return a value of an answer, with all text safe to show and to encode, because a CLI may show
    it unchanged."""
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, Mapping):
        return {key: _safe(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_safe(held) for held in value]
    return value


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=safe_text(text))


def _protocol_error(error: CockpitError) -> MCPError:
    return MCPError(types.INTERNAL_ERROR, safe_text(str(error)))

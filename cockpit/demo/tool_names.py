"""Convert tool names between the script and other CLIs that use the Messages API.

opencode and Copilot CLI use this API, but their tools have other names and fields than Claude
Code's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cockpit.demo.conversation import Reply, ToolCall

_GUIDANCE = re.compile(r'(?s)Tool "[^"]{1,60}" \w+\. Additional guidance from \w+ hooks:\n(.*)')
"""Copilot's format for a hook's text in a tool result; Claude Code uses a reminder instead."""


@dataclass(frozen=True)
class ToolNames:
    """The tool names of one CLI, by the script's names."""

    tools: Mapping[str, str]
    fields: Mapping[str, Mapping[str, str]]
    """For each tool, by the script's name: the CLI's field names by the script's field names."""
    bash: Mapping[str, Any]
    """Fields that the CLI's command tool needs besides the command, with default values."""

    def to_script(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request with the script's tool names."""
        back: dict[str, str] = {theirs: ours for ours, theirs in self.tools.items()}

        def block(part: Any) -> Any:
            if not isinstance(part, dict):
                return part
            if part.get("type") == "tool_result" and isinstance(part.get("content"), str):
                text = _GUIDANCE.sub(r"<system-reminder>\1</system-reminder>", part["content"])
                return {**part, "content": text}
            if part.get("type") != "tool_use":
                return part
            name = str(back.get(part["name"], part["name"]))
            renames = {theirs: ours for ours, theirs in self.fields.get(name, {}).items()}
            given = part.get("input") or {}
            fields = {renames.get(key, key): value for key, value in given.items()}
            return {**part, "name": name, "input": fields}

        messages = [
            {**message, "content": [block(part) for part in message["content"]]}
            if isinstance(message.get("content"), list)
            else message
            for message in body.get("messages") or []
        ]
        tools = [
            {**tool, "name": back.get(str(tool.get("name")), tool.get("name"))}
            for tool in body.get("tools") or []
        ]
        return {**body, "messages": messages, "tools": tools}

    def from_script(self, reply: Reply) -> Reply:
        """Return the reply with the CLI's tool names."""
        return replace(reply, tool_calls=tuple(map(self._call, reply.tool_calls)))

    def _call(self, call: ToolCall) -> ToolCall:
        renames = self.fields.get(call.name, {})
        fields = {renames.get(key, key): value for key, value in call.input.items()}
        if call.name == "Bash":
            fields = {**self.bash, **fields}
        return replace(call, name=self.tools.get(call.name, call.name), input=fields)


_EDITED = {"file_path": "filePath", "old_string": "oldString", "new_string": "newString"}
OPENCODE = ToolNames(
    {"Bash": "bash", "Edit": "edit", "Read": "read", "Write": "write"},
    dict.fromkeys(("Edit", "Read", "Write"), _EDITED),
    {"description": "Run a command"},
)
COPILOT = ToolNames(
    {"Bash": "bash", "Edit": "edit", "Read": "view", "Write": "create"},
    {
        "Edit": {"file_path": "path", "old_string": "old_str", "new_string": "new_str"},
        "Read": {"file_path": "path"},
        "Write": {"file_path": "path", "content": "file_text"},
    },
    {"description": "Run a command", "mode": "sync", "initial_wait": 30},
)


def names_of(body: Mapping[str, Any]) -> ToolNames | None:
    """Return the tool names of the CLI that sent the request; None if the CLI uses the same tool
    names as the script."""
    tools = {str(tool.get("name")) for tool in body.get("tools") or []}
    if {"bash", "read", "write"} <= tools:
        return OPENCODE
    return COPILOT if {"bash", "create", "view"} <= tools else None

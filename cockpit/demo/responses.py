"""The simulated model's requests and replies in the format of the Responses API, for Codex.

A request is converted to a Messages API request, so that one script answers all APIs. Codex has no
tools for files, so calls of the script's file tools become shell commands. Each tool call is stored
by its id, to convert the command back.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import AsyncIterator, Mapping
from itertools import count
from typing import Any

from cockpit.demo.conversation import Reply, Request, ToolCall

COMMAND_TOOL = "exec_command"
END = "END_OF_FILE"
ASKS = "justification"
"""The field of a tool call with the reason to run its command outside the sandbox."""
_AS_COMMANDS = frozenset({"Bash", "Edit", "Read", "Write"})


class ResponsesFormat:
    """Converts requests from, and replies to, the format of the Responses API."""

    def __init__(self) -> None:
        self._calls: dict[str, ToolCall] = {}
        self._numbers = count(1)

    def request(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
        """Convert a request of the Responses API to a Messages API request."""
        messages: list[dict[str, Any]] = []
        for item in body.get("input") or []:
            role, blocks = self._blocks(item)
            if not blocks:
                continue
            if messages and messages[-1]["role"] == role == "assistant":
                messages[-1]["content"] += blocks
            else:
                messages.append({"role": role, "content": blocks})
        tools = [{"name": _tool_name(tool)} for tool in body.get("tools") or []]
        given = {
            "model": body.get("model", ""),
            "stream": True,
            "system": body.get("instructions") or "",
            "messages": messages,
            "tools": tools,
            "metadata": {"user_id": f"session_{headers.get('session-id', '')}"},
        }
        return Request(given, headers)

    def _blocks(self, item: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        match item.get("type"):
            case "message":
                role = "assistant" if item.get("role") == "assistant" else "user"
                parts = item.get("content") or []
                texts = [str(part["text"]) for part in parts if part.get("text")]
                return role, [{"type": "text", "text": text} for text in texts]
            case "function_call":
                call = self._calls.get(str(item.get("call_id")))
                if call is None:
                    call = ToolCall(str(item.get("name")), {"arguments": item.get("arguments")})
                block = {"type": "tool_use", "name": call.name, "input": dict(call.input)}
                return "assistant", [block]
            case "function_call_output":
                output = item.get("output")
                text = output if isinstance(output, str) else json.dumps(output)
                return "user", [
                    {"type": "tool_result", "content": [{"type": "text", "text": text}]}
                ]
            case _:
                return "user", []

    async def stream(self, reply: Reply) -> AsyncIterator[str]:
        """Yield a reply as server-sent events, in the order of the Responses API."""
        response = {"id": f"resp_{next(self._numbers):06}"}
        yield _event({"type": "response.created", "response": response})
        for index, item in enumerate(self._items(reply)):
            done = {"type": "response.output_item.done", "output_index": index, "item": item}
            yield _event(done)
        tokens = reply.tokens
        usage = {
            "input_tokens": tokens.context,
            "input_tokens_details": {"cached_tokens": tokens.cache_read},
            "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens.context + tokens.output,
        }
        yield _event({"type": "response.completed", "response": {**response, "usage": usage}})

    def _items(self, reply: Reply) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        if reply.text:
            content = [{"type": "output_text", "text": reply.text}]
            ident = f"msg_{next(self._numbers):06}"
            items.append({"type": "message", "role": "assistant", "id": ident, "content": content})
        for call in reply.tool_calls:
            ident = call.id or f"call_{next(self._numbers):06}"
            self._calls[ident] = call
            items.append({"type": "function_call", "call_id": ident, **_function(call)})
        return items


def _function(call: ToolCall) -> dict[str, str]:
    """Convert a tool call to a function call for Codex.

    A call of one of the script's own tools becomes a call of Codex's command tool.
    """
    if call.name not in _AS_COMMANDS:
        namespace, _, name = call.name.rpartition(".")
        named = {"namespace": namespace} if namespace else {}
        return {**named, "name": name, "arguments": json.dumps(dict(call.input))}
    arguments: dict[str, Any] = {"cmd": as_command(call), "yield_time_ms": 30_000}
    if reason := call.input.get(ASKS):
        arguments |= {"sandbox_permissions": "require_escalated", "justification": reason}
    return {"name": COMMAND_TOOL, "arguments": json.dumps(arguments)}


def as_command(call: ToolCall) -> str:
    """Convert a tool call of the script to a shell command with the same effect."""
    match call.name:
        case "Read":
            return f"cat {shlex.quote(call.path)}"
        case "Write":
            added = "".join(f"+{line}\n" for line in str(call.input["content"]).splitlines())
            return _patch(f"*** Add File: {call.path}\n{added}")
        case "Edit":
            gone = "".join(f"-{line}\n" for line in str(call.input["old_string"]).splitlines())
            new = "".join(f"+{line}\n" for line in str(call.input["new_string"]).splitlines())
            return _patch(f"*** Update File: {call.path}\n@@\n{gone}{new}")
        case _:
            return str(call.input.get("command", "true"))


def _patch(body: str) -> str:
    return f"apply_patch <<'{END}'\n*** Begin Patch\n{body}*** End Patch\n{END}"


def _tool_name(tool: Mapping[str, Any]) -> str:
    name = str(tool.get("name") or tool.get("type") or "")
    return "Bash" if name == COMMAND_TOOL else name


def _event(data: Mapping[str, Any]) -> str:
    return f"event: {data['type']}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"

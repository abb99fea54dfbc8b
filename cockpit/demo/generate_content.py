"""The simulated model's requests and replies in the format of the Gemini API, for Gemini CLI.

A request is converted to a Messages API request, so that one script answers all APIs. Gemini's
tools and the script's tools have different names; `TOOLS` maps them.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from itertools import count
from typing import Any

from cockpit.demo.conversation import ApiError, Reply, Request, ToolCall

TOOLS: Mapping[str, str] = {
    "Bash": "run_shell_command",
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "replace",
}
_OURS = {theirs: ours for ours, theirs in TOOLS.items()}
_HOOK_CONTEXT = re.compile(r"(?s)<hook_context>(.*?)</hook_context>")
CHUNK = 400
"""Maximum characters of one piece of a streamed text."""
_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}


class GenerateContentFormat:
    """Converts requests from, and replies to, the format of the Gemini API."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def request(self, model: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
        """Convert a request of the Gemini API to a Messages API request."""
        messages: list[dict[str, Any]] = []
        for content in body.get("contents") or []:
            blocks = [block for part in content.get("parts") or [] for block in _blocks(part)]
            role = "assistant" if content.get("role") == "model" else "user"
            if blocks:
                messages.append({"role": role, "content": blocks})
        declared = [
            declaration
            for tool in body.get("tools") or []
            for declaration in tool.get("functionDeclarations") or []
        ]
        system = (body.get("systemInstruction") or {}).get("parts") or []
        given = {
            "model": model,
            "stream": True,
            "system": "\n".join(str(part.get("text", "")) for part in system),
            "messages": messages,
            "tools": [{"name": _OURS.get(tool["name"], tool["name"])} for tool in declared],
        }
        return Request(given, headers)

    def answer(self, model: str, reply: Reply) -> dict[str, Any]:
        """Return a whole reply in the format of the Gemini API."""
        number = next(self._numbers)
        calls = [
            {"functionCall": {"id": call.id or f"call_{number:06}_{place}", **_function(call)}}
            for place, call in enumerate(reply.tool_calls)
        ]
        return self._piece(model, number, [{"text": reply.text}, *calls], reply)

    async def stream(self, model: str, reply: Reply) -> AsyncIterator[str]:
        """Yield a reply as server-sent events; the last event has the token counts."""
        whole = self.answer(model, reply)
        ident = whole["responseId"]
        for at in range(0, max(0, len(reply.text) - CHUNK), CHUNK):
            part = {"text": reply.text[at : at + CHUNK]}
            content = {"role": "model", "parts": [part]}
            piece = {"candidates": [{"index": 0, "content": content}], "responseId": ident}
            yield _event({**piece, "modelVersion": model})
        content = whole["candidates"][0]["content"]
        rest = len(reply.text) - 1 - (len(reply.text) - 1) % CHUNK if reply.text else 0
        left = reply.text[rest:]
        calls = content["parts"][1:]
        content["parts"] = [*([{"text": left}] if left or not calls else []), *calls]
        yield _event(whole)

    def _piece(
        self, model: str, number: int, parts: list[dict[str, Any]], reply: Reply
    ) -> dict[str, Any]:
        tokens = reply.tokens
        return {
            "candidates": [
                {
                    "index": 0,
                    "content": {"role": "model", "parts": parts},
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {
                "promptTokenCount": tokens.context,
                "cachedContentTokenCount": tokens.cache_read,
                "candidatesTokenCount": tokens.output,
                "totalTokenCount": tokens.context + tokens.output,
            },
            "modelVersion": model,
            "responseId": f"resp_{number:06}",
        }


def failure(error: ApiError) -> dict[str, Any]:
    """Return an error in the format of the Gemini API."""
    status = _STATUS.get(error.status, "UNKNOWN")
    return {"error": {"code": error.status, "message": error.message, "status": status}}


def _blocks(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Convert a part of a message to blocks. A hook's text in a tool result becomes its own
    block."""
    if "functionCall" in part:
        call = part["functionCall"]
        name = str(call.get("name"))
        given = dict(call.get("args") or {})
        return [{"type": "tool_use", "name": _OURS.get(name, name), "input": given}]
    if "functionResponse" in part:
        answer = part["functionResponse"].get("response")
        text = json.dumps(answer, ensure_ascii=False) if answer is not None else ""
        if isinstance(answer, Mapping) and isinstance(answer.get("output"), str):
            text = str(answer["output"])
        added = [{"type": "text", "text": context} for context in _HOOK_CONTEXT.findall(text)]
        result = {"type": "text", "text": _HOOK_CONTEXT.sub("", text)}
        return [{"type": "tool_result", "content": [result]}, *added]
    plain = part.get("text")
    return [{"type": "text", "text": plain}] if isinstance(plain, str) and plain else []


def _function(call: ToolCall) -> dict[str, Any]:
    given = dict(call.input)
    if call.name == "Bash":
        given.setdefault("description", "")
    if call.name == "Edit":
        given.setdefault("instruction", "Change it.")
    return {"name": TOOLS.get(call.name, call.name), "args": given}


def _event(data: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"

"""A simulated model server on the loopback interface.

Implements the parts of three APIs that the CLIs need: the streaming Messages API (Claude Code,
opencode, Copilot CLI), the Responses API (Codex) and the Gemini API (Gemini CLI). The `answer`
function returns the replies. Accepts any API key, and forwards nothing.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import TYPE_CHECKING, Any

from cockpit.demo.conversation import ApiError, Reply, Request, ToolCall
from cockpit.demo.generate_content import GenerateContentFormat, failure
from cockpit.demo.responses import ResponsesFormat
from cockpit.demo.tool_names import names_of

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request as HttpRequest
    from starlette.responses import Response

Answer = Callable[[Request], Reply]

CHUNK = 400
"""Maximum characters per delta: a reply is streamed in pieces, as a real model does."""
KEEP_ALIVE = 3600
"""Seconds until an idle connection is closed. uvicorn's default of 5 is too short on a busy
machine: a CLI that pauses longer would send its next request to a closing connection."""


class ModelServer:
    """Serves `answer` on 127.0.0.1, in its own thread; `port` 0 means any free port.

    Usable as a context manager. `answer` runs on the server's thread and must not block; use
    `Reply.delay` for a slow reply. Exceptions of `answer` reach the client as status 500.
    """

    def __init__(self, answer: Answer, *, port: int = 0) -> None:
        self.requests: list[Request] = []
        """All requests except token counts, oldest first."""
        self._answer = answer
        self._ids = count(1)
        self._format = ResponsesFormat()
        self._contents = GenerateContentFormat()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self._thread: threading.Thread | None = None
        self._stop: Callable[[], None] = lambda: None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> ModelServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start serving; connections are accepted when this returns."""
        import uvicorn

        settings = uvicorn.Config(
            self._application(),
            log_level="critical",
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=1,
            timeout_keep_alive=KEEP_ALIVE,
        )
        server = uvicorn.Server(settings)
        self._socket.listen(64)
        self._thread = threading.Thread(
            target=server.run, kwargs={"sockets": [self._socket]}, name="model", daemon=True
        )
        self._stop = lambda: setattr(server, "should_exit", True)
        self._thread.start()

    def stop(self) -> None:
        """Stop serving and free the port. Idempotent."""
        self._stop()
        if self._thread is not None:
            self._thread.join(timeout=10)
            self._thread = None
        self._socket.close()

    def _application(self) -> Starlette:
        from starlette.applications import Starlette
        from starlette.responses import JSONResponse
        from starlette.routing import Route

        async def hello(_: HttpRequest) -> Response:
            return JSONResponse({"ok": True})

        return Starlette(
            routes=[
                Route("/v1/messages", self._messages, methods=["POST"]),
                Route("/v1/responses", self._responses, methods=["POST"]),
                Route("/v1/messages/count_tokens", self._count, methods=["POST"]),
                Route("/v1beta/models/{call}", self._generate, methods=["POST"]),
                Route("/{rest:path}", hello, methods=["GET", "HEAD", "POST"]),
            ]
        )

    async def _messages(self, http: HttpRequest) -> Response:
        from starlette.responses import JSONResponse, StreamingResponse

        body = await http.json()
        names = names_of(body)
        request = Request(names.to_script(body) if names else body, dict(http.headers))
        self.requests.append(request)
        reply = self._answer(request)
        await asyncio.sleep(reply.delay)
        if reply.error is not None:
            return JSONResponse(error_body(reply.error), status_code=reply.error.status)
        message = self._message(request, names.from_script(reply) if names else reply)
        if not request.streams:
            return JSONResponse(message)
        return StreamingResponse(stream(message), media_type="text/event-stream")

    async def _responses(self, http: HttpRequest) -> Response:
        from starlette.responses import JSONResponse, StreamingResponse

        request = self._format.request(await http.json(), dict(http.headers))
        self.requests.append(request)
        reply = self._answer(request)
        await asyncio.sleep(reply.delay)
        if reply.error is not None:
            status, headers = reply.error.status, dict(reply.error.headers)
            return JSONResponse(error_body(reply.error), status_code=status, headers=headers)
        return StreamingResponse(self._format.stream(reply), media_type="text/event-stream")

    async def _generate(self, http: HttpRequest) -> Response:
        from starlette.responses import JSONResponse, StreamingResponse

        model, _, method = http.path_params["call"].partition(":")
        body = await http.json()
        if method == "countTokens":
            return JSONResponse({"totalTokens": max(1, len(json.dumps(body)) // 4)})
        request = self._contents.request(model, body, dict(http.headers))
        self.requests.append(request)
        reply = self._answer(request)
        await asyncio.sleep(reply.delay)
        if reply.error is not None:
            return JSONResponse(failure(reply.error), status_code=reply.error.status)
        if method == "generateContent":
            return JSONResponse(self._contents.answer(model, reply))
        return StreamingResponse(
            self._contents.stream(model, reply), media_type="text/event-stream"
        )

    async def _count(self, http: HttpRequest) -> Response:
        from starlette.responses import JSONResponse

        body = await http.body()
        return JSONResponse({"input_tokens": max(1, len(body) // 4)})

    def _message(self, request: Request, reply: Reply) -> dict[str, Any]:
        number = next(self._ids)
        content: list[dict[str, Any]] = []
        if reply.text:
            content.append({"type": "text", "text": reply.text})
        content.extend(
            tool_block(call, f"toolu_{number:06}_{place}")
            for place, call in enumerate(reply.tool_calls)
        )
        tokens = reply.tokens
        return {
            "id": f"msg_simulated_{number:06}",
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": content,
            "stop_reason": reply.stop_reason,
            "stop_sequence": None,
            "usage": {
                "input_tokens": tokens.input,
                "cache_creation_input_tokens": tokens.cache_creation,
                "cache_read_input_tokens": tokens.cache_read,
                "output_tokens": tokens.output,
            },
        }


def tool_block(call: ToolCall, new_id: str) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call.id or new_id,
        "name": call.name,
        "input": dict(call.input),
    }


def error_body(error: ApiError) -> dict[str, Any]:
    return {"type": "error", "error": {"type": error.type, "message": error.message}}


async def stream(message: dict[str, Any]) -> AsyncIterator[str]:
    """Yield a message as server-sent events, in the order of the Messages API."""
    usage = message["usage"]
    start = {
        **message,
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield event({"type": "message_start", "message": start})
    for index, block in enumerate(message["content"]):
        for piece in block_events(index, block):
            yield event(piece)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    output = {"output_tokens": usage["output_tokens"]}
    yield event({"type": "message_delta", "delta": ending, "usage": output})
    yield event({"type": "message_stop"})


def block_events(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    if block["type"] == "text":
        empty, kind, key, whole = {**block, "text": ""}, "text_delta", "text", block["text"]
    else:
        empty, kind, key = {**block, "input": {}}, "input_json_delta", "partial_json"
        whole = json.dumps(block["input"], ensure_ascii=False)
    deltas = [
        {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": kind, key: whole[at : at + CHUNK]},
        }
        for at in range(0, len(whole), CHUNK)
    ]
    return [
        {"type": "content_block_start", "index": index, "content_block": empty},
        *deltas,
        {"type": "content_block_stop", "index": index},
    ]


def event(data: dict[str, Any]) -> str:
    """Format one server-sent event."""
    return f"event: {data['type']}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"

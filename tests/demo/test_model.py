"""The simulated model speaks the Messages API."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from cockpit.demo.conversation import ApiError, Reply, Request, TokenCount, ToolCall
from cockpit.demo.model import ModelServer

HELLO = {"model": "claude-sonnet-4-6", "messages": [{"role": "user", "content": "hello"}]}
RATE_LIMITED = ApiError(429, "rate_limit_error", "This request would exceed your rate limit.")
LONG = "ünïcode 🛩 " * 200


def answer(request: Request) -> Reply:
    if "refuse" in request.everything:
        return Reply(error=RATE_LIMITED)
    call = ToolCall("Write", {"file_path": "/x", "content": LONG})
    return Reply("Hello.", (call,), TokenCount(3, 1_000, 20_000, 50))


def post(server: ModelServer, path: str, body: dict[str, Any]) -> tuple[int, str]:
    where = urlsplit(server.url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
    try:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def events(text: str) -> list[dict[str, Any]]:
    found = []
    for part in filter(None, text.split("\n\n")):
        name, data = part.split("\n", 1)
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        found.append(event)
    return found


def test_a_stream_has_the_order_of_the_api() -> None:
    with ModelServer(answer) as server:
        status, text = post(server, "/v1/messages?beta=true", {**HELLO, "stream": True})
    assert status == 200
    stream = events(text)
    kinds = [event["type"] for event in stream]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 2
    usage = stream[0]["message"]["usage"]
    assert usage["input_tokens"] == 3
    assert usage["cache_creation_input_tokens"] == 1_000
    assert usage["cache_read_input_tokens"] == 20_000
    assert stream[-2]["delta"]["stop_reason"] == "tool_use"
    assert stream[-2]["usage"]["output_tokens"] == 50


def test_tool_input_arrives_in_pieces_that_are_one_json() -> None:
    with ModelServer(answer) as server:
        _, text = post(server, "/v1/messages", {**HELLO, "stream": True})
    deltas = [event["delta"] for event in events(text) if event["type"] == "content_block_delta"]
    pieces = [delta["partial_json"] for delta in deltas if delta["type"] == "input_json_delta"]
    assert len(pieces) > 1
    assert json.loads("".join(pieces))["content"] == LONG


def test_a_message_without_stream_is_whole() -> None:
    with ModelServer(answer) as server:
        _, text = post(server, "/v1/messages", HELLO)
    message = json.loads(text)
    assert [block["type"] for block in message["content"]] == ["text", "tool_use"]
    assert message["model"] == "claude-sonnet-4-6"


def test_an_error_has_its_status_and_type() -> None:
    body = {**HELLO, "messages": [{"role": "user", "content": "refuse"}]}
    with ModelServer(answer) as server:
        status, text = post(server, "/v1/messages", body)
    assert status == 429
    assert json.loads(text)["error"]["type"] == "rate_limit_error"


def test_tokens_are_counted_and_requests_kept() -> None:
    with ModelServer(answer) as server:
        _, text = post(server, "/v1/messages/count_tokens", HELLO)
        post(server, "/v1/messages", HELLO)
        assert [request.latest for request in server.requests] == ["hello"]
    assert json.loads(text)["input_tokens"] > 0


def test_stopping_twice_is_the_same_as_once() -> None:
    server = ModelServer(answer)
    server.start()
    server.stop()
    server.stop()

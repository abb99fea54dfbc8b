"""The simulated model speaks the Gemini API too, with the script's own tools behind Gemini's."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from cockpit.demo.conversation import ApiError, Reply, Request, TokenCount, ToolCall
from cockpit.demo.generate_content import CHUNK
from cockpit.demo.model import ModelServer

PATH = "/v1beta/models/gemini-2.5-pro"


def post(server: ModelServer, method: str, body: dict[str, Any]) -> tuple[int, str]:
    where = urlsplit(server.url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
    try:
        connection.request("POST", f"{PATH}:{method}", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def asked(*contents: dict[str, Any]) -> dict[str, Any]:
    tools = [{"functionDeclarations": [{"name": "run_shell_command"}, {"name": "glob"}]}]
    return {"contents": list(contents), "tools": tools}


HELLO = {"role": "user", "parts": [{"text": "hello"}]}


@pytest.mark.parametrize("length", [0, 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 7])
def test_a_streamed_text_arrives_whole_with_its_tokens_at_the_end(length: int) -> None:
    words = "ü" * length
    tokens = TokenCount(3, 1_000, 20_000, 50)
    call = ToolCall("Bash", {"command": "make"})
    with ModelServer(lambda request: Reply(words, (call,), tokens)) as server:
        status, text = post(server, "streamGenerateContent?alt=sse", asked(HELLO))
    assert status == 200
    pieces = [json.loads(part.removeprefix("data: ")) for part in text.split("\n\n") if part]
    parts = [part for piece in pieces for part in piece["candidates"][0]["content"]["parts"]]
    assert "".join(part.get("text", "") for part in parts) == words
    (made,) = [part["functionCall"] for part in parts if "functionCall" in part]
    assert (made["name"], made["args"]["command"]) == ("run_shell_command", "make")
    assert pieces[-1]["usageMetadata"]["promptTokenCount"] == tokens.context
    assert pieces[-1]["candidates"][0]["finishReason"] == "STOP"
    assert len({piece["responseId"] for piece in pieces}) == 1


def test_a_request_is_understood_as_one_of_the_script() -> None:
    seen: list[Request] = []

    def answer(request: Request) -> Reply:
        seen.append(request)
        return Reply("ok")

    call = {"functionCall": {"name": "write_file", "args": {"file_path": "/x"}}}
    output = "written<hook_context>write /w/draft-1.md</hook_context>"
    result = {"functionResponse": {"name": "write_file", "response": {"output": output}}}
    with ModelServer(answer) as server:
        body = asked(
            HELLO,
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [result]},
        )
        assert json.loads(post(server, "generateContent", body)[1])["candidates"]
        counted = post(server, "countTokens", body)[1]
    assert json.loads(counted)["totalTokens"] > 0
    (request,) = seen
    assert request.model == "gemini-2.5-pro"
    assert request.tools == {"Bash", "glob"}
    assert request.opening == "hello"
    assert [(made.name, made.path) for made in request.calls_made] == [("Write", "/x")]
    assert request.document_asked == "/w/draft-1.md"


def test_an_error_has_the_form_of_the_api() -> None:
    error = ApiError(429, "rate_limit_error", "Too many.")
    with ModelServer(lambda request: Reply(error=error)) as server:
        status, text = post(server, "streamGenerateContent?alt=sse", asked(HELLO))
    assert status == 429
    assert json.loads(text)["error"] == {
        "code": 429,
        "message": "Too many.",
        "status": "RESOURCE_EXHAUSTED",
    }

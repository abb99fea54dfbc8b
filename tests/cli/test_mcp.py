"""`cockpit mcp` as a process, where no supervisor runs: it starts, answers, and ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client, types

SERVER = [sys.executable, "-P", "-m", "cockpit", "mcp"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


async def test_without_a_supervisor_it_starts_and_each_tool_says_what_to_do(own_home: Path) -> None:
    process = StdioServerParameters(command=SERVER[0], args=SERVER[1:], env=dict(os.environ))
    async with Client(stdio_client(process)) as client:
        assert "cockpit" in str(client.instructions)
        tools = (await client.list_tools()).tools
        for tool in tools:
            needed = dict.fromkeys(tool.input_schema["required"], "x")
            answer = await client.call_tool(tool.name, needed)
            (part,) = answer.content
            assert isinstance(part, types.TextContent)
            assert answer.is_error, tool.name
            assert "No supervisor is running" in part.text
            assert "Continue your work" in part.text
            assert "ask the user to run: cockpit up" in part.text
        with pytest.raises(MCPError, match="No supervisor is running"):
            await client.list_resources()


@contextmanager
def running() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            yield server
        finally:
            server.kill()


def ask(server: subprocess.Popen[str], message: dict[str, Any]) -> dict[str, Any]:
    assert server.stdin is not None
    assert server.stdout is not None
    print(json.dumps(message), file=server.stdin, flush=True)
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    return answer


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once(own_home: Path, sent: signal.Signals) -> None:
    with running() as server:
        assert ask(server, HELLO)["result"]["serverInfo"]["name"] == "cockpit"
        server.send_signal(sent)
        assert server.wait(60) == -sent


def test_it_ends_with_its_input(own_home: Path) -> None:
    with running() as server:
        assert ask(server, HELLO)["result"]["capabilities"]["tools"] is not None
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(60) == 0

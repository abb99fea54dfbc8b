"""`cockpit mcp`: serve cockpit's tools to the agent that runs this process."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import click

from cockpit.cli.options import with_common_options


@click.command(
    epilog="""\b
Examples:
  cockpit mcp                                    the command that an agent's CLI runs
  claude mcp add cockpit -- cockpit mcp          register the server yourself
  printf '%s\\n' "$REQUEST" | cockpit mcp         one JSON-RPC message per line"""
)
@with_common_options
def mcp() -> int:
    """Serve tools for agents over MCP, on stdin and stdout.

    cockpit offers these tools to each agent that it starts in Claude Code, Codex, OpenCode or
    Copilot, unless the agent has `mcp = false`. The tools show the agent's own context, subagents,
    handoffs and documents, and hand off its job. Outside an agent, each tool returns an error.
    """
    return serve_tools()


def serve_tools() -> int:
    """Serve the tools until stdin is closed.

    Needs no supervisor at the start, because each tool call opens its own connection.
    """
    # The CLI first sends SIGINT to end its servers. Python's default handler would wait for stdin.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import asyncio

    from cockpit.adapters.agents.own_command import SERVER
    from cockpit.adapters.tool_server import serve
    from cockpit.cli.agent_tools import OwnTools
    from cockpit.client.http import HttpClient

    asyncio.run(serve(OwnTools(HttpClient(supervisor_socket())), SERVER))
    return 0


def supervisor_socket() -> Path:
    """Return the socket of the cockpit whose agent runs this process.

    Outside an agent, returns the socket that the environment selects. Inside an agent, the
    environment is not enough: some CLIs do not pass variables such as `XDG_RUNTIME_DIR` to MCP
    servers.
    """
    from cockpit.adapters.process.ancestry import ancestry
    from cockpit.cli.places import our_places

    for above in ancestry(os.getpid(), boot="-"):
        if above.run and above.socket:
            return Path(above.socket)
    return our_places().socket

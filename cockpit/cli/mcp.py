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
  cockpit mcp                                    what an agent's CLI runs
  claude mcp add cockpit -- cockpit mcp          register it yourself if cockpit does not
  printf '%s\\n' "$REQUEST" | cockpit mcp         one JSON-RPC message per line"""
)
@with_common_options
def mcp() -> int:
    """Serve tools for agents over MCP, on stdin and stdout.

    cockpit offers them to each agent it starts, unless the agent has `mcp = false`. The tools
    report on the agent that runs this process: its context, handoffs and documents. In a process
    outside an agent, each tool returns an error.
    """
    return serve_tools()


def serve_tools() -> int:
    """Serve until stdin ends. Starts without a supervisor; each call looks for it again."""
    # The CLI ends its servers with SIGINT first. Python's answer to it would wait for stdin.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import asyncio

    from cockpit.adapters.agents.own_command import SERVER
    from cockpit.adapters.tool_server import serve
    from cockpit.cli.agent_tools import OwnTools
    from cockpit.client.http import HttpClient

    asyncio.run(serve(OwnTools(HttpClient(supervisor_socket())), SERVER))
    return 0


def supervisor_socket() -> Path:
    """Return the socket of the cockpit that started the agent that runs this process. Without an
    agent, return the one that the environment selects.

    Some CLIs keep variables such as `XDG_RUNTIME_DIR` from their servers.
    """
    from cockpit.adapters.process.ancestry import ancestry
    from cockpit.cli.places import our_places

    for above in ancestry(os.getpid(), boot="-"):
        if above.run and above.socket:
            return Path(above.socket)
    return our_places().socket

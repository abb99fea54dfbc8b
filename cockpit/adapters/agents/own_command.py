"""The command with which an agent's CLI runs this installation's `cockpit`, from any PATH and
directory."""

from __future__ import annotations

import sys

SERVER = "cockpit"
"""The name of cockpit's tool server in every CLI."""
OFFERED = (
    "handoff_request",
    "handoff_created",
    "handoff_status",
    "context_status",
    "get_subagent_status",
    "read_handoff",
    "search_history",
)
"""The names of its tools. A CLI that is told which tools to allow is told these, since a pattern
could match a tool of another server."""


def own_command(*words: str) -> list[str]:
    """Return the command. A repository may contain a folder with the name of a module (`-P`), and
    set variables of Python (`-E`)."""
    return [sys.executable, "-E", "-P", "-m", "cockpit", *words]


def tool_server() -> list[str]:
    """Return the command that serves cockpit's tools (MCP) on stdin and stdout."""
    return own_command("mcp")

"""The command with which an agent's CLI runs this installation's `cockpit`, whatever the PATH and
the directory."""

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
"""The names of cockpit's tools, for a CLI's list of allowed tools. A pattern instead of names could
match a tool of another server."""


def own_command(*arguments: str) -> list[str]:
    """Return the command that runs this installation's `cockpit` with these arguments.

    `-P` excludes the working directory from the import path: a repository may contain a folder with
    the name of a module. `-E` ignores Python's environment variables: a repository may set them for
    an MCP server.
    """
    return [sys.executable, "-E", "-P", "-m", "cockpit", *arguments]


def tool_server() -> list[str]:
    """Return the command of cockpit's MCP server, which uses stdin and stdout."""
    return own_command("mcp")

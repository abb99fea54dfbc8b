"""How an agent's CLI runs the `cockpit` of this installation, from any PATH and directory."""

from __future__ import annotations

import sys

SERVER = "cockpit"
"""The name of cockpit's tool server in every CLI."""


def own_command(*words: str) -> list[str]:
    """Return the command. `-P`: a repository may contain a folder with the name of a module."""
    return [sys.executable, "-P", "-m", "cockpit", *words]


def tool_server() -> list[str]:
    """Return the command that serves cockpit's tools (MCP) on stdin and stdout."""
    return own_command("mcp")

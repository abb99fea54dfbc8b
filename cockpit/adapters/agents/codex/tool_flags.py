"""Build the arguments that offer cockpit's tools to Codex for one run, without writing a file."""

from __future__ import annotations

import json

from cockpit.adapters.agents.own_command import SERVER, tool_server

VARIABLES = ("COCKPIT_AGENT", "COCKPIT_HOME", "COCKPIT_RUN", "COCKPIT_SOCKET", "COCKPIT_STATE")
"""Variables that Codex passes to the tool server. The server needs them to find the supervisor;
cockpit needs them to end the server with the agent."""
STARTUP = 60
"""Seconds within which the server must start; Codex's default is too short for a busy machine."""


def tool_flags() -> list[str]:
    """Return the option and the value that configure cockpit's tool server.

    Codex does not ask before it calls these tools, because the supervisor decides which calls are
    allowed.
    """
    command, *arguments = tool_server()
    settings = {
        "command": command,
        "args": arguments,
        "env_vars": VARIABLES,
        "startup_timeout_sec": STARTUP,
        "default_tools_approval_mode": "approve",
    }
    # Strings, numbers and lists have the same form in JSON and TOML.
    values = ",".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in settings.items()
    )
    return ["-c", f"mcp_servers.{SERVER}={{{values}}}"]

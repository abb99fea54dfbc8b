"""Build the argument that offers cockpit's tools to Codex for one run; nothing is written."""

from __future__ import annotations

import json

from cockpit.adapters.agents.own_command import SERVER, tool_server

VARIABLES = ("COCKPIT_AGENT", "COCKPIT_HOME", "COCKPIT_RUN", "COCKPIT_SOCKET", "COCKPIT_STATE")
"""Codex gives its servers few of its variables. By these the server is found and ended with the
agent."""
STARTUP = 60
"""Seconds that the server may take to start; Codex's own default is short for a busy machine."""


def tool_flags() -> list[str]:
    """Return the two arguments. Codex does not ask before these tools are called: the supervisor
    decides what they may do."""
    command, *arguments = tool_server()
    settings = {
        "command": command,
        "args": arguments,
        "env_vars": VARIABLES,
        "startup_timeout_sec": STARTUP,
        "default_tools_approval_mode": "approve",
    }
    # JSON's strings, numbers and lists are TOML's.
    values = ",".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in settings.items()
    )
    return ["-c", f"mcp_servers.{SERVER}={{{values}}}"]

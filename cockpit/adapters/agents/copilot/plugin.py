"""Write the plugin that adds cockpit's hooks to Copilot for one run.

`--plugin-dir` loads the plugin for this process only; the user's own hooks run too. With event
names in Claude Code's spelling, Copilot's reports have Claude Code's fields (1.0.102).
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from cockpit.adapters.agents.own_command import SERVER, tool_server
from cockpit.adapters.agents.reporter import install_reporter, write_whole
from cockpit.core.ids import AgentName

FOLDER = "copilot"
"""The folder of the plugins, below the state folder; one plugin per agent."""
HOOK_EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "Notification",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "PreCompact",
    "SubagentStart",
    "SubagentStop",
)
"""Events that run the reporter. `PreToolUse` is left out, because it would start a process before
every tool call and report no more than `PostToolUse`."""

TIMEOUT = 12
"""Seconds after which Copilot continues without the reporter. The reporter delays a compaction for
up to 8 s."""


def install_plugin(state: Path, agent: AgentName, *, tools: bool) -> Path:
    """Write the agent's plugin and the reporter; return the plugin's folder. Idempotent.

    With `tools`, the plugin includes cockpit's tool server.
    """
    reporter = install_reporter(state).absolute()
    folder = state.absolute() / FOLDER / agent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    command, *arguments = tool_server()
    server = {"type": "local", "command": command, "args": arguments, "tools": ["*"]}
    about: dict[str, object] = {
        "name": f"cockpit-{agent}",
        "version": "1.0.0",
        "description": "Reports this session's activity to cockpit",
        "hooks": "hooks.json",
    }
    if tools:
        about["mcpServers"] = {SERVER: server}
    hooks = {
        event: [
            {
                "type": "command",
                "bash": shlex.join([str(reporter), str(state.absolute()), agent, event]),
                "timeoutSec": TIMEOUT,
            }
        ]
        for event in HOOK_EVENTS
    }
    write_whole(folder / "plugin.json", _json(about), 0o600)
    write_whole(folder / "hooks.json", _json({"version": 1, "hooks": hooks}), 0o600)
    return folder


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()

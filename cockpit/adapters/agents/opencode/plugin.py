"""Load cockpit's plugin into opencode for one run, through the environment; no user file is
changed.

`OPENCODE_CONFIG_CONTENT` is merged over the user's and the repository's configuration. The plugin
sets the permissions, because a repository's agent settings override any variable. The plugin
removes its variables from the environment of the agent's commands, so that an opencode that the
agent starts does not report as the agent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.agents.opencode.permission_modes import PermissionMode
from cockpit.adapters.agents.own_command import OFFERED, SERVER, tool_server
from cockpit.adapters.agents.reporter import install_reporter, write_whole
from cockpit.core.errors import BadUsage
from cockpit.core.foreign_json import loads
from cockpit.core.prompt_files import IN_A_FILE
from cockpit.ports.runtimes import SessionOrder

PLUGIN = "cockpit-reports.js"
"""Name of the plugin's file. Of plugins with the same name, opencode loads only one, so this name
must be unique."""
PARTS = (PLUGIN, "cockpit-permissions.js")
"""Names of the plugin's file and of the file that the plugin imports."""
FOLDER = "opencode"
"""The folder of the plugin and of the transcripts, below the state folder."""
ORDER = "COCKPIT_OPENCODE"
CONFIG = "OPENCODE_CONFIG_CONTENT"
PERMISSION = "OPENCODE_PERMISSION"
STARTUP = 60_000
"""Milliseconds within which the tool server must start."""


def install_plugin(state: Path) -> Path:
    """Copy the plugin to the state folder, so that a running opencode can still use it after
    cockpit's package is moved. Returns the plugin's path."""
    folder = state / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in PARTS:
        content, target = (Path(__file__).parent / name).read_bytes(), folder / name
        if not target.exists() or target.read_bytes() != content:
            write_whole(target, content, 0o600)
    return folder / PLUGIN


def plugin_environment(
    state: Path, order: SessionOrder, mode: PermissionMode, prompt: Path | None
) -> dict[str, str]:
    """Return the variables that load the plugin and set the permissions.

    `prompt` is the file with the first prompt; None without one. Raises `BadUsage` if the agent's
    environment contains `CONFIG` or `PERMISSION` with a value that must be merged, but is not a
    JSON object.
    """
    environment_of_user = order.environment
    config = _object_in(environment_of_user, CONFIG)
    plugins = config.get("plugin")
    ours = install_plugin(state).absolute().as_uri()
    config["plugin"] = [*(plugins if isinstance(plugins, list) else []), ours]
    tools = [f"{SERVER}_{name}" for name in OFFERED] if order.offers_tools else []
    plugin_options = {
        "reporter": str(install_reporter(state).absolute()),
        "state": str(state.absolute()),
        "agent": order.agent,
        "records": str((state / FOLDER).absolute()),
        "prompt": str(prompt) if prompt else "",
        "named": IN_A_FILE.format(prompt) if prompt else "",
        "session": order.session_id if order.resume else "",
        "mode": {"edit": mode.edit} if mode.edit else None,
        "offered": {"name": SERVER, "server": _tools(), "tools": tools} if tools else None,
        "restored": {name: environment_of_user.get(name, "") for name in (CONFIG, PERMISSION)},
    }
    own: dict[str, object] = {}
    if mode.edit:  # in case the plugin is not loaded
        own |= {"bash": "ask", "webfetch": "ask"}
        if mode.edit != "deny":  # opencode's agent `plan` has its own rule
            own["edit"] = mode.edit
    if order.offers_tools:
        servers = config.get("mcp")
        config["mcp"] = {**(servers if isinstance(servers, dict) else {}), SERVER: _tools()}
        own |= dict.fromkeys(tools, "allow")
    environment = {ORDER: json.dumps(plugin_options), CONFIG: json.dumps(config)}
    if own:
        environment[PERMISSION] = json.dumps({**_object_in(environment_of_user, PERMISSION), **own})
    return environment


def _tools() -> dict[str, object]:
    """Return the configuration of cockpit's tool server. opencode does not ask before it calls
    these tools, because the supervisor decides which calls are allowed."""
    return {"type": "local", "command": tool_server(), "enabled": True, "timeout": STARTUP}


def _object_in(environment: Mapping[str, str], name: str) -> dict[str, object]:
    text = environment.get(name)
    if not text:
        return {}
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise BadUsage(
            f"{name} in the agent's environment is not a JSON object",
            "cockpit must add its own settings to this value.",
            "Move these settings to opencode.json.",
        )
    return value

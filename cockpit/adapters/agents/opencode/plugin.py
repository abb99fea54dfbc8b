"""Give opencode cockpit's plugin for one run, by its environment; no file of the user is changed.

`OPENCODE_CONFIG_CONTENT` is merged over the user's configuration and the repository's. Permissions
are set by the plugin, because a repository's settings of an agent count more than any variable.
The plugin removes its variables from the environment of the agent's commands, so that an opencode
that the agent starts is not taken for the agent.
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
"""Its name must not be that of a plugin of the user: opencode loads one of each name."""
PARTS = (PLUGIN, "cockpit-permissions.js")
"""The plugin, and what it imports."""
FOLDER = "opencode"
"""The folder of the plugin and of the transcripts, below the state folder."""
ORDER = "COCKPIT_OPENCODE"
CONFIG = "OPENCODE_CONFIG_CONTENT"
PERMISSION = "OPENCODE_PERMISSION"
STARTUP = 60_000
"""Milliseconds that the tool server may take to start."""


def install_plugin(state: Path) -> Path:
    """Install the plugin where a running opencode finds it, even if the package moves."""
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

    `prompt` is the file with the first prompt.

    Raises `BadUsage` if one of them is in the agent's environment in a form that cannot be merged.
    """
    given = order.environment
    config = _object_in(given, CONFIG)
    plugins = config.get("plugin")
    ours = install_plugin(state).absolute().as_uri()
    config["plugin"] = [*(plugins if isinstance(plugins, list) else []), ours]
    tools = [f"{SERVER}_{name}" for name in OFFERED] if order.offers_tools else []
    told = {
        "reporter": str(install_reporter(state).absolute()),
        "state": str(state.absolute()),
        "agent": order.agent,
        "records": str((state / FOLDER).absolute()),
        "prompt": str(prompt) if prompt else "",
        "named": IN_A_FILE.format(prompt) if prompt else "",
        "session": order.session_id if order.resume else "",
        "mode": {"edit": mode.edit} if mode.edit else None,
        "offered": {"name": SERVER, "server": _tools(), "tools": tools} if tools else None,
        "restored": {name: given.get(name, "") for name in (CONFIG, PERMISSION)},
    }
    own: dict[str, object] = {}
    if mode.edit:  # also where the plugin were not loaded
        own |= {"bash": "ask", "webfetch": "ask"}
        if mode.edit != "deny":  # opencode's agent `plan` has its own rule
            own["edit"] = mode.edit
    if order.offers_tools:
        servers = config.get("mcp")
        config["mcp"] = {**(servers if isinstance(servers, dict) else {}), SERVER: _tools()}
        own |= dict.fromkeys(tools, "allow")
    environment = {ORDER: json.dumps(told), CONFIG: json.dumps(config)}
    if own:
        environment[PERMISSION] = json.dumps({**_object_in(given, PERMISSION), **own})
    return environment


def _tools() -> dict[str, object]:
    """cockpit's tool server. The supervisor decides what its tools may do, so opencode does not ask
    before they are called."""
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
            "cockpit has to add its plugin to it.",
            "Put these settings into opencode.json.",
        )
    return value

"""Install the plugins that an agent's Claude Code loads.

The first plugin has the commands `/cockpit:handoff` and `/cockpit:continue-handoff`. It is copied
to the state folder, so that running agents can still use it after cockpit's package is moved. It
includes a `cockpit` script for this installation; the CLI puts the script on the PATH of its
shells. The plugin has no hooks, because the agent's settings already have them.

The second plugin has cockpit's tools; agents with `mcp = false` do not get it. `--mcp-config` is
not an alternative: if the user's organisation has an MCP configuration, the CLI refuses to start
with this option, but only skips the server of a plugin.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from cockpit.adapters.agents.own_command import SERVER, own_command, tool_server
from cockpit.adapters.files.private_file import write_private

SOURCE = Path(__file__).parents[3] / "plugin"
OUR_OWN = "bin/cockpit"
"""Path of the `cockpit` script in the first plugin. The script is generated; the plugin's other
files are copied."""
TOOLS = "cockpit-tools"
"""The name of the plugin with cockpit's tools."""
TOOLS_RULE = f"mcp__plugin_{TOOLS}_{SERVER}"
"""The permission rule for all of cockpit's tools, and the prefix of their full names."""


def install_plugin(state: Path) -> Path:
    """Install the plugin with cockpit's commands in the state folder; return the plugin's folder.

    Writes only changed files.
    """
    return _install(state, "plugin", _files())


def install_tools(state: Path) -> Path:
    """Install the plugin with cockpit's tools in the state folder; return the plugin's folder.

    Writes only changed files.
    """
    about = {
        "name": TOOLS,
        "version": "1.0.0",
        "description": "Tools for handoffs and for the session's own context, served by cockpit.",
        "author": {"name": "cockpit"},
    }
    command, *arguments = tool_server()
    servers = {SERVER: {"type": "stdio", "command": command, "args": arguments}}
    files = [
        (".claude-plugin/plugin.json", _json(about), 0o600),
        (".mcp.json", _json({"mcpServers": servers}), 0o600),
    ]
    return _install(state, TOOLS, files)


def _install(state: Path, plugin: str, files: Iterable[tuple[str, bytes, int]]) -> Path:
    """Write the plugin's missing and changed files; return the plugin's folder."""
    folder = state / plugin
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content, mode in files:
        path = folder / name
        if _is(path, content):
            continue
        for parent in [folder, *reversed(path.relative_to(folder).parents[:-1])]:
            (folder / parent).mkdir(exist_ok=True, mode=0o700)  # parents=True would ignore the mode
        write_private(path, content)
        path.chmod(mode)
    return folder


def launcher() -> str:
    """Return a script that runs this installation's `cockpit`, whatever the PATH and the
    directory."""
    return f'#!/bin/sh\nexec {shlex.join(own_command())} "$@"\n'


def _files() -> Iterator[tuple[str, bytes, int]]:
    for source in sorted(SOURCE.rglob("*")):
        if source.is_file():
            executable = source.parent.name == "bin"
            name = source.relative_to(SOURCE).as_posix()
            yield name, source.read_bytes(), 0o700 if executable else 0o600
    yield OUR_OWN, launcher().encode(), 0o700


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()


def _is(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content and (
            path.parent.name != "bin" or os.access(path, os.X_OK)
        )
    except OSError:
        return False

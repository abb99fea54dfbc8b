"""Make the relative paths in a file absolute, before files are merged.

A path in a file is relative to the file's folder. A bare program name is not changed, because it is
looked up in PATH.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def rooted(data: Mapping[str, Any], folder: Path, home: str) -> dict[str, Any]:
    """Return the data of one file with absolute paths; a `~` at the start is replaced by `home`.
    Does not modify `data`.

    An agent without a directory works in the file's folder.
    """
    root = _Root(folder, home)
    out = dict(data)
    if isinstance(defaults := data.get("defaults"), dict):
        out["defaults"] = _agent(defaults, root)
    if isinstance(agents := data.get("agents"), list):
        out["agents"] = [
            _agent({"directory": ".", **agent}, root) if isinstance(agent, dict) else agent
            for agent in agents
        ]
    if isinstance(runtimes := data.get("runtimes"), dict):
        out["runtimes"] = {
            name: _with(_with(runtime, "program", root.command), "reader", root.command)
            for name, runtime in runtimes.items()
        }
    if isinstance(hosts := data.get("hosts"), list):
        out["hosts"] = [
            _with(_with(host, "connect", root.command), "attach", root.command) for host in hosts
        ]
    return out


class _Root:
    def __init__(self, folder: Path, home: str) -> None:
        self.folder = folder
        self.home = home

    def path(self, written: object) -> object:
        if not isinstance(written, str) or not written:
            return written
        if written == "~" or written.startswith("~/"):
            written = self.home + written[1:]
        # Not resolve(): a path through a link stays as the user wrote it.
        return os.path.normpath(self.folder / written)

    def command(self, written: object) -> object:
        """Return the command; if the path of its program is relative, it becomes absolute."""
        if not isinstance(written, list) or not written or not isinstance(written[0], str):
            return written
        if written[0].startswith(("./", "../", "~/")):
            return [self.path(written[0]), *written[1:]]
        return written


def _with(table: object, key: str, change: Any) -> Any:
    if isinstance(table, dict) and key in table:
        return {**table, key: change(table[key])}
    return table


def _agent(agent: Mapping[str, Any], root: _Root) -> dict[str, Any]:
    out: Any = dict(agent)
    for key in ("directory", "prompt_file"):
        out = _with(out, key, root.path)
    out = _with(out, "command", root.command)
    out = _with(out, "handoff", lambda table: _with(table, "template", root.path))
    out = _with(out, "worktree", lambda table: _with(table, "directory", root.path))
    return dict(_with(out, "hooks", lambda table: _hooks(table, root)))


def _hooks(table: object, root: _Root) -> object:
    if not isinstance(table, dict):
        return table
    return {
        event: [_with(hook, "command", root.command) for hook in hooks]
        if isinstance(hooks, list)
        else hooks
        for event, hooks in table.items()
    }

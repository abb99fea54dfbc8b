"""Turn the filled-in start form into a request or a configuration table.

For an existing agent, only the changed fields are sent, so that its configuration still applies.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, cast

from cockpit.config.schema import AgentSettings
from cockpit.core.deferred_dataclass import dataclass
from cockpit.wire.verbs import Start


@dataclass(frozen=True, slots=True)
class Filled:
    """The values of the start form."""

    name: str
    known: bool
    """Whether an agent with this name already exists."""
    directory: Path
    prompt: str | None
    mode: str
    runtime: str
    worktree: bool
    command: tuple[str, ...]
    """The program and its arguments, for the runtime `command`; else empty."""
    touched: frozenset[str]
    """Ids of the fields that the user changed, such as `where`, `mode` or `runtime`."""

    def says(self, field: str) -> bool:
        return not self.known or field in self.touched


def order(filled: Filled) -> Start:
    """Return the request that starts the agent."""
    mode = cast("Literal['observe', 'prompt', 'auto']", filled.mode)
    return Start(
        name=filled.name,
        prompt=filled.prompt,
        directory=str(filled.directory) if filled.says("where") else None,
        mode=mode if filled.says("mode") else None,
        runtime=filled.runtime if "runtime" in filled.touched else None,
        command=list(filled.command) or None,
        worktree=filled.worktree and filled.says("worktree"),
    )


def kept_settings(filled: Filled) -> AgentSettings:
    """Return the agent's table for the file: name, directory and the values that the user chose."""
    table: dict[str, Any] = {"name": filled.name, "directory": filled.directory}
    if filled.prompt:
        table["prompt"] = filled.prompt
    for key in ("mode", "runtime"):
        if key in filled.touched:
            table[key] = getattr(filled, key)
    if filled.command:
        table |= {"runtime": "command", "command": filled.command}
    if "worktree" in filled.touched and filled.worktree:
        table["worktree"] = {"strategy": "git_worktree"}
    return AgentSettings.model_validate(table)

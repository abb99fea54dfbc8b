"""What the form for starting asks for, from what was filled in. No screen here.

For an agent that is known only what the pilot changed is said, so that its file goes on counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from cockpit.config.schema import AgentSettings
from cockpit.wire.verbs import Start


@dataclass(frozen=True, slots=True)
class Filled:
    """The form as it stands."""

    name: str
    known: bool
    """There is an agent of that name."""
    directory: Path
    prompt: str | None
    mode: str
    runtime: str
    worktree: bool
    touched: frozenset[str]
    """Fields that the pilot changed: `where`, `mode`, `runtime`, `worktree`."""

    def says(self, field: str) -> bool:
        return not self.known or field in self.touched


def order(filled: Filled) -> Start:
    """What is to be asked of the supervisor."""
    mode = cast("Literal['observe', 'prompt', 'auto']", filled.mode)
    return Start(
        name=filled.name,
        prompt=filled.prompt,
        directory=str(filled.directory) if filled.says("where") else None,
        mode=mode if filled.says("mode") else None,
        runtime=filled.runtime if "runtime" in filled.touched else None,
        worktree=filled.worktree and filled.says("worktree"),
    )


def kept_settings(filled: Filled) -> AgentSettings:
    """The same as a table for the file: only what was chosen, so that defaults stay defaults."""
    said: dict[str, Any] = {"name": filled.name, "directory": filled.directory}
    if filled.prompt:
        said["prompt"] = filled.prompt
    for key in ("mode", "runtime"):
        if key in filled.touched:
            said[key] = getattr(filled, key)
    if "worktree" in filled.touched and filled.worktree:
        said["worktree"] = {"strategy": "git_worktree"}
    return AgentSettings.model_validate(said)

"""Everything that knows one CLI, a module each; `runtime` is where a kind is added."""

from __future__ import annotations

from pathlib import Path

from cockpit.core.errors import BadUsage
from cockpit.ports.runtimes import Runtime

RUNTIMES = ("claude", "codex", "gemini", "command")
NOT_YET = frozenset({"codex", "gemini"})


def runtime(name: str, state: Path) -> Runtime:
    """The runtime of that name, with its files below `state`.

    One that is planned refuses to be started. Raises `BadUsage` for one that is not known.
    """
    if name == "claude":
        from cockpit.adapters.agents.claude.runtime import Claude

        return Claude(state)
    if name == "command":
        from cockpit.adapters.agents.command import Command

        return Command(state)
    if name in NOT_YET:
        from cockpit.adapters.agents.planned import Planned

        return Planned(name)
    raise BadUsage(f"There is no runtime {name!a}", hint=f"Known are: {', '.join(RUNTIMES)}.")

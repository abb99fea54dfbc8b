"""Everything that knows one CLI, a module each; `runtime` is where a kind is added."""

from __future__ import annotations

from pathlib import Path

from cockpit.core.errors import BadUsage, NotNow
from cockpit.ports.runtimes import Runtime

RUNTIMES = ("claude", "codex", "gemini", "command")
NOT_YET = frozenset({"codex", "gemini"})


def runtime(name: str, state: Path) -> Runtime:
    """The runtime of that name, with its files below `state`.

    Raises `NotNow` for one that is planned, `BadUsage` for one that is not known.
    """
    if name == "claude":
        from cockpit.adapters.agents.claude import Claude

        return Claude(state)
    if name == "command":
        from cockpit.adapters.agents.command import Command

        return Command()
    if name in NOT_YET:
        raise NotNow(
            f"The runtime {name} is not yet flown",
            "cockpit can start and watch Claude Code, and run any command in a pane.",
            f'Meanwhile: runtime = "command", command = ["{name}"] (a pane and a row, no reading)',
        )
    raise BadUsage(f"There is no runtime {name!a}", hint=f"Known are: {', '.join(RUNTIMES)}.")

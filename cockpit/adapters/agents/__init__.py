"""Adapters for agent CLIs, one module each. To add a runtime, extend `runtime`."""

from __future__ import annotations

from pathlib import Path

from cockpit.core.errors import BadUsage
from cockpit.ports.runtimes import Runtime

RUNTIMES = ("claude", "codex", "gemini", "opencode", "copilot", "command")


def runtime(name: str, state: Path) -> Runtime:
    """Return the runtime of that name; its files go below `state`.

    Raises `BadUsage` for an unknown name.
    """
    if name == "claude":
        from cockpit.adapters.agents.claude.runtime import Claude

        return Claude(state)
    if name == "codex":
        from cockpit.adapters.agents.codex.runtime import Codex

        return Codex(state)
    if name == "gemini":
        from cockpit.adapters.agents.gemini.runtime import Gemini

        return Gemini(state)
    if name == "opencode":
        from cockpit.adapters.agents.opencode.runtime import Opencode

        return Opencode(state)
    if name == "copilot":
        from cockpit.adapters.agents.copilot.runtime import Copilot

        return Copilot(state)
    if name == "command":
        from cockpit.adapters.agents.command import Command

        return Command(state)
    raise BadUsage(f"There is no runtime {name!a}", hint=f"Known are: {', '.join(RUNTIMES)}.")

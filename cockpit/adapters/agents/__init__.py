"""Adapters for agent CLIs, one package or module each. CONTRIBUTING.md lists every place that a new
CLI needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.core.errors import BadUsage

if TYPE_CHECKING:
    from cockpit.adapters.agents.own.definitions import Definitions
    from cockpit.ports.runtimes import Runtime

RUNTIMES = ("claude", "codex", "gemini", "opencode", "copilot", "command")


def runtime(name: str, state: Path, own: Definitions | None = None) -> Runtime:
    """Return the runtime with this name; it stores its files below `state`.

    `own`: the runtimes that users defined. Raises `BadUsage` for an unknown name.
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
    if own is not None and (definition := own.find(name)) is not None:
        from cockpit.adapters.agents.own.runtime import OwnProgram

        return OwnProgram(name, definition, state)
    from cockpit.adapters.agents.own.installed import load_installed

    if (installed := load_installed(name, state)) is not None:
        return installed
    known = ", ".join((*RUNTIMES, *(own.names() if own else ())))
    raise BadUsage(f"Unknown runtime {name!a}", hint=f"Known runtimes: {known}.")

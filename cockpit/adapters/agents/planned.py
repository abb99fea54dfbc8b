"""A CLI that a configuration may name but that cockpit does not support yet."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.adapters.agents.command import Command
from cockpit.core.errors import NotNow
from cockpit.ports.runtimes import Program


class Planned(Command):
    """Refuses every start, so that an agent of this kind does not prevent others from starting."""

    def __init__(self, name: str) -> None:
        self.name = name

    def program(self, environment: Mapping[str, str]) -> Program:
        raise NotNow(
            f"The runtime {self.name} is not supported yet",
            "cockpit can start and watch Claude Code, and run any command in a pane.",
            f'Until then: runtime = "command", command = ["{self.name}"] '
            "(a pane and a row, no reading)",
        )

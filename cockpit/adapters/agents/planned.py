"""A CLI that a file may name and that cannot be flown yet: its row says so when it is started."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.adapters.agents.command import Command
from cockpit.core.errors import NotNow
from cockpit.ports.runtimes import Program


class Planned(Command):
    """Takes its place among the agents, so that one of its kind keeps no other from flying."""

    def __init__(self, name: str) -> None:
        self.name = name

    def program(self, environment: Mapping[str, str]) -> Program:
        raise NotNow(
            f"The runtime {self.name} is not yet flown",
            "cockpit can start and watch Claude Code, and run any command in a pane.",
            f'Meanwhile: runtime = "command", command = ["{self.name}"] '
            "(a pane and a row, no reading)",
        )

"""Answers laid ready for an agent's hooks: `verdicts/<agent>/<event>`, printed by the reporter.

Whoever renames a file away owns it: the reporter to print it, we to take it back. So an answer
reaches the agent at most once, and a withdrawal says truthfully whether it came in time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cockpit.core.errors import Failed
from cockpit.core.ids import AgentName

_EVENT = re.compile(r"[A-Za-z]{1,40}")


class Verdicts:
    """The verdict files below one state folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def offer(self, agent: AgentName, event: str, answer: Mapping[str, Any]) -> None:
        """Lay an answer ready; it takes the place of one that still lies there."""
        path = self._path(agent, event)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = path.with_name(f".{event}.{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(answer, file)
            file.write("\n")
        temporary.replace(path)

    def withdraw(self, agent: AgentName, event: str) -> bool:
        """Take an answer back; False if it was delivered already, or never made."""
        path = self._path(agent, event)
        taken = path.with_name(f".{event}.withdrawn.{os.getpid()}")
        try:
            path.rename(taken)
        except FileNotFoundError:
            return False
        taken.unlink(missing_ok=True)
        return True

    def lying(self, agent: AgentName) -> set[str]:
        """The events for which an answer lies ready."""
        try:
            names = [entry.name for entry in (self.folder / agent).iterdir()]
        except FileNotFoundError:
            return set()
        return {name for name in names if _EVENT.fullmatch(name)}

    def clear(self, agent: AgentName) -> None:
        """Take back everything that lies ready for an agent."""
        for event in self.lying(agent):
            self.withdraw(agent, event)

    def _path(self, agent: AgentName, event: str) -> Path:
        if not _EVENT.fullmatch(event):
            raise Failed(f"{event!a} is not the name of a hook's event")
        return self.folder / agent / event

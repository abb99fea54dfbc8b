"""Answers laid ready for an agent's hooks, printed by the reporter.

`verdicts/<agent>/<event>` is an answer to one event, `verdicts/<agent>/<group>/` holds one for each
of several events of which only the first is answered. Whoever renames the file (or the folder) away
owns it: the reporter to print it, we to take it back. So an answer reaches the agent at most
once, and a withdrawal says truthfully whether it came in time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cockpit.core.errors import Failed
from cockpit.core.ids import AgentName

ASK = "ask"
"""The group of what the agent is asked; no event of a CLI has this name."""
FACTS = "facts"
"""The group of what a session is told again after a compaction."""

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
        _write(temporary, answer)
        temporary.replace(path)

    def withdraw(self, agent: AgentName, event: str) -> bool:
        """Take an answer back; False if it was delivered already, or never made."""
        return _take(self._path(agent, event))

    def ask(
        self, agent: AgentName, answers: Mapping[str, Mapping[str, Any]], group: str = ASK
    ) -> None:
        """Lay an answer ready for each event; the first that happens takes them all.

        It takes the place of an earlier one of its group that was not delivered.
        """
        for event in answers:
            self._path(agent, event)
        self.withdraw_ask(agent, group)
        folder = self.folder / agent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = folder / f".{group}.{os.getpid()}"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True, mode=0o700)
        for event, answer in answers.items():
            _write(temporary / event, answer)
        temporary.rename(folder / group)

    def withdraw_ask(self, agent: AgentName, group: str = ASK) -> bool:
        """Take a group back; False if it was delivered already, or never made."""
        return _take(self.folder / agent / group)

    def lying(self, agent: AgentName) -> set[str]:
        """What lies ready: the names of events and of groups."""
        try:
            names = {entry.name for entry in (self.folder / agent).iterdir()}
        except FileNotFoundError:
            return set()
        return {name for name in names if _EVENT.fullmatch(name)}

    def clear(self, agent: AgentName) -> None:
        """Take back everything that lies ready for an agent."""
        for name in self.lying(agent):
            _take(self.folder / agent / name)

    def _path(self, agent: AgentName, event: str) -> Path:
        if not _EVENT.fullmatch(event):
            raise Failed(f"{event!a} is not the name of a hook's event")
        return self.folder / agent / event


def _write(path: Path, answer: Mapping[str, Any]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(answer, file)
        file.write("\n")


def _take(path: Path) -> bool:
    """Rename it away, and only then remove it; False if somebody else was first."""
    taken = path.with_name(f".{path.name}.withdrawn.{os.getpid()}")
    try:
        path.rename(taken)
    except FileNotFoundError:
        return False
    if taken.is_dir():
        shutil.rmtree(taken, ignore_errors=True)
    else:
        taken.unlink(missing_ok=True)
    return True

"""Prepare responses for an agent's hooks; the reporter prints them.

`verdicts/<agent>/<group>/` contains responses for one or more events; only the first event that
occurs gets its response. The reporter renames the folder to print a response, and the supervisor
renames it to withdraw the responses; only the first rename succeeds. So a response reaches the
agent at most once, and a withdrawal reports correctly whether it was in time.

The reporter also prints files `verdicts/<agent>/<event>`, which cockpit no longer writes.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cockpit.adapters.files.private_file import write_private
from cockpit.core.errors import Failed
from cockpit.core.ids import AgentName

ASK = "ask"
"""Name of the group of responses that deliver the texts of `Runtime.ask`. No CLI event has this
name."""
FACTS = "facts"
"""Name of the group of responses that deliver the text of `Runtime.supplement`. No CLI event has
this name."""

PERMIT = "permit"
"""Name of the file with the path that the agent may write without a dialog; no CLI event has this
name."""

SEAL = "seal"
"""Name of the file that delays a compaction until the file is removed or replaced."""

_EVENT = re.compile(r"[A-Za-z]{1,40}")


class HookResponses:
    """The prepared responses of all agents, in one subfolder of `folder` per agent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def ask(
        self, agent: AgentName, answers: Mapping[str, Mapping[str, Any]], group: str = ASK
    ) -> None:
        """Prepare a response for each event; the first event that occurs removes the responses for
        the others.

        Replaces earlier responses of this group that were not delivered. Raises `Failed` for an
        invalid event name.
        """
        if strange := [event for event in answers if not _EVENT.fullmatch(event)]:
            raise Failed(f"{strange[0]!a} is not the name of a hook event")
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
        """Withdraw a group's responses; return False if one was already delivered, or none was
        prepared."""
        return _take(self.folder / agent / group)

    def permit(self, agent: AgentName, path: str) -> None:
        """Allow the agent's CLI to write this file without a dialog, until `forbid`.

        Replaces the permission for another file. Idempotent. For a path with a line break, calls
        `forbid` instead.
        """
        if "\n" in path or "\r" in path:
            self.forbid(agent)
            return
        folder = self.folder / agent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        quoted = json.dumps(path, ensure_ascii=False)[1:-1]
        write_private(folder / PERMIT, f"{path}\n{quoted}\n".encode())

    def forbid(self, agent: AgentName) -> None:
        """Withdraw the permission that `permit` gave. Idempotent."""
        with suppress(FileNotFoundError):
            (self.folder / agent / PERMIT).unlink()

    def hold_compaction(self, agent: AgentName, supervisor: int) -> None:
        """Make the agent's next compaction wait until `release_compaction`, or until the process
        with the pid `supervisor` ends; the reporter waits for at most eight seconds."""
        folder = self.folder / agent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(folder / SEAL, f"{supervisor} {secrets.token_hex(8)}\n".encode())

    def release_compaction(self, agent: AgentName) -> bool:
        """Remove the delay that `hold_compaction` set; return False if there was none."""
        return _take(self.folder / agent / SEAL)


def _write(path: Path, answer: Mapping[str, Any]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(answer, file)
        file.write("\n")


def _take(path: Path) -> bool:
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

"""The stand-in's tools: those of the CLI that the demo's jobs use."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cockpit.core.deferred_dataclass import dataclass

OFFERED = ("Bash", "Read", "Write", "Edit", "TaskCreate", "TaskUpdate")
BASH_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a tool, for the model and for the transcript."""

    text: str
    response: Any
    failed: bool = False


class Tools:
    """The tools of one session, with its task list."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._tasks = 0

    def run(self, name: str, given: Mapping[str, Any]) -> Outcome:
        """Run a tool; return a failed outcome for an error."""
        tools: dict[str, Callable[[Mapping[str, Any]], Outcome]] = {
            "Bash": self._bash,
            "Read": self._read,
            "Write": self._write,
            "Edit": self._edit,
            "TaskCreate": self._task_create,
            "TaskUpdate": self._task_update,
        }
        if name not in tools:
            return Outcome(f"There is no tool {name}", f"Error: no tool {name}", failed=True)
        try:
            return tools[name](given)
        except (OSError, ValueError) as error:
            return Outcome(str(error), f"Error: {error}", failed=True)

    def _bash(self, given: Mapping[str, Any]) -> Outcome:
        done = subprocess.run(
            ["/bin/bash", "-c", str(given["command"])],
            cwd=self._directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=BASH_SECONDS,
            check=False,
        )
        text = done.stdout.strip() or "(Bash completed with no output)"
        response = {"stdout": done.stdout, "stderr": "", "interrupted": False, "isImage": False}
        return Outcome(text, response, failed=done.returncode != 0)

    def _read(self, given: Mapping[str, Any]) -> Outcome:
        path = Path(given["file_path"])
        text = path.read_text(encoding="utf-8")
        numbered = "\n".join(f"{n}\t{line}" for n, line in enumerate(text.splitlines(), start=1))
        return Outcome(numbered, {"type": "text", "file": {"filePath": str(path)}})

    def _write(self, given: Mapping[str, Any]) -> Outcome:
        path = Path(given["file_path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(given["content"]), encoding="utf-8")
        response = {"type": "create", "filePath": str(path), "content": given["content"]}
        return Outcome(f"File created successfully at: {path}", response)

    def _edit(self, given: Mapping[str, Any]) -> Outcome:
        path = Path(given["file_path"])
        text = path.read_text(encoding="utf-8")
        old = str(given["old_string"])
        if old not in text:
            raise ValueError(f"String to replace not found in file: {old}")
        path.write_text(text.replace(old, str(given["new_string"]), 1), encoding="utf-8")
        return Outcome(f"The file {path} has been updated.", {"filePath": str(path)})

    def _task_create(self, given: Mapping[str, Any]) -> Outcome:
        self._tasks += 1
        task = {"id": str(self._tasks), "subject": given["subject"]}
        text = f"Task #{self._tasks} created successfully: {given['subject']}"
        return Outcome(text, {"task": task})

    def _task_update(self, given: Mapping[str, Any]) -> Outcome:
        response = {"success": True, "taskId": given["taskId"], "updatedFields": ["status"]}
        return Outcome(f"Updated task #{given['taskId']} status", response)

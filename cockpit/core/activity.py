"""A tool call as one line for a row: `Edit src/auth.py`, `Bash git commit -m "Add login"`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cockpit.core.safetext import cut_at_word, safe_line
from cockpit.core.session import ToolUse

LENGTH = 100
"""Characters at most; a cut line ends in an ellipsis."""

_TELLING: Mapping[str, tuple[str, ...]] = {
    "Agent": ("description", "prompt"),
    "Bash": ("command",),
    "ExitPlanMode": ("plan",),
    "Glob": ("pattern",),
    "Grep": ("pattern",),
    "NotebookEdit": ("notebook_path",),
    "Skill": ("skill", "command"),
    "Task": ("description", "prompt"),
    "TaskCreate": ("subject",),
    "WebFetch": ("url",),
    "WebSearch": ("query",),
}
_USUAL = ("file_path", "path", "description", "query", "command")
"""What tells most of a call of a tool that is not in the table."""


def activity(tool: ToolUse, cwd: str | None = None) -> str:
    """Say what a tool call does; paths under `cwd` lose that prefix.

    Holds no control character, whatever the model wrote.
    """
    return one_line(f"{tool.name} {subject(tool, cwd)}")


def subject(tool: ToolUse, cwd: str | None = None) -> str:
    """What a tool call is about: its command, its file, its question; empty if nothing tells.

    As the model wrote it, over as many lines as that has.
    """
    told = tool.input
    if tool.name == "TodoWrite":
        todos = told.get("todos")
        return f"{len(todos)} items" if isinstance(todos, list) else ""
    if tool.name == "TaskUpdate":
        return f"#{told.get('taskId', '?')} {told.get('status', '')}"
    text = _first_text(told, _TELLING.get(tool.name, _USUAL))
    if cwd and text.startswith(f"{cwd.rstrip('/')}/"):
        return text[len(cwd.rstrip("/")) + 1 :]
    return text


def _first_text(told: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = told.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def one_line(text: str) -> str:
    """The first line of a text, cut at a word to `LENGTH`, without control characters."""
    whole = text.strip().split("\n", 1)[0]
    first = cut_at_word(whole, 4 * LENGTH)
    plain = first.isascii() and first.isprintable()
    line = " ".join((first if plain else safe_line(first, 4 * LENGTH)).split())
    return (
        line
        if len(line) <= LENGTH and len(whole) <= 4 * LENGTH
        else f"{cut_at_word(line, LENGTH - 1)}…"
    )

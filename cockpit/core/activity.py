"""Describe a tool call in one line, for an agent's row or a document: `Edit src/auth.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cockpit.core.command_lines import LONGEST, work
from cockpit.core.safetext import cut_at_word, safe_line
from cockpit.core.session import ToolUse

MOST_KEPT = 4
"""A tool call with more arguments is described at once instead of on first use; see `CallLine`."""
LENGTH = 100
"""Maximum characters of a text from `one_line`; a cut text ends in an ellipsis."""

_MAIN_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
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
_COMMON_ARGUMENTS = ("file_path", "path", "description", "query", "command")
"""For a tool that is not in `_MAIN_ARGUMENTS`: the first of these arguments that is set is
shown."""


def activity(tool: ToolUse, cwd: str | None = None) -> str:
    """Describe a tool call in one line, without control characters.

    If the main argument is a path below `cwd`, the path is relative to `cwd`.
    """
    return one_line(f"{tool.name} {subject(tool, cwd)}")


def described(tool: ToolUse, cwd: str | None = None) -> str:
    """Describe a tool call in one line for a document, without control characters.

    The line of a shell command begins with the model's description of the command, if there is one,
    and leaves out `cd` and other setup before the command. Paths below `cwd` are relative to `cwd`.
    """
    if tool.name != "Bash":
        return activity(tool, cwd)
    command, description = tool.input.get("command"), tool.input.get("description")
    line = one_line(work(command)) if isinstance(command, str) else ""
    if cwd:
        line = line.replace(f"{cwd.rstrip('/')}/", "")
    if isinstance(description, str) and description.strip():
        return f"{one_line(description)}: {line}" if line else one_line(description)
    return f"Bash {line}".rstrip()


class CallLine:
    """A tool call, described in one line.

    The description of a small call is built on first use, because most calls are never shown. A
    larger call is described at once, and only the arguments that the properties need are kept.
    """

    __slots__ = ("_cwd", "_line", "_tool")

    def __init__(self, tool: ToolUse, cwd: str | None) -> None:
        small = _is_small(tool.input)
        self._line = "" if small else described(tool, cwd)
        self._tool = tool if small else _shortened(tool)
        self._cwd = cwd

    def __str__(self) -> str:
        if not self._line:
            self._line = described(self._tool, self._cwd)
        return self._line

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self._tool.name

    @property
    def argument(self) -> str:
        """The command, path or URL, cut to `LONGEST` characters; empty if there is none."""
        arguments = self._tool.input
        for name in _KEPT_ARGUMENTS:
            if isinstance(value := arguments.get(name), str):
                return value[:LONGEST]
        return ""

    @property
    def command(self) -> str:
        """The command line; empty if there is none."""
        return str(self._tool.input.get("command") or "")

    @property
    def description(self) -> str:
        """The model's description of the call; empty if there is none."""
        return str(self._tool.input.get("description") or "")


_KEPT_ARGUMENTS = ("command", "file_path", "notebook_path", "path", "url")


def _shortened(tool: ToolUse) -> ToolUse:
    arguments = tool.input
    kept = {
        name: text[:LONGEST]
        for name in (*_KEPT_ARGUMENTS, "description")
        if isinstance(text := arguments.get(name), str)
    }
    return ToolUse(tool.id, tool.name, kept)


def _is_small(arguments: Mapping[str, Any]) -> bool:
    """Return whether a call has at most `MOST_KEPT` arguments of a few types.

    The types are text of at most `LONGEST` characters, integer, boolean and None.
    """
    if len(arguments) > MOST_KEPT:
        return False
    for value in arguments.values():
        if type(value) is str:
            if len(value) > LONGEST:
                return False
        elif value is not None and not isinstance(value, int):
            return False
    return True


def subject(tool: ToolUse, cwd: str | None = None) -> str:
    """Return the main argument of a tool call, such as a command, file or question.

    For `TodoWrite`, the number of items; for `TaskUpdate`, the id and the status. Empty if the call
    has no main argument. A path below `cwd` is relative to `cwd`. The result can have several lines
    and control characters.
    """
    arguments = tool.input
    if tool.name == "TodoWrite":
        todos = arguments.get("todos")
        return f"{len(todos)} items" if isinstance(todos, list) else ""
    if tool.name == "TaskUpdate":
        return f"#{arguments.get('taskId', '?')} {arguments.get('status', '')}"
    if tool.name == "AskUserQuestion":
        return _first_question(arguments.get("questions"))
    text = _first_text(arguments, _MAIN_ARGUMENTS.get(tool.name, _COMMON_ARGUMENTS))
    if cwd and text.startswith(f"{cwd.rstrip('/')}/"):
        return text[len(cwd.rstrip("/")) + 1 :]
    return text


def _first_question(questions: object) -> str:
    first = questions[0] if isinstance(questions, list) and questions else None
    question = first.get("question") if isinstance(first, dict) else None
    return question.strip() if isinstance(question, str) else ""


def _first_text(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def one_line(text: str) -> str:
    """Return the first line of `text`, cut at a word to `LENGTH`, without control characters."""
    whole = text.strip().split("\n", 1)[0]
    first = cut_at_word(whole, 4 * LENGTH)
    plain = first.isascii() and first.isprintable()
    line = " ".join((first if plain else safe_line(first, 4 * LENGTH)).split())
    return (
        line
        if len(line) <= LENGTH and len(whole) <= 4 * LENGTH
        else f"{cut_at_word(line, LENGTH - 1)}…"
    )

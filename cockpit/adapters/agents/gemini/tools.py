"""Convert Gemini's tool calls to Claude Code's names, which all other code uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cockpit.adapters.transcripts.quoted_answers import ANSWERS_KEPT
from cockpit.core.foreign_json import loads
from cockpit.core.session import ToolUse

ASKING_TOOL = "ask_user"
SHELL_TOOL = "run_shell_command"
SUBAGENT_TOOL = "invoke_agent"
TODO_TOOL = "write_todos"
TODOS_KEPT = 500
_NAMES: Mapping[str, str] = {
    ASKING_TOOL: "AskUserQuestion",
    "glob": "Glob",
    "google_web_search": "WebSearch",
    "grep_search": "Grep",
    "read_file": "Read",
    "replace": "Edit",
    SHELL_TOOL: "Bash",
    "web_fetch": "WebFetch",
    "write_file": "Write",
}


def tool_use(ident: str, name: str, arguments: object) -> ToolUse:
    """Convert a tool call to Claude Code's names; a tool without a counterpart keeps its name."""
    fields = dict(arguments) if isinstance(arguments, Mapping) else {}
    if name == SUBAGENT_TOOL:
        return ToolUse(ident, "Agent", _subagent(fields))
    if name == TODO_TOOL:
        return ToolUse(ident, "TodoWrite", {"todos": _todos(fields.get("todos"))})
    return ToolUse(ident, _NAMES.get(name, name), fields)


def answers(given: object, output: str) -> tuple[tuple[str, str], ...]:
    """Return the answered questions of a call, with the answers. Gemini numbers answers from 0."""
    questions = given.get("questions") if isinstance(given, Mapping) else None
    try:
        result = loads(output)
    except (ValueError, RecursionError):
        return ()
    numbered = result.get("answers") if isinstance(result, dict) else None
    if not isinstance(questions, list) or not isinstance(numbered, dict):
        return ()
    asked = ((item, numbered.get(str(at))) for at, item in enumerate(questions[:ANSWERS_KEPT]))
    return tuple(
        (str(question.get("question", "")), answer)
        for question, answer in asked
        if isinstance(question, Mapping) and isinstance(answer, str) and answer.strip()
    )


def _todos(given: object) -> list[dict[str, str]]:
    items = given[:TODOS_KEPT] if isinstance(given, list) else []
    return [
        {"content": str(item.get("description", "")), "status": str(item.get("status", ""))}
        for item in items
        if isinstance(item, Mapping)
    ]


def _subagent(arguments: Mapping[str, Any]) -> dict[str, Any]:
    kept = {"description": arguments.get("agent_name"), "prompt": arguments.get("prompt")}
    return {name: value for name, value in kept.items() if isinstance(value, str)}

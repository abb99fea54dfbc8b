"""Convert Gemini's tools to the names that all other code uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cockpit.core.session import ToolUse

SUBAGENT_TOOL = "invoke_agent"
_NAMES: Mapping[str, str] = {
    "glob": "Glob",
    "google_web_search": "WebSearch",
    "grep_search": "Grep",
    "read_file": "Read",
    "replace": "Edit",
    "run_shell_command": "Bash",
    "web_fetch": "WebFetch",
    "write_file": "Write",
}


def tool_use(ident: str, name: str, given: object) -> ToolUse:
    """Return a tool call; a tool without a counterpart keeps its name."""
    arguments = dict(given) if isinstance(given, Mapping) else {}
    if name == SUBAGENT_TOOL:
        return ToolUse(ident, "Agent", _subagent(arguments))
    return ToolUse(ident, _NAMES.get(name, name), arguments)


def _subagent(arguments: Mapping[str, Any]) -> dict[str, Any]:
    kept = {"description": arguments.get("agent_name"), "prompt": arguments.get("prompt")}
    return {name: value for name, value in kept.items() if isinstance(value, str)}

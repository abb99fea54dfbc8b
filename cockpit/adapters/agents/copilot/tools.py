"""Convert Copilot's tools to Claude Code's names, which all other code uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cockpit.core.session import ToolUse

_NAMES = {
    "bash": "Bash",
    "create": "Write",
    "edit": "Edit",
    "glob": "Glob",
    "grep": "Grep",
    "task": "Task",
    "view": "Read",
}
_FIELDS = {
    "file_text": "content",
    "fileName": "file_path",
    "new_str": "new_string",
    "old_str": "old_string",
    "path": "file_path",
}
_LONGEST = 8_000


def tool_use(ident: object, name: object, arguments: object) -> ToolUse:
    """Return a call with Claude Code's names; long texts are truncated."""
    known = _NAMES.get(str(name), str(name))
    fields = arguments if isinstance(arguments, Mapping) else {}
    renames = _FIELDS if known in {"Edit", "Read", "Write"} else {}
    return ToolUse(
        str(ident), known, {renames.get(str(key), str(key)): _cut(fields[key]) for key in fields}
    )


def _cut(value: Any) -> Any:
    return value[:_LONGEST] if isinstance(value, str) else value

"""Decide which tool calls have a result from which facts are read.

A reader that skims a transcript parses only these results, and failed ones.
"""

from __future__ import annotations

from cockpit.core.check_commands import checks_in
from cockpit.core.collectors.commits import makes_commit
from cockpit.core.collectors.links import is_about_links
from cockpit.core.session import ToolUse

_ALWAYS = frozenset({"Agent", "AskUserQuestion", "ExitPlanMode", "Task"})


def result_matters(tool: ToolUse) -> bool:
    """Return whether the result of a call matters even if the call succeeded."""
    if tool.name in _ALWAYS or is_about_links(tool) or makes_commit(tool):
        return True
    if tool.name == "Read":
        path = tool.input.get("file_path")
        return isinstance(path, str) and path.endswith(".md")
    command = tool.input.get("command") if tool.name == "Bash" else None
    return isinstance(command, str) and bool(checks_in(command))


def checks_of(tool: ToolUse) -> tuple[tuple[str, ...], bool]:
    """Return the kinds of checks that a call runs, and whether its result matters for nothing else.

    Of several results that succeeded and matter for nothing else, only the last matters.
    """
    if tool.name != "Bash":
        return (), False
    kinds = tuple(found.kind for found in checks_in(str(tool.input.get("command", ""))))
    return kinds, bool(kinds) and not is_about_links(tool) and not makes_commit(tool)

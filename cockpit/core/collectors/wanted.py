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


def only_checks(tool: ToolUse) -> tuple[str, ...]:
    """Return the kinds of checks that a call runs, if its result matters for nothing else.

    Of several such results that succeeded, only the last matters.
    """
    if tool.name != "Bash" or is_about_links(tool) or makes_commit(tool):
        return ()
    return tuple(found.kind for found in checks_in(str(tool.input.get("command", ""))))

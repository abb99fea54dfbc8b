"""Decide which tool calls have a result from which facts are read.

A reader that skims a transcript parses only these results, and failed ones.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from cockpit.core.check_commands import checks_in
from cockpit.core.collectors.background import STOPPERS
from cockpit.core.collectors.commits import commits
from cockpit.core.collectors.links import is_about_links, works_on_links
from cockpit.core.collectors.tasks import TASK_TOOLS
from cockpit.core.session import ToolUse

_ALWAYS = frozenset(
    {"Agent", "AskUserQuestion", "BashOutput", "ExitPlanMode", "Task", *TASK_TOOLS, *STOPPERS}
)


class Purpose(NamedTuple):
    """What a command does of which there are facts."""

    checks: tuple[str, ...]
    """The kinds of checks that it runs."""
    commits: bool
    links: bool


@lru_cache(maxsize=64)
def purpose_of(command: str) -> Purpose:
    """Return what a command does. Cached, because several readers ask about the same call."""
    kinds = tuple(found.kind for found in checks_in(command))
    return Purpose(kinds, commits(command), works_on_links(command))


def result_matters(tool: ToolUse) -> bool:
    """Return whether the result of a call matters even if the call succeeded."""
    if tool.name == "Bash":
        command = tool.input.get("command")
        return isinstance(command, str) and any(purpose_of(command))
    if tool.name == "Read":
        path = tool.input.get("file_path")
        return isinstance(path, str) and path.endswith(".md")
    return tool.name in _ALWAYS or is_about_links(tool)


def checks_of(tool: ToolUse) -> tuple[tuple[str, ...], bool]:
    """Return the kinds of checks that a call runs, and whether its result matters for nothing else.

    Of several results that succeeded and matter for nothing else, only the last matters.
    """
    command = tool.input.get("command") if tool.name == "Bash" else None
    if not isinstance(command, str):
        return (), False
    kinds, makes_commit, about_links = purpose_of(command)
    return kinds, bool(kinds) and not makes_commit and not about_links

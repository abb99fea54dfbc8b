"""Decide whether facts come from the result of a tool call.

A reader that skims a transcript parses only the results that contain facts, and failed results.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from cockpit.core.changing_commands import changes_files
from cockpit.core.check_commands import checks_in
from cockpit.core.collectors.background import STOPPERS
from cockpit.core.collectors.commits import commits
from cockpit.core.collectors.links import is_about_links, works_on_links
from cockpit.core.collectors.tasks import TASK_TOOLS
from cockpit.core.session import ToolUse
from cockpit.core.shell_jobs import ended_pids, shell_jobs

_ALWAYS = frozenset(
    {"Agent", "AskUserQuestion", "BashOutput", "ExitPlanMode", "Task", *TASK_TOOLS, *STOPPERS}
)


class Awaited(NamedTuple):
    """The kinds of facts that come from the result of a successful call."""

    checks: tuple[str, ...]
    """The kinds of checks that the call runs."""
    only_checks: bool
    """Whether only facts about checks come from the result.

    If True, a reader needs only the last of several successful calls with the same `checks`.
    """


class Purpose(NamedTuple):
    """Which kinds of facts a command can produce."""

    checks: bool
    commits: bool
    links: bool
    changes: bool
    awaited: Awaited | None


_FACTS = Awaited((), only_checks=False)
_CHANGING = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})


@lru_cache(maxsize=64)
def purpose_of(command: str) -> Purpose:
    """Return which kinds of facts a command can produce.

    Cached, because several readers ask about the same call.
    """
    kinds = tuple(check.kind for check in checks_in(command))
    makes_commit, about_links = commits(command), works_on_links(command)
    jobs = bool(shell_jobs(command) or ended_pids(command))
    other = makes_commit or about_links or jobs
    awaited = Awaited(kinds, not other) if kinds or other else None
    return Purpose(bool(kinds), makes_commit, about_links, changes_files(command), awaited)


def awaited(tool: ToolUse) -> Awaited | None:
    """Return which facts come from the result of a call; None if the result matters only after a
    failure."""
    name = tool.name
    if name == "Bash":
        command = tool.input.get("command")
        return purpose_of(command).awaited if isinstance(command, str) else None
    if name in _CHANGING:
        return None
    if name == "Read":
        path = tool.input.get("file_path")
        return _FACTS if isinstance(path, str) and path.endswith(".md") else None
    return _FACTS if name in _ALWAYS or is_about_links(tool) else None

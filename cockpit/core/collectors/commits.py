"""Collect the commits that a session made, from the output of git."""

from __future__ import annotations

import re

from cockpit.core.collectors.bounded import remember
from cockpit.core.facts import CommitMade
from cockpit.core.session import ToolFinished, ToolUse

COMMITS_KEPT = 500
_PRINTED = re.compile(r"^\[[^\n]*? ([0-9a-f]{7,64})\] ([^\n]*)", re.MULTILINE)
_COMMAND = re.compile(r"\bgit\b[^\n]*\bcommit\b")
_BY_USER = re.compile(r"\s*(?:cd [^\n;&]{1,500}(?:&&|;)\s*)?git\b[^\n]*\bcommit\b")


class CommitCollector:
    """Keeps the commits of the agent, its subagents, and the user's own in the CLI."""

    __slots__ = ("_by_user", "_commits", "_committing")

    def __init__(self) -> None:
        self._commits: dict[str, CommitMade] = {}
        self._committing: dict[str, None] = {}
        self._by_user = False

    @property
    def commits(self) -> tuple[CommitMade, ...]:
        return tuple(self._commits.values())

    def called(self, tool: ToolUse) -> None:
        command = tool.input.get("command") if tool.name == "Bash" else None
        if isinstance(command, str) and _COMMAND.search(command):
            remember(self._committing, tool.id, None)

    def finished(self, event: ToolFinished) -> None:
        if event.tool_use_id in self._committing:
            del self._committing[event.tool_use_id]
            self._note(event.text)

    def shell(self, text: str) -> None:
        """Note a shell command that the user ran in the CLI, or the output of the last one."""
        if self._by_user:
            self._note(text)
        self._by_user = _BY_USER.match(text) is not None

    def _note(self, output: str) -> None:
        for hash_, subject in _PRINTED.findall(output):
            remember(self._commits, hash_, CommitMade(hash_, subject.strip()), COMMITS_KEPT)

"""Collect the commits that a session made, from the output of git."""

from __future__ import annotations

import re

from cockpit.core.collectors.bounded import remember, remember_call
from cockpit.core.facts import CommitMade
from cockpit.core.session import ToolFinished, ToolUse

COMMITS_KEPT = 500
_PRINTED = re.compile(r"^\[[^\n]*? ([0-9a-f]{7,64})\] ([^\n]*)", re.MULTILINE)
_LOGGED = re.compile(r"^(?:\* )?([0-9a-f]{7,64}) (?:\([^()\n]*\) )?([^\n]*)$", re.MULTILINE)
_COMMAND = re.compile(r"\bgit\b[^\n]*\bcommit\b")
_BY_USER = re.compile(r"\s*(?:cd [^\n;&]{1,500}(?:&&|;)\s*)?git\b[^\n]*\bcommit\b")
_SUBJECT = re.compile(
    r"\bcommit\b[^\n]*?(?:"
    r"\s(?:-\w*m|--message)[ =]?\s*(?:\"\$\(cat <<-?\s*'?\"?\w+'?\"?\n([^\n]+)"
    r"|\"([^\"\n$`]+)|'([^'\n]+))"
    r"|<<-?\s*'?\"?\w+'?\"?[^\n]*\n([^\n]+))"
)


def makes_commit(tool: ToolUse) -> bool:
    """Return whether a call runs `git commit`."""
    command = tool.input.get("command") if tool.name == "Bash" else None
    return isinstance(command, str) and commits(command)


def commits(command: str) -> bool:
    """Return whether a command runs `git commit`."""
    return _COMMAND.search(command) is not None


class CommitCollector:
    """Keeps the commits of the agent, its subagents, and the user's own in the CLI."""

    __slots__ = ("_by_user", "_commits", "_committing", "_quiet")

    def __init__(self) -> None:
        self._commits: dict[str, CommitMade] = {}
        self._committing: dict[str, str] = {}
        self._quiet: dict[str, None] = {}
        self._by_user = False

    @property
    def commits(self) -> tuple[CommitMade, ...]:
        return tuple(self._commits.values())

    @property
    def quiet(self) -> tuple[str, ...]:
        """Subjects of commits whose hash git did not print."""
        return tuple(self._quiet)

    def called(self, tool: ToolUse) -> None:
        if makes_commit(tool):
            found = _SUBJECT.search(str(tool.input["command"])[:8_000])
            subject = next(filter(None, found.groups()), "") if found else ""
            remember_call(self._committing, tool.id, subject.strip()[:500])

    def finished(self, event: ToolFinished) -> None:
        subject = self._committing.pop(event.tool_use_id, None)
        if subject is None or self._note(event.text) or event.failed or not subject:
            return
        logged = [hash_ for hash_, named in _LOGGED.findall(event.text) if named == subject]
        if logged:
            remember(self._commits, logged[0], CommitMade(logged[0], subject), COMMITS_KEPT)
        else:
            remember(self._quiet, subject, None, COMMITS_KEPT)

    def shell(self, text: str) -> None:
        """Record a shell command that the user ran in the CLI, or the output of the last one."""
        if self._by_user:
            self._note(text)
        self._by_user = _BY_USER.match(text) is not None

    def _note(self, output: str) -> bool:
        """Record the commits that git printed, and return whether there are any."""
        found = _PRINTED.findall(output)
        for hash_, subject in found:
            remember(self._commits, hash_, CommitMade(hash_, subject.strip()), COMMITS_KEPT)
        return bool(found)

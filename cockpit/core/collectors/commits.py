"""Collect the commits that a session made, from the output of git."""

from __future__ import annotations

import re

from cockpit.core.collectors.bounded import remember, remember_call
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.facts import CommitMade
from cockpit.core.session import ToolFinished, ToolUse

COMMITS_KEPT = 500
_PRINTED = deferred_pattern(r"^\[([^\n]*?) ([0-9a-f]{7,64})\] ([^\n]*)", re.MULTILINE)
_LOGGED = deferred_pattern(r"^(?:\* )?([0-9a-f]{7,64}) (?:\([^()\n]*\) )?([^\n]*)$", re.MULTILINE)
_COMMAND = deferred_pattern(r"\bgit\b[^\n]*\bcommit\b")
_RESET = deferred_pattern(
    r"\bgit\b[^\n;&|]*\breset\b[^\n;&|]*\bHEAD(?:~(\d{0,3})|(\^+))(?=\s*(?:[;&|\n]|$))"
)
_AMENDS = deferred_pattern(r"\bcommit\b[^\n;&|]*\s--amend\b")
_NO_COMMIT = deferred_pattern(
    r"^(?:nothing (?:added )?to commit|no changes added to commit|Aborting commit)", re.MULTILINE
)
_DRY = deferred_pattern(r"\bcommit\b[^\n;&|]*\s--dry-run\b")
_BY_USER = deferred_pattern(r"\s*(?:cd [^\n;&]{1,500}(?:&&|;)\s*)?git\b[^\n]*\bcommit\b")
_SUBJECT = deferred_pattern(
    r"\bcommit\b[^\n]*?(?:"
    r"\s(?:-\w*m|--message)[ =]?\s*(?:\"\$\(cat <<-?\s*'?\"?\w+'?\"?\n([^\n]+)"
    r"|\"([^\"\n$`]+)|'([^'\n]+))"
    r"|<<-?\s*'?\"?\w+'?\"?[^\n]*\n([^\n]+))"
)


def makes_commit(tool: ToolUse) -> bool:
    """Return whether a call runs `git commit`, or takes back commits with `git reset`."""
    command = tool.input.get("command") if tool.name == "Bash" else None
    return isinstance(command, str) and commits(command)


def commits(command: str) -> bool:
    """Return whether a command runs `git commit`, or takes back commits with `git reset`."""
    return _COMMAND.search(command) is not None or _RESET.search(command) is not None


class CommitCollector:
    """Keeps the commits of the agent, its subagents, and the user's own in the CLI.

    Commits that were amended or taken back leave.
    """

    __slots__ = ("_branch", "_by_user", "_commits", "_committing", "_quiet")

    def __init__(self) -> None:
        self._commits: dict[str, CommitMade] = {}
        self._committing: dict[str, str] = {}
        """The command of each call without a result."""
        self._branch = ""
        """The branch of the last commit that git printed."""
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
            remember_call(self._committing, tool.id, str(tool.input["command"])[:8_000])

    def finished(self, event: ToolFinished) -> None:
        command = self._committing.pop(event.tool_use_id, None)
        if command is None:
            return
        if not event.failed and (reset := _RESET.search(command)) is not None:
            self._take_back(int(reset[1] or 1) if reset[2] is None else len(reset[2]))
        amends = _AMENDS.search(command) is not None
        if self._note(event.text, amends=amends) or event.failed:
            return
        subject = _subject(command)
        if not subject or _DRY.search(command) or _NO_COMMIT.search(event.text):
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

    def _take_back(self, count: int) -> None:
        for hash_ in [*self._commits][-count:] if count else ():
            # git can still have it: the branch may have had other commits.
            remember(self._quiet, self._commits.pop(hash_).subject, None, COMMITS_KEPT)

    def _note(self, output: str, *, amends: bool = False) -> bool:
        """Record the commits that git printed, and return whether there are any."""
        found = _PRINTED.findall(output)
        for branch, hash_, subject in found:
            if amends and branch == self._branch:
                self._take_back(1)
            self._branch = branch
            remember(self._commits, hash_, CommitMade(hash_, subject.strip()), COMMITS_KEPT)
        return bool(found)


def _subject(command: str) -> str:
    """Return the first line of the message in a command; empty if the command does not have it."""
    found = _SUBJECT.search(command)
    subject = next(filter(None, found.groups()), "") if found else ""
    return subject.strip()[:500]

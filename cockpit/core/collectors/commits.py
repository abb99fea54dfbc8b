"""Collect the commits that a session made, from the output of git."""

from __future__ import annotations

import re
from collections import deque

from cockpit.core.collectors.bounded import remember, remember_call
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.facts import CommitMade
from cockpit.core.session import ToolFinished, ToolUse
from cockpit.core.session_commits import same_commit

COMMITS_KEPT = 500
LEFT_KEPT = 20
"""Maximum resets and amendments whose removed commits are remembered."""
_PRINTED = deferred_pattern(r"^\[([^\n]*?) ([0-9a-f]{7,64})\] ([^\n]*)", re.MULTILINE)
_LOGGED = deferred_pattern(r"^(?:\* )?([0-9a-f]{7,64}) (?:\([^()\n]*\) )?([^\n]*)$", re.MULTILINE)
_COMMAND = deferred_pattern(r"\bgit\b[^\n]*\b(?:commit|cherry-pick|revert)\b")
_OTHER = deferred_pattern(r"\bgit\b[^\n;&|]*\b(?:reset|log|checkout|switch)\b")
"""Matches commands whose output can show the branch, or the commits on the branch."""
_RESET = deferred_pattern(
    r"\bgit\b[^\n;&|]*\breset((?:\s+--?[a-z][a-z-]*)*)"
    r"\s+(?:HEAD(?:~(\d{0,3})|(\^+))|([0-9a-f]{7,64})|[^\s;&|-][^\s;&|]*)(?=\s*(?:[;&|\n]|$))"
)
_NOW_AT = deferred_pattern(r"^HEAD is now at ([0-9a-f]{7,64})\b", re.MULTILINE)
_RESET_QUIETLY = deferred_pattern(
    r"\(Bash completed with no output\)|Unstaged changes after reset:"
)
"""Matches the output of a reset that keeps the files: Claude Code's text for a successful command
without output (2.1.330), or git's own."""
_SWITCHED = deferred_pattern(
    r"^(?:Switched to (?:a new )?branch|Note: switching to) ", re.MULTILINE
)
_LOG = deferred_pattern(r"\bgit\b[^\n;&|]*\blog\b")
_AMENDS = deferred_pattern(r"\bcommit\b[^\n;&|]*\s--amend\b")
_NO_COMMIT = deferred_pattern(
    r"^(?:nothing (?:added )?to commit|no changes added to commit|Aborting commit)", re.MULTILINE
)
_DRY = deferred_pattern(r"\bcommit\b[^\n;&|]*\s--dry-run\b")
_BY_USER = deferred_pattern(
    r"\s*(?:cd [^\n;&]{1,500}(?:&&|;)\s*)?git\b[^\n]*\b(?:commit|cherry-pick|revert|reset)\b"
)
_SUBJECT = deferred_pattern(
    r"\bcommit\b[^\n]*?(?:"
    r"\s(?:-\w*m|--message)[ =]?\s*(?:\"\$\(cat <<-?\s*'?\"?\w+'?\"?\n([^\n]+)"
    r"|\"([^\"\n$`]+)|'([^'\n]+))"
    r"|<<-?\s*'?\"?\w+'?\"?[^\n]*\n([^\n]+))"
)


def commits(command: str) -> bool:
    """Return whether a command makes, resets or lists commits, or switches the branch."""
    return "git" in command and (
        _COMMAND.search(command) is not None or _OTHER.search(command) is not None
    )


class CommitCollector:
    """Keeps the commits of the agent, of subagents, and of the user's shell commands in the CLI.

    Drops a commit that a reset or an amendment removes from the branch. A later reset to such a
    commit adds the commit again.
    """

    __slots__ = ("_branch", "_by_user", "_commits", "_committing", "_elsewhere", "_left", "_quiet")

    def __init__(self) -> None:
        self._commits: dict[str, CommitMade] = {}
        self._committing: dict[str, str] = {}
        """Unfinished commands about commits, by the id of the call."""
        self._branch = ""
        """The branch of the last commit that git printed."""
        self._quiet: dict[str, None] = {}
        self._by_user = ""
        """The user's previous shell command in the CLI, if its output can show commits."""
        self._elsewhere = False
        """Whether the branch was switched after the last commit. If so, a reset removes no known
        commits."""
        self._left: deque[tuple[str, tuple[CommitMade, ...]]] = deque(maxlen=LEFT_KEPT)
        """For each reset or amendment: the hash of the commit before the removed commits, and the
        removed commits. The hash is empty if no commit before them is known."""

    @property
    def commits(self) -> tuple[CommitMade, ...]:
        return tuple(self._commits.values())

    @property
    def quiet(self) -> tuple[str, ...]:
        """Subjects of commits that are not in `commits`, but may be on the branch.

        For such a commit, git did not print the hash, or a reset or an amendment seems to have
        removed the commit.
        """
        return tuple(self._quiet)

    def called(self, tool: ToolUse) -> None:
        command = tool.input.get("command")
        if isinstance(command, str) and commits(command):
            remember_call(self._committing, tool.id, command[:8_000])

    def finished(self, event: ToolFinished) -> None:
        command = self._committing.pop(event.tool_use_id, None)
        if command is None:
            return
        if not event.failed:
            self._moved(command, event.text)
        if _COMMAND.search(command) is None:
            self._listed(command, event)
            return
        if self._note(event.text, amends=_amends(command)) or event.failed:
            return
        subject = quiet_subject(command, event.text)
        if not subject:
            return
        logged = [hash_ for hash_, named in _LOGGED.findall(event.text) if named == subject]
        if logged:
            remember(self._commits, logged[0], CommitMade(logged[0], subject), COMMITS_KEPT)
        else:
            remember(self._quiet, subject, None, COMMITS_KEPT)

    def shell(self, text: str) -> None:
        """Record a shell command that the user ran in the CLI, or the output of that command."""
        command, self._by_user = self._by_user, text[:8_000] if _BY_USER.match(text) else ""
        if not command:
            return
        if (reset := _RESET.search(command)) is not None and _has_reset(reset, text):
            self._reset(reset, text)
        self._note(text, amends=_amends(command))

    def _moved(self, command: str, output: str) -> None:
        """Record that a command switched the branch, and apply a reset to the known commits."""
        if "witch" in output and _SWITCHED.search(output) is not None:
            self._elsewhere = True
        if "reset" in command and (reset := _RESET.search(command)) is not None:
            self._reset(reset, output)

    def _reset(self, reset: re.Match[str], output: str) -> None:
        """Remove the commits after the target of a reset, if the target is known."""
        if self._elsewhere:
            return
        now = _NOW_AT.search(output)
        target = now[1] if now is not None else reset[4]
        if target is not None and self._is_at(target):
            return
        if reset[3] is not None:
            self._take_back(len(reset[3]))
        elif reset[2] is not None:
            self._take_back(int(reset[2] or 1))

    def _is_at(self, target: str) -> bool:
        """Make `target` the newest commit, if this commit is known; return whether it is known."""
        known = [*self._commits]
        for at, hash_ in enumerate(known):
            if same_commit(hash_, target):
                self._take_back(len(known) - at - 1)
                return True
        for before, group in reversed(self._left):
            for at, made in enumerate(group):
                if same_commit(made.hash, target):
                    self._take_back(len(known) - known.index(before) - 1 if before in known else 0)
                    for restored in group[: at + 1]:
                        remember(self._commits, restored.hash, restored, COMMITS_KEPT)
                        self._quiet.pop(restored.subject, None)
                    return True
        return False

    def _take_back(self, count: int) -> None:
        hashes = [*self._commits]
        kept = hashes[:-count] if count else hashes
        removed = tuple(self._commits.pop(hash_) for hash_ in hashes[len(kept) :])
        if removed:
            self._left.append((kept[-1] if kept else "", removed))
        for made in removed:
            # The branch may still have this commit, if the reset removed commits unknown here.
            remember(self._quiet, made.subject, None, COMMITS_KEPT)

    def _listed(self, command: str, event: ToolFinished) -> None:
        """Record the hashes that `git log` shows for the subjects in `_quiet`."""
        if not self._quiet or event.failed or _LOG.search(command) is None:
            return
        for hash_, subject in _LOGGED.findall(event.text):
            if subject in self._quiet:
                del self._quiet[subject]
                if not any(same_commit(hash_, known) for known in self._commits):
                    remember(self._commits, hash_, CommitMade(hash_, subject), COMMITS_KEPT)

    def _note(self, output: str, *, amends: bool = False) -> bool:
        """Record the commits that git printed, and return whether there are any."""
        printed = _PRINTED.findall(output)
        for branch, hash_, subject in printed:
            if amends and branch == self._branch:
                self._take_back(1)
            self._branch, self._elsewhere = branch, False
            remember(self._commits, hash_, CommitMade(hash_, subject.strip()), COMMITS_KEPT)
        return bool(printed)


def _has_reset(reset: re.Match[str], output: str) -> bool:
    """Return whether the output shows that a reset by the user succeeded.

    Empty output proves nothing, because the output of a failed reset can be empty too.
    """
    if _NOW_AT.search(output) is not None:
        return True
    return "--hard" not in reset[1] and _RESET_QUIETLY.match(output) is not None


def _amends(command: str) -> bool:
    return "--amend" in command and _AMENDS.search(command) is not None


def quiet_subject(command: str, output: str) -> str:
    """Return a new commit's subject from the command, for a commit that git did not print.

    Empty if unknown. The command must have succeeded, and its output must name no commit.
    """
    if _DRY.search(command) or _NO_COMMIT.search(output):
        return ""
    return _subject(command)


def _subject(command: str) -> str:
    """Return the first line of the commit message in a command; empty if there is no message."""
    match = _SUBJECT.search(command)
    subject = next(filter(None, match.groups()), "") if match else ""
    return subject.strip()[:500]

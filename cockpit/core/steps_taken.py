"""Record the tool calls of a session that show how well a handoff went, in bounded memory.

Calls of subagents are left out.
"""

from __future__ import annotations

import re
from collections import deque

from cockpit.core.collectors.commits import quiet_subject
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.safetext import cut_at_word
from cockpit.core.session import AssistantReplied, SessionEvent, Skipped, ToolFinished, ToolUse
from cockpit.core.shell_words import MOST as LONGEST_COMMAND
from cockpit.core.shell_words import git_command, simple_commands

FIRST_CALLS = 50
"""Number of tool calls at the beginning of a session that count as its first turns."""
MOST_FAILURES = 50
MOST_QUESTIONS = 50
MOST_PENDING = 100
LONGEST = 400
"""Maximum characters of an error line and of a question."""

_PATH_OF = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}
_COMMITTED = re.compile(r"^\[[^\n]*? [0-9a-f]{7,64}\] ([^\n]*)", re.MULTILINE)
_DRAFT = re.compile(r"draft-[0-9a-f]{8}\.md$")
_QUIETLY = frozenset({"-q", "--quiet", "-qm", "-qam", "-aqm"})
_EXIT_CODE = re.compile(r"(?:Exit code|Error: Exit code) \d+")


@dataclass(frozen=True, slots=True)
class Step:
    """One finished tool call."""

    tool: str
    command: str = ""
    """The command line of a shell command."""
    path: str = ""
    """The file of an edit."""
    question: str = ""
    failed: bool = False
    error: str = ""
    """The first line of a failed call's output, not counting the line with the exit code."""
    committed: tuple[str, ...] = ()
    """Subjects of new commits, even if a later part of the command failed. An amended commit is not
    new."""

    @property
    def changes(self) -> bool:
        """Whether the call edited a file or made a commit."""
        return bool(self.committed) or (bool(self.path) and not self.failed)


class StepsTaken:
    """Records the steps of one session from the events that are passed to `feed`."""

    __slots__ = ("_pending", "calls", "failures", "first", "first_change", "questions")

    def __init__(self) -> None:
        self.calls = 0
        """Number of finished calls."""
        self.first: list[Step] = []
        """The first `FIRST_CALLS` finished calls."""
        self.failures: deque[Step] = deque(maxlen=MOST_FAILURES)
        """The last shell commands that failed."""
        self.questions: deque[str] = deque(maxlen=MOST_QUESTIONS)
        """The last questions that the user was asked with a tool."""
        self.first_change: float | None = None
        """When the first edit or commit was finished, in unix seconds; None before that."""
        self._pending: dict[str, ToolUse] = {}

    def feed(self, event: SessionEvent | Skipped) -> None:
        """Process the next event of the transcript."""
        if isinstance(event, AssistantReplied) and not event.sidechain:
            for tool in event.tools:
                if tool.id not in self._pending:
                    self._pending[tool.id] = ToolUse(tool.id, tool.name, _kept(tool))
            while len(self._pending) > MOST_PENDING:
                del self._pending[next(iter(self._pending))]
        elif isinstance(event, ToolFinished) and event.tool_use_id in self._pending:
            self._finished(self._pending.pop(event.tool_use_id), event)

    def _finished(self, tool: ToolUse, event: ToolFinished) -> None:
        step = _step(tool, event)
        self.calls += 1
        if len(self.first) < FIRST_CALLS:
            self.first.append(step)
        if step.failed and step.command:
            self.failures.append(step)
        if step.question and not step.failed:
            self.questions.append(step.question)
        if self.first_change is None and step.changes and event.at is not None:
            self.first_change = event.at.timestamp()


def _kept(tool: ToolUse) -> dict[str, str]:
    """Return the arguments that a step needs: the command, the path or the questions."""
    if tool.name == "AskUserQuestion":
        questions = tool.input.get("questions")
        listed = questions if isinstance(questions, list) else [tool.input]
        texts = [
            str(question.get("question") or "")
            for question in listed[:4]
            if isinstance(question, dict)
        ]
        return {"question": cut_at_word(" / ".join(filter(None, texts)), LONGEST)}
    if tool.name == "Bash":
        command = tool.input.get("command")
        # A command that is too long to compare is left out, not shortened.
        fits = isinstance(command, str) and len(command) <= LONGEST_COMMAND
        return {"command": str(command).strip()} if fits else {}
    path = tool.input.get(_PATH_OF.get(tool.name, ""))
    return {"path": path} if isinstance(path, str) and _DRAFT.search(path) is None else {}


def _step(tool: ToolUse, event: ToolFinished) -> Step:
    command = tool.input.get("command", "")
    return Step(
        tool.name,
        command=command,
        path=tool.input.get("path", ""),
        question=tool.input.get("question", ""),
        failed=event.failed,
        error=_first_error(event.text) if event.failed else "",
        committed=_subjects(command, event.text, failed=event.failed),
    )


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    without_code = [line for line in lines if _EXIT_CODE.fullmatch(line) is None]
    return next(iter(without_code or lines), "")[:LONGEST]


def _subjects(command: str, output: str, *, failed: bool) -> tuple[str, ...]:
    """Return the subjects of the commits that a command made.

    The subjects come from git's output. With `--quiet`, the subject comes from the command, if the
    command made only one commit. Empty if git may have made or changed a commit in another way,
    such as with `--amend`.
    """
    # Parsing a command line is slow, and nearly all commands of a transcript commit nothing.
    printed = _COMMITTED.findall(output) if "commit" in command else []
    quiet = "" if printed or failed or "git" not in command else quiet_subject(command, output)
    if not printed and not quiet:
        return ()
    commits = [git for words in simple_commands(command) if _may_commit(git := git_command(words))]
    if not commits or any(git[0] != "commit" or "--amend" in git for git in commits):
        return ()
    if printed:
        return tuple(subject.strip() for subject in printed)
    (made, *others) = commits
    return (quiet,) if not others and _QUIETLY & {*made} else ()


def _may_commit(git: tuple[str, ...]) -> bool:
    return bool(git) and git[0] in {"commit", "rebase", "cherry-pick", "revert", "merge", "am"}

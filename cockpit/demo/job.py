"""The types of the demo's jobs, and the tool calls of their steps; the jobs are in `jobs.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from cockpit.core.deferred_dataclass import dataclass
from cockpit.demo.conversation import ToolCall

COMPLETE = "HANDOFF: COMPLETE"
"""The completion marker, which every prompt of the demo requests."""
TESTS = "python3 -m unittest -q"
EVERYTHING = "Bash"
"""The tools that need no permission. The permission mode of the demo allows edits too."""
ASK_USER = "AskUserQuestion"
"""The tool that asks the user a question; not every CLI has it."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How the context grows from reply to reply, in tokens."""

    opening: int = 24_000
    step: int = 24_000
    """Tokens per reply. By default 12% of a window of 200k, so the CLI compacts after seven
    replies."""
    settled: int = 2_500
    settled_at: int = 140_000
    """If the job settles: the number of tokens from which a reply adds only `settled` tokens."""

    def times(self, factor: float) -> Growth:
        """Return the growth for a window that is larger by this factor."""
        sizes = (self.opening, self.step, self.settled, self.settled_at)
        return Growth(*(round(size * factor) for size in sizes))

    def after(self, replies: int, *, settles: bool) -> int:
        """Return the tokens in the window after this number of replies.

        For a negative number, returns half of `opening`: the tokens before the first reply.
        """
        if replies < 0:
            return self.opening // 2
        total = self.opening + self.step * replies
        if not settles or total <= self.settled_at:
            return total
        full_steps = max(0, -(-(self.settled_at - self.opening) // self.step))
        return self.opening + self.step * full_steps + self.settled * (replies - full_steps)


@dataclass(frozen=True, slots=True)
class Step:
    """One message of the model: its text and its tool calls."""

    title: str
    """The step's name in the task lists of documents and summaries."""
    say: str
    calls: tuple[ToolCall, ...] = ()
    """The tool calls of the message; file paths are relative to the worktree. Without calls, the
    turn ends."""
    commit: str | None = None
    """The subject of the commit that the step makes."""
    finishes: str | None = None
    """The milestone that the step completes."""
    asks: str | None = None
    """The command or the question that the user must answer; None if the step needs no answer."""
    instead: Mapping[str, tuple[ToolCall, ...]] = field(default_factory=dict)
    """The calls in place of `calls`, by the option that the user chose in an earlier question."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job for one agent."""

    agent: str
    mode: Literal["observe", "prompt", "auto"]
    title: str
    """The first line of the prompt, by which the model recognises the job."""
    request: str
    milestones: tuple[str, ...]
    steps: tuple[Step, ...]
    state: str
    decisions: str
    dead_end: str
    settles: bool = True
    """Whether the context grows slowly once it is nearly full. If not, the CLI compacts."""
    growth: Growth | None = None
    """How the context grows; None for the default growth of `Script`."""
    allowed: str = EVERYTHING
    """The tools that the agent may use without asking, besides editing files."""

    @property
    def prompt(self) -> str:
        return f"{self.title}\n\n{self.request}"

    @property
    def spans_sessions(self) -> bool:
        """Whether the job needs a handoff to finish."""
        return self.mode != "observe"


def bash(command: str, description: str) -> ToolCall:
    """Return a call that runs a command."""
    return ToolCall("Bash", {"command": command, "description": description})


def write(path: str, content: str) -> ToolCall:
    """Return a call that writes a whole file."""
    return ToolCall("Write", {"file_path": path, "content": content})


def edit(path: str, old: str, new: str) -> ToolCall:
    """Return a call that replaces a text in a file."""
    return ToolCall("Edit", {"file_path": path, "old_string": old, "new_string": new})


def run_tests() -> ToolCall:
    """Return a call that runs all tests of the project."""
    return bash(TESTS, "Run the tests")


def commit(subject: str) -> ToolCall:
    """Return a call that commits all changes."""
    done = f'git add --all && git commit --quiet -m "{subject}"'
    return bash(f"{done} && git log --oneline -1", "Commit")


def look(say: str) -> Step:
    """Return a job's first step, which reads the project's code; `say` is the model's text."""
    return Step(
        "Read the code and plan",
        say,
        (bash("git log --oneline -5 && ls tally tests && cat tally/report.py", "Look around"),),
    )


def ending(say: str) -> Step:
    """Return a job's last step: the text `say` and the completion marker."""
    return Step("Report", f"{say}\n\n{COMPLETE}")

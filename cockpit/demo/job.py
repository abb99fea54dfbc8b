"""What a job consists of, and the few tools its steps use; the jobs are in `jobs.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cockpit.demo.conversation import ToolCall

TESTS = "python3 -m unittest -q"


@dataclass(frozen=True, slots=True)
class Step:
    """One message of the model: what it says, and the tools it calls with it."""

    title: str
    """How documents and summaries list it."""
    say: str
    calls: tuple[ToolCall, ...] = ()
    """File paths are relative to the worktree. None: the turn ends here."""
    commit: str | None = None
    """The subject of the commit that it makes."""
    finishes: str | None = None
    """The milestone that it completes."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job for one agent."""

    agent: str
    mode: Literal["observe", "prompt", "auto"]
    title: str
    """The first line of the prompt; the model knows the job by it."""
    request: str
    milestones: tuple[str, ...]
    steps: tuple[Step, ...]
    state: str
    decisions: str
    dead_end: str
    settles: bool = True
    """Its context stops growing so fast once it is nearly full; otherwise the CLI compacts."""

    @property
    def prompt(self) -> str:
        """What the agent is asked, verbatim."""
        return f"{self.title}\n\n{self.request}"

    @property
    def spans_sessions(self) -> bool:
        """Whether it takes a handoff to get to its end."""
        return self.mode != "observe"


def bash(command: str, description: str) -> ToolCall:
    """Run a command."""
    return ToolCall("Bash", {"command": command, "description": description})


def write(path: str, content: str) -> ToolCall:
    """Write a whole new file."""
    return ToolCall("Write", {"file_path": path, "content": content})


def edit(path: str, old: str, new: str) -> ToolCall:
    """Exchange a piece of a file for another."""
    return ToolCall("Edit", {"file_path": path, "old_string": old, "new_string": new})


def run_tests() -> ToolCall:
    """Run every test of the project."""
    return bash(TESTS, "Run the tests")


def commit(subject: str) -> ToolCall:
    """Commit everything that changed."""
    return bash(f'git add --all && git commit --quiet -m "{subject}"', "Commit")


def look(say: str) -> Step:
    """How every job begins."""
    return Step(
        "Read the code and plan",
        say,
        (bash("git log --oneline -5 && ls tally tests && cat tally/report.py", "Look around"),),
    )


def ending(say: str) -> Step:
    """How every job ends: the marker that says that it is done."""
    return Step("Report", f"{say}\n\nHANDOFF: COMPLETE")

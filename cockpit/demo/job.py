"""What a job consists of, and the few tools its steps use; the jobs are in `jobs.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cockpit.demo.conversation import ToolCall

TESTS = "python3 -m unittest -q"
EVERYTHING = "Bash"
"""With files edited freely, no tool is left that the CLI would ask about."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How the context fills from call to call, in tokens."""

    opening: int = 24_000
    step: int = 24_000
    """12 % of a window of 200k: seven calls from the start to the CLI's own compaction."""
    settled: int = 2_500
    settled_at: int = 140_000
    """From here on a job that settles grows slowly: what is left is asked for, not work."""

    def after(self, replies: int, *, settles: bool) -> int:
        """Tokens in the window when so many replies are in the conversation."""
        if replies < 0:
            return self.opening // 2
        total = self.opening + self.step * replies
        if not settles or total <= self.settled_at:
            return total
        full_steps = max(0, -(-(self.settled_at - self.opening) // self.step))
        return self.opening + self.step * full_steps + self.settled * (replies - full_steps)


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
    growth: Growth | None = None
    """How its context fills; None: as the script says."""
    allowed: str = EVERYTHING
    """The tools that it may use without asking, beside editing files."""

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
    done = f'git add --all && git commit --quiet -m "{subject}"'
    return bash(f"{done} && git log --oneline -1", "Commit")


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

"""The names that a CLI gives its tools, for texts that its model reads."""

from __future__ import annotations

from cockpit.core.deferred_dataclass import dataclass

SUCCESSORS = ("claude", "codex", "gemini", "opencode", "copilot")
"""Runtimes that can take over a job from another runtime."""


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of one CLI and its tools, for the model that runs in it."""

    cli: str
    """The name of the CLI in texts, such as `Claude Code`."""
    read: str
    """The tool that reads a file, as a phrase after "with"."""
    write: str
    """The tool that writes a file, as a phrase after "with"."""
    all: tuple[str, ...]
    """The tools that a document written in this CLI may mention; empty if unknown."""


CLAUDE_TOOLS = ToolNames(
    cli="Claude Code",
    read="your Read tool",
    write="your Write tool",
    all=("Read", "Write", "Edit", "Bash", "Grep", "Agent", "TodoWrite"),
)


def change_of_cli(old: ToolNames, new: ToolNames) -> str:
    """Return the note that tells the model in `new` that the document was written in `old`."""
    theirs, ours = (", ".join(f"`{name}`" for name in tools.all) for tools in (old, new))
    names = f": {theirs} there, {ours} here" if theirs and ours else ""
    return (
        f"The previous session ran in {old.cli}, this one runs in {new.cli}. The tools have other "
        f"names{names}. Commands that begin with a slash, and skills, belong "
        f"to {old.cli}: do the same with your own tools."
    )

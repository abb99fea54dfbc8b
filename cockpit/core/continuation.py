"""Build the first prompt of a session: of a job's first session, or of a successor.

A successor gets the path of the document instead of its text, which can have 256 KiB. The goal is
quoted, so that no part of it reads as one of cockpit's instructions.
"""

from __future__ import annotations

import re

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.markdown import code, fenced, one_line, plain, shortened
from cockpit.core.tool_names import CLAUDE_TOOLS, ToolNames, change_of_cli

LONGEST_GOAL = 2_000
"""Maximum characters of the goal in a continuation; the document contains more of a goal that is
cut."""
LONGEST_STEP = 400
"""Maximum characters of the first step, and of a decision or constraint, in a continuation."""
_BEGINNING = "You continue a job in a new session"
_GOAL_NOTE = "The goal of the job, as originally requested"
_QUOTED_GOAL = re.compile(
    rf"^{_GOAL_NOTE}(?: \([^()\n]{{1,100}}\))?:\n\n(`{{3,}})\n(.*?)\n\1$", re.MULTILINE | re.DOTALL
)
MOST_STANDING = 30
"""Maximum number of decisions and constraints in a continuation, together."""
_CLI_COMMAND = re.compile(r"(?:^|`)/[a-z][\w:-]*(?=$|[`\s])", re.MULTILINE)
"""Matches a CLI command such as `/compact`, but not a path, which has a second slash."""


_WHEN_DONE = "When the whole job is done, and not before, end your last reply with this line:"
_COMPLETION = re.compile(rf"\n\n{re.escape(_WHEN_DONE)}\n[^\n]*\n?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """The values for a continuation, which is the first prompt of a successor."""

    document: str
    """Absolute path of the handoff document."""
    goal: str | None = None
    """The job's original request; None if unknown."""
    first_step: str | None = None
    """The first of the document's next steps; None if there is none."""
    number: int | None = None
    """Position of the new session in its chain, from 1; None if unknown."""
    iteration: tuple[int, int] | None = None
    """The number of this iteration of a loop, and the maximum; None if the job is not a loop."""
    has_git: bool = True
    branch: str | None = None
    full: bool = True
    """Whether the handoff happened because the previous context was nearly full."""
    tools: ToolNames = CLAUDE_TOOLS
    """The tools of the new session."""
    previous_tools: ToolNames | None = None
    """The tools of the previous session, if it ran in another CLI."""
    standing: tuple[str, ...] = ()
    """Decisions and constraints of earlier sessions that still hold and that the document lacks,
    each with its session in parentheses."""
    marker: str | None = None
    """The line to print when the whole job is done; None if there is none."""


def continuation(succession: Succession) -> str:
    """Build the first prompt of a successor."""
    place = f" (session {succession.number} of this job)" if succession.number else ""
    why = (
        "the context of the previous session was nearly full"
        if succession.full
        else "the previous session was handed off"
    )
    if succession.iteration is not None:
        place = " (iteration {} of at most {})".format(*succession.iteration)
        why = "the previous session ended before the job was done"
    parts = [
        f"{_BEGINNING}{place}: {why}. The previous session left a handoff "
        "document. Before anything else, read all of the document with "
        f"{succession.tools.read}:\n{succession.document}",
        _goal(succession.goal),
        _first_step(succession),
        _standing(succession.standing),
        _instructions(succession),
        _change_of_cli(succession),
    ]
    if succession.marker:
        parts.append(_completion(succession.marker))
    return "\n\n".join(part for part in parts if part)


def is_continuation(prompt: str) -> bool:
    """Return whether a prompt is the first prompt of a successor."""
    return prompt.startswith(_BEGINNING)


def quoted_goal(prompt: str) -> str | None:
    """Return the goal that a continuation quotes, perhaps shortened; None if `prompt` has none."""
    match = _QUOTED_GOAL.search(prompt) if is_continuation(prompt) else None
    return None if match is None else match[2]


def first_prompt(prompt: str, marker: str | None = None) -> str:
    """Build the prompt of a job's first session: the user's prompt, unchanged.

    `marker` is the line that the agent prints when the job is done, in every mode. If it is set, a
    paragraph after the prompt asks for this line. When the line is printed, cockpit pushes the
    branch, opens a pull request and runs hooks, as far as configured.
    """
    return f"{prompt}\n\n{_completion(marker)}" if marker else prompt


def without_completion(prompt: str) -> str:
    """Return the user's part of a prompt from `first_prompt`; any other prompt unchanged."""
    return _COMPLETION.sub("", prompt)


def _goal(goal: str | None) -> str:
    text = plain(goal or "").strip()
    if not text:
        return "The original request is unknown. The document says what the session was doing."
    kept = shortened(text, LONGEST_GOAL)
    note = "" if kept == text else " (shortened; more of the text is under Goal in the document)"
    return f"{_GOAL_NOTE}{note}:\n\n{fenced(kept, '')}"


def _first_step(succession: Succession) -> str:
    text = shortened(plain(succession.first_step or "").strip(), LONGEST_STEP)
    if not text or (succession.previous_tools is not None and _CLI_COMMAND.search(text)):
        return ""  # the new CLI does not know the previous CLI's commands
    return f"The first step in the document:\n\n{fenced(text, '')}"


def _standing(statements: tuple[str, ...]) -> str:
    if not statements:
        return ""
    lines = [f"- {one_line(text, LONGEST_STEP)}" for text in statements[:MOST_STANDING]]
    if len(statements) > MOST_STANDING:
        lines.append(f"- … and {len(statements) - MOST_STANDING} more in the earlier documents")
    quoted = fenced("\n".join(lines), "")
    return f"These decisions and constraints of earlier sessions still hold:\n\n{quoted}"


def _change_of_cli(succession: Succession) -> str:
    if succession.previous_tools is None:
        return ""
    return change_of_cli(succession.previous_tools, succession.tools)


def _instructions(succession: Succession) -> str:
    if succession.has_git:
        branch = f" ({code(succession.branch, 250)})" if succession.branch else ""
        where = (
            f"Work in this directory and on this branch{branch}; do not create another one. Check "
            "the document against `git log -20 --oneline`, `git status` and `git diff`. Where "
            "they differ, git is right."
        )
    else:
        where = (
            "Work in this directory. There is no git repository here, so check the document "
            "against the files."
        )
    return (
        f"{where} Do not repeat finished work, or anything that the document lists as not "
        "working. Continue until the goal is reached."
    )


def _completion(marker: str) -> str:
    return f"{_WHEN_DONE}\n{one_line(marker)}"

"""Build the prompts about a handoff document: the warning, the requests, and the corrections.

Each prompt uses some of the little context that is left, so it is short. A request gives the
reason and the headings. A request to a running session also gives the path, and asks the agent to
end its turn afterwards. The tone is factual, without orders in capitals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from cockpit.core.document import ASKED, LARGEST_DRAFT, PROGRESS, SMALLEST_DRAFT, Problem
from cockpit.core.markdown import code, one_line
from cockpit.core.tool_names import CLAUDE_TOOLS, ToolNames

FROM_COCKPIT = "Note from cockpit"
"""The beginning of each note and request that cockpit sends to a running session."""
LONGEST = 1_700
"""Maximum characters of any request without `told`, for a path of up to 300 characters."""

Occasion = Literal["tool", "stop", "prompt"]
"""The time of the request: after a tool call, at the end of a turn, or pasted into the CLI's prompt
input."""

_BEGIN: dict[Occasion, str] = {
    "tool": "Finish the current step, then write the document",
    "stop": "Write the document now",
    "prompt": "Write the document now",
}

EXACT = (
    "Be exact: name files with line numbers, give the reason for each decision, and say what did "
    "not work and why, so that it is not tried again. Keep the decisions and user constraints of "
    "earlier sessions; to revoke one, write a line with `Revoked:` and its text. Begin Next Steps "
    "with a command in backticks. Leave out passwords and keys. cockpit adds the original request "
    "and the facts from git."
)


def is_from_cockpit(prompt: str) -> bool:
    """Return whether a prompt is a note or request from cockpit; False for a continuation."""
    return prompt.lstrip().startswith(FROM_COCKPIT)


def request(
    path: str,
    occasion: Occasion,
    *,
    used: str | None = None,
    filling: bool = True,
    running: Sequence[str] = (),
    tools: ToolNames = CLAUDE_TOOLS,
    told: Sequence[str] = (),
) -> str:
    """Return the prompt that asks the agent to write its handoff document.

    `path` is absolute. `used` is the token count as text, such as `142k of 200k tokens`. `filling`
    is True if the reason is that the context is filling up. `running` has the session's background
    tasks, in a few words each. `told` has the lines of `fact_lines.reminder`.
    """
    return "\n\n".join(
        (
            f"{FROM_COCKPIT}, which runs this terminal: {_why(used, filling)} "
            "The new session will know only what your handoff document says.",
            f"{_BEGIN[occasion]} with {tools.write} to\n{path}\nand end your turn. Do not start "
            "anything new.",
            _headings(),
            EXACT + _running(running),
            *_reminder(told),
        )
    )


def note_warning(used: str | None) -> str:
    """Return the note that tells the agent how full its context is, and to commit finished work."""
    full = f" ({used})" if used else ""
    return (
        f"{FROM_COCKPIT}, which runs this terminal: the context of this session is filling "
        f"up{full}. No handoff document is needed yet. "
        "Commit what is done, and finish the current work before you begin anything large: cockpit "
        "will hand off the job to a new session when more of the context is used."
    )


def request_reply(
    *,
    used: str | None = None,
    filling: bool = True,
    running: Sequence[str] = (),
    told: Sequence[str] = (),
) -> str:
    """Return the prompt that asks a copy of the session, which has no tools, for the document.

    The copy answers with the document. The arguments are those of `request`.
    """
    return "\n\n".join(
        (
            f"{FROM_COCKPIT}: {_why(used, filling)} The new session will know only what your "
            "handoff document says. Answer with the document itself and nothing else; you have no "
            "tools now.",
            _headings(),
            EXACT + _running(running),
            *_reminder(told),
        )
    )


def ask_to_end() -> str:
    """Return the note that asks the agent to end its turn, because its document is complete."""
    return (
        f"{FROM_COCKPIT}, which runs this terminal: the handoff document of this session is "
        "complete. The job continues in a new session as soon as your turn ends. Finish the "
        "current step and end your turn. Do not start anything new. cockpit adds what you did "
        "after the document was written, from git and the transcript."
    )


def ask_again(path: str, problems: Sequence[Problem | str], tools: ToolNames = CLAUDE_TOOLS) -> str:
    """Return the prompt that asks the agent to correct its document.

    The prompt lists at most six problems.
    """
    wrong = "\n".join(f"- {one_line(str(problem))}" for problem in problems[:6])
    more = f"\n- … and {len(problems) - 6} more" if len(problems) > 6 else ""
    return "\n\n".join(
        (
            f"Note from cockpit: the handoff document at\n{path}\ncannot be used yet:",
            wrong + more,
            f"Please correct it with {tools.write} and end your turn. " + _headings(),
        )
    )


def _reminder(told: Sequence[str]) -> tuple[str, ...]:
    if not told:
        return ()
    beginning = "From the transcript; keep each point in the document unless it is out of date:"
    return ("\n".join((beginning, *(f"- {line}" for line in told))),)


def _running(tasks: Sequence[str]) -> str:
    """Return the sentences about background work; empty if there is none.

    The text names at most two tasks: the agent knows all tasks, and cockpit adds all of them to the
    document.
    """
    if not tasks:
        return ""
    named = ", ".join(code(one_line(task, 40), 50) for task in tasks[:2])
    more = f" and {len(tasks) - 2} more" if len(tasks) > 2 else ""
    return (
        f" Your background work ({named}{more}) ends with this session. "
        "Under Background Work, say whether it is still needed and how to start it."
    )


def _why(used: str | None, filling: bool) -> str:
    full = f" ({used})" if used else ""
    new = "the job continues in a new session in the same directory."
    if filling:
        return f"the context of this session is filling up{full}, so {new}"
    return f"this session ends after the current step; {new}"


def _headings() -> str:
    titles = ", ".join(f"`## {title}`" for title in ASKED)
    parts = ", ".join(f"`### {part}`" for part in PROGRESS)
    return (
        f"Headings, in this order: {titles}; under Progress {parts}. "
        f"Write `None.` in a section that has no content. "
        f"The document needs at least {SMALLEST_DRAFT} characters and at most "
        f"{LARGEST_DRAFT // 1024} KiB."
    )

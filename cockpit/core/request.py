"""The short request to an agent for its handoff document.

It costs some of the little context that is left, so it says only what is needed: why, where,
which headings, and then to stop. Facts, no rules and no threats; whether and when it is sent is
decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from cockpit.core.document import ASKED, LARGEST_DRAFT, PROGRESS, SMALLEST_DRAFT, Problem
from cockpit.core.markdown import code, one_line

LONGEST = 1_700
"""Characters of any request, for a path of up to 300."""

Occasion = Literal["tool", "stop", "prompt"]
"""In the middle of a turn, as a hook's word at its end, or typed into an idle composer."""

_BEGIN: dict[Occasion, str] = {
    "tool": "Finish the step in hand, then write the document",
    "stop": "Write the document now",
    "prompt": "Write the document now",
}

EXACT = (
    "Be exact: files with lines, decisions with reasons, and what did not work and why, so "
    "that nobody tries it again. The first of the Next Steps is a command in backticks. "
    "Leave out passwords and keys. cockpit adds the original request and git's facts."
)


def request(
    path: str,
    occasion: Occasion,
    *,
    used: str | None = None,
    filling: bool = True,
    running: Sequence[str] = (),
) -> str:
    """Ask for the document; `path` is absolute, `used` as in `142k of 200k tokens`.

    `filling` is whether the full context is why; `running` is what the session has running in the
    background, in a few words each.

    One paragraph of text per thought, so that it reads the same in a composer and in a hook.
    """
    return "\n\n".join(
        (
            f"Note from cockpit, which runs this terminal: {_why(used, filling)} in a fresh "
            "session in the same directory. That session will know only what your handoff "
            "document says.",
            f"{_BEGIN[occasion]} with your Write tool to\n{path}\nand end your turn; start "
            f"nothing new.",
            _headings(),
            EXACT + _running(running),
        )
    )


def note_warning(used: str | None) -> str:
    """Tell the agent how full its context is; nothing is asked of it yet."""
    how_full = f"{used} of this session's context are used" if used else "its context is filling up"
    return (
        f"Note from cockpit, which runs this terminal: {how_full}. Nothing is asked of you now. "
        "Bring what is in hand to a good point before you begin anything large, and commit what "
        "is done: the job will be handed over to a fresh session when the context is fuller."
    )


def request_reply(
    *, used: str | None = None, filling: bool = True, running: Sequence[str] = ()
) -> str:
    """Ask a copy of the session, which has no tools, for the document as its whole answer."""
    return "\n\n".join(
        (
            f"Note from cockpit: {_why(used, filling)} "
            "in a fresh session in the same directory. That session will know only what your "
            "handoff document says. Answer with the document itself and nothing else; you have no "
            "tools now.",
            _headings(),
            EXACT + _running(running),
        )
    )


def ask_to_end() -> str:
    """Tell the agent that its document is agreed, so that only its turn is in the way."""
    return (
        "Note from cockpit, which runs this terminal: the handoff document of this session is "
        "written and agreed, and the job goes on in a fresh session in the same directory as soon "
        "as your turn is over. Finish the step in hand and end your turn; start nothing new. What "
        "you did since it was written is added from git and the record."
    )


def ask_again(path: str, problems: Sequence[Problem | str]) -> str:
    """Ask for what the document lacks, in the validator's own words."""
    wrong = "\n".join(f"- {one_line(str(problem))}" for problem in problems[:6])
    more = f"\n- … and {len(problems) - 6} more" if len(problems) > 6 else ""
    return "\n\n".join(
        (
            f"Note from cockpit: the handoff document at\n{path}\ncannot be used yet:",
            wrong + more,
            "Please mend it with your Write or Edit tool and end your turn. " + _headings(),
        )
    )


def _running(tasks: Sequence[str]) -> str:
    """Name at most two: the agent knows the rest, and the document gets them from the record."""
    if not tasks:
        return ""
    named = ", ".join(code(one_line(task, 40), 50) for task in tasks[:2])
    more = f" and {len(tasks) - 2} more" if len(tasks) > 2 else ""
    return (
        f" Your background work ({named}{more}) ends with this session: "
        "under Background Work say whether it is needed and how to start it."
    )


def _why(used: str | None, filling: bool) -> str:
    full = f" ({used})" if used else ""
    if filling:
        return f"the context of this session is filling up{full}, so the job goes on"
    return "the session of this job is over after this step; the job goes on"


def _headings() -> str:
    titles = ", ".join(f"`## {title}`" for title in ASKED)
    parts = ", ".join(f"`### {part}`" for part in PROGRESS)
    return (
        f"Headings, in this order: {titles}; under Progress {parts}. "
        f"Where there is nothing to say, write `None.` "
        f"{SMALLEST_DRAFT} characters at least, {LARGEST_DRAFT // 1024} KiB at most."
    )

"""The words that a session starts with: a job's first one, and each successor.

A successor gets the path of the document, never the document: the file is durable, and a prompt
is not the place for 30 KB. The goal is quoted, so that nothing in it reads as an instruction of
ours; the text says what is known and where to look, and nothing about how cockpit works.
"""

from __future__ import annotations

from dataclasses import dataclass

from cockpit.core.markdown import code, fenced, one_line, plain, shortened

LONGEST_GOAL = 2_000
"""Characters; the whole goal stands in the document."""
LONGEST_STEP = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """What a successor has to be told."""

    document: str
    """Absolute path."""
    goal: str | None = None
    """The original request."""
    first_step: str | None = None
    """As `Document.first_step` gives it."""
    number: int | None = None
    """Place of the new session in its chain."""
    iteration: tuple[int, int] | None = None
    """In a loop: which one this is, of how many at most."""
    has_git: bool = True
    branch: str | None = None
    full: bool = True
    """The context of the predecessor was why."""
    marker: str | None = None
    """What to print when the whole job is done; None where nobody waits for it."""


def continuation(succession: Succession) -> str:
    """The first prompt of a successor."""
    place = f" (session {succession.number} of this job)" if succession.number else ""
    why = (
        "the context of the previous one was nearly full"
        if succession.full
        else "the previous one was handed off"
    )
    if succession.iteration is not None:
        place = " (iteration {} of at most {})".format(*succession.iteration)
        why = "the previous one ended before the job was done"
    parts = [
        f"You continue a job in a fresh session{place}: {why}. It left a handoff document. Before "
        f"anything else, read all of it with your Read tool:\n{succession.document}",
        _goal(succession.goal),
        _first_step(succession.first_step),
        _ground(succession),
    ]
    if succession.marker:
        parts.append(_completion(succession.marker))
    return "\n\n".join(part for part in parts if part)


def first_prompt(prompt: str, marker: str | None = None) -> str:
    """The prompt of a job's first session: the user's own words, unchanged.

    With a marker one paragraph about it is added under the prompt: what follows a finished job
    (a push, a pull request, hooks) waits for it in every mode.
    """
    return f"{prompt}\n\n{_completion(marker)}" if marker else prompt


def _goal(goal: str | None) -> str:
    words = plain(goal or "").strip()
    if not words:
        return "The goal is not on record; the document says what was being done."
    kept = shortened(words, LONGEST_GOAL)
    whole = "" if kept == words else " (shortened; all of it is under Goal in the document)"
    return f"The goal of the job, as it was first asked{whole}:\n\n{fenced(kept, '')}"


def _first_step(step: str | None) -> str:
    words = shortened(plain(step or "").strip(), LONGEST_STEP)
    if not words:
        return ""
    return f"The first step that the document names:\n\n{fenced(words, '')}"


def _ground(succession: Succession) -> str:
    if succession.has_git:
        branch = f" ({code(succession.branch, 250)})" if succession.branch else ""
        where = (
            f"Work in this directory and on this branch{branch}; do not make another one. Check "
            "what the document says with `git log -20 --oneline`, `git status` and `git diff`; "
            "where they differ, git is right."
        )
    else:
        where = (
            "Work in this directory. It has no git repository, so check what the document says "
            "against the files themselves."
        )
    return (
        f"{where} Do not repeat work that is finished, nor what the document lists as not "
        "working. Then go on until the goal is reached."
    )


def _completion(marker: str) -> str:
    return (
        "When the whole job is done, and not before, end your last reply with this line:\n"
        f"{one_line(marker)}"
    )

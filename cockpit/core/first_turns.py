"""Compare the first turns of a successor with the work of its predecessor.

The predecessor's commands, questions and commit subjects can contain secrets, so only their hashes
are kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from cockpit.core.chain_memory import Place, fold
from cockpit.core.checkable_orders import order
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.document import CONSTRAINTS, Document, read
from cockpit.core.later_corrections import CAME_BACK
from cockpit.core.markdown import code, one_line
from cockpit.core.steps_taken import Step, StepsTaken
from cockpit.core.verified_facts import NOT_CHECKED, UNVERIFIED

COMMITS = "### Commits of This Session"
MOST_ORDERS = 50
MOST_TOLD = 10
"""Maximum lines in each field of `FirstTurns`."""
_COMMIT = re.compile(r"- `[0-9a-f]{7,64}` (.+)")


@dataclass(frozen=True, slots=True)
class Before:
    """The parts of a predecessor's work with which the successor's first turns are compared."""

    commits: tuple[str, ...] = ()
    """Hashes of the subjects of the predecessor's commits."""
    failures: tuple[str, ...] = ()
    """Hashes of failed commands; each hash is of the command and the first line of its error."""
    questions: tuple[str, ...] = ()
    """Hashes of the questions that the predecessor asked the user."""
    orders: tuple[str, ...] = ()
    """The standing orders that cockpit can check, as in the document."""


@dataclass(frozen=True, slots=True)
class FirstTurns:
    """The result of checking a successor's first turns."""

    read: bool = False
    """Whether the successor read the handoff document."""
    repeats: tuple[str, ...] = ()
    """Commits and failures of the predecessor that the successor repeated, one line each."""
    broken: tuple[str, ...] = ()
    """Standing orders that the successor broke."""
    asked_again: tuple[str, ...] = ()
    """Questions of the successor that the predecessor had already asked."""
    first_change: float | None = None
    """Seconds from the start of the session to its first edit or commit; None without either."""


def before(steps: StepsTaken, subjects: Iterable[str], document: str) -> Before:
    """Collect the parts of a session's work with which its successor's first turns are compared.

    `subjects` are the subjects of the session's commits; `document` is the text of the session's
    handoff document.
    """
    left = read(document)
    commits = dict.fromkeys([*commits_listed(left), *subjects])
    return Before(
        commits=tuple(_hash(subject) for subject in commits),
        failures=tuple(dict.fromkeys(_failure(step) for step in steps.failures)),
        questions=tuple(dict.fromkeys(map(_hash, steps.questions))),
        orders=orders_in(left),
    )


def commits_listed(document: Document) -> list[str]:
    """Return the subjects of the commits that a document's verified facts list, without those
    that are marked as unverified or not checked."""
    facts = document.sections.get("Verified Facts", "").partition(COMMITS)[2].partition("\n### ")[0]
    without = (UNVERIFIED, NOT_CHECKED)
    lines = (line for line in facts.split("\n") if not any(mark in line for mark in without))
    return [match[1].strip() for line in lines if (match := _COMMIT.fullmatch(line.strip()))]


def orders_in(document: Document) -> tuple[str, ...]:
    """Return the constraints in a document that cockpit can check, at most `MOST_ORDERS`.

    Includes constraints of earlier sessions. Leaves out constraints with the note `CAME_BACK`,
    because a later sentence of the user may have revoked them.
    """
    held = fold([(Place(), document)]).of(CONSTRAINTS)
    known = (constraint.text for constraint in held if CAME_BACK not in constraint.text)
    return tuple(text for text in known if order(text) is not None)[:MOST_ORDERS]


def first_turns(left: Before, steps: StepsTaken, *, read: bool, began: float) -> FirstTurns:
    """Compare a successor's first steps with its predecessor's work.

    `read`: whether the successor read the document. `began`: the session's start, in Unix seconds.
    """
    changed = steps.first_change
    return FirstTurns(
        read=read,
        repeats=_told(repeat for step in steps.first for repeat in _repeats(step, left)),
        broken=_told(
            text
            for text in left.orders
            if (parsed := order(text)) is not None and any(map(parsed.is_broken_by, steps.first))
        ),
        asked_again=_told(
            step.question
            for step in steps.first
            if step.question and _hash(step.question) in left.questions
        ),
        first_change=None if changed is None else round(max(0.0, changed - began), 1),
    )


def _repeats(step: Step, left: Before) -> Iterable[str]:
    for subject in step.committed:
        if _hash(subject) in left.commits:
            yield f"committed again: {one_line(subject, 120)}"
    if step.failed and step.command and _failure(step) in left.failures:
        yield f"failed again in the same way: {code(step.command, 120)}"


def _failure(step: Step) -> str:
    return _hash(f"{step.command}\0{step.error}")


def _hash(text: str) -> str:
    bare = " ".join(text.split())
    return hashlib.sha256(bare.encode("utf-8", "replace")).hexdigest()[:32]


def _told(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one_line(line, 200) for line in lines))[:MOST_TOLD]

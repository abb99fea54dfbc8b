"""Compare a document that an agent wrote with the facts of its session, for the review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cockpit.core.contradictions import contradictions, silent_about
from cockpit.core.document import read
from cockpit.core.facts import Check, Constraint, Failure
from cockpit.core.later_corrections import answer_correction, correction_of
from cockpit.core.markdown import one_line
from cockpit.core.omitted_points import Point, left_out
from cockpit.core.plurals import counted
from cockpit.wire.facts import SessionFacts

PROMPTS = 3
"""Number of the user's last prompts that a document should mention."""
FAILURES = 3
"""Number of the last failures that a document should mention."""
SHORT = 3
"""Answers of at most this many characters are too short to search for alone: question and answer
are searched for together."""
TITLE = "## Not Found in This Document"
CONTRADICTED = "## Contradicted by the Transcript"
_EXPLAINED = (
    "The transcript has these points, and cockpit did not find them in the document. They may be "
    "there in other words."
)


def missing_points(document: str, facts: SessionFacts) -> tuple[str, ...]:
    """Return the user's statements, the last failures and the failed checks that the document does
    not mention.

    One line each. Orders and answers that the user corrected later are left out.
    """
    parsed = read(document)
    silent = [f"failed last: {line}" for line in silent_about(parsed, _checks(facts))]
    return (*(point.line for point in left_out(parsed, _points(facts))), *silent)


def contradicted_points(document: str, facts: SessionFacts) -> tuple[str, ...]:
    """Return the points of a document that the transcript's last checks and failures contradict."""
    failed = [
        Failure(
            failure.call, failure.error, failure.worked or "", failure.turn, failure.after or ""
        )
        for failure in facts.failures
    ]
    return contradictions(read(document), _checks(facts), failed)


def count_of(lines: Sequence[str], key: str, contradicted: Sequence[str] = ()) -> str:
    """Return the numbers of contradictions and missing points, and the key that shows both.

    Empty if there are none.
    """
    parts = [f"⚠ {counted(len(contradicted), 'contradiction')}"] if contradicted else []
    parts += [f"{counted(len(lines), 'point')} not found"] if lines else []
    return f"{', '.join(parts)} ({key})" if parts else ""


def with_missing(body: str, lines: Sequence[str], contradicted: Sequence[str] = ()) -> str:
    """Return the document, preceded by the lists of contradictions and missing points."""
    shown = ""
    if contradicted:
        shown = f"{CONTRADICTED}\n\n{_listed(contradicted)}\n\n"
    if lines:
        shown += f"{TITLE}\n\n{_EXPLAINED}\n\n{_listed(lines)}\n\n"
    return f"{shown}---\n\n{body.lstrip()}"


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _points(facts: SessionFacts) -> Iterator[Point]:
    orders = [Constraint(constraint.turn, constraint.text) for constraint in facts.constraints]
    for order in facts.constraints:
        if correction_of(order.text, order.turn, orders) is not None:
            continue
        yield Point(_told("order", order.turn, order.text), order.text)
    for refusal in facts.refusals:
        if refusal.reason.strip():
            yield Point(_told("refusal", refusal.turn, refusal.reason), refusal.reason)
    for answer in facts.answers:
        exchange = f"{answer.question} {answer.answer}"
        if answer_correction(answer.question, answer.answer, answer.turn, orders) is not None:
            continue
        text = answer.answer if len(answer.answer) > SHORT else exchange
        yield Point(_told("answer", answer.turn, exchange), text)
    for prompt in facts.prompts[-PROMPTS:]:
        if prompt.turn > 1:
            yield Point(_told("prompt", prompt.turn, prompt.text), prompt.text)
    for failure in facts.failures[-FAILURES:]:
        is_told = any(check.failed and check.command in failure.call for check in facts.checks)
        if failure.worked is None and not is_told:
            line = f"failed, with no later success (turn {failure.turn}): {failure.call}"
            text = f"{failure.call.removeprefix('Bash ')} {failure.error}"
            yield Point(f'{one_line(line, 160)}: "{one_line(failure.error, 120)}"', text)


def _checks(facts: SessionFacts) -> list[Check]:
    return [Check(**check.model_dump()) for check in facts.checks]


def _told(kind: str, turn: int, text: str) -> str:
    return f'the user\'s {kind} of turn {turn}: "{one_line(text, 200)}"'

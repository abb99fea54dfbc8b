"""Compare a document that an agent wrote with the facts of its session, for the review."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cockpit.core.document import read
from cockpit.core.left_out import Point, left_out
from cockpit.core.markdown import one_line
from cockpit.core.plurals import counted
from cockpit.wire.facts import SessionFacts

PROMPTS = 3
"""Number of the user's last prompts that a document should mention."""
SHORT = 3
"""Maximum characters of an answer that is looked for together with its question."""
TITLE = "## Not Found in This Document"
_EXPLAINED = (
    "The transcript has these points, and cockpit did not find them in the document. They may be "
    "there in other words."
)


def missing_points(document: str, facts: SessionFacts) -> tuple[str, ...]:
    """Return what the user said that is not found in the document, one line each."""
    return tuple(point.line for point in left_out(read(document), _points(facts)))


def count_of(lines: Sequence[str], key: str) -> str:
    """Return the number of missing points and the key that shows them; empty without any."""
    return f"{counted(len(lines), 'point')} not found ({key})" if lines else ""


def with_missing(body: str, lines: Sequence[str]) -> str:
    """Return the document after the list of the missing points."""
    listed = "\n".join(f"- {line}" for line in lines)
    return f"{TITLE}\n\n{_EXPLAINED}\n\n{listed}\n\n---\n\n{body.lstrip()}"


def _points(facts: SessionFacts) -> Iterator[Point]:
    for order in facts.constraints:
        yield Point(_told("order", order.turn, order.text), order.text)
    for refusal in facts.refusals:
        if refusal.reason.strip():
            yield Point(_told("refusal", refusal.turn, refusal.reason), refusal.reason)
    for answer in facts.answers:
        told = f"{answer.question} {answer.answer}"
        text = answer.answer if len(answer.answer) > SHORT else told
        yield Point(_told("answer", answer.turn, told), text)
    for prompt in facts.prompts[-PROMPTS:]:
        if prompt.turn > 1:
            yield Point(_told("prompt", prompt.turn, prompt.text), prompt.text)


def _told(kind: str, turn: int, text: str) -> str:
    return f'the user\'s {kind} of turn {turn}: "{one_line(text, 200)}"'

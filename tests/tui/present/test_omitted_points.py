"""What the review says is missing in a document, or wrong in it."""

from __future__ import annotations

from cockpit.tui.present.omitted_points import (
    contradicted_points,
    count_of,
    missing_points,
    with_missing,
)
from cockpit.wire.facts import (
    AnswerFacts,
    CheckFacts,
    ConstraintFacts,
    FailureFacts,
    SessionFacts,
    Usage,
)

DOCUMENT = """# Handoff

## Current State

The parser is done and all tests pass. `npm run deploy` works.

## Constraints from the user

- Never push to main.
"""


def facts(**known: object) -> SessionFacts:
    return SessionFacts.model_validate({"usage": Usage(transcript="/t.jsonl"), **known})


def test_orders_and_failures_that_the_document_leaves_out_are_listed() -> None:
    found = missing_points(
        DOCUMENT,
        facts(
            constraints=[
                ConstraintFacts(turn=1, text="Never push to main."),
                ConstraintFacts(turn=2, text="Commit messages are in English."),
            ],
            failures=[
                FailureFacts(turn=3, call="Bash cargo add rayon", error="error: no network"),
                FailureFacts(turn=4, call="Bash make x", error="no rule", worked="Bash make y"),
                FailureFacts(turn=5, call="Bash mypy src", error="Found 3 errors"),
            ],
            checks=[CheckFacts(kind="lint", command="mypy src", failed=True, result="3 errors")],
        ),
    )
    assert found == (
        'the user\'s order of turn 2: "Commit messages are in English."',
        'failed, with no later success (turn 3): Bash cargo add rayon: "error: no network"',
        'failed last: the last lint command failed, "3 errors" (turn 0)',
    )
    assert count_of(found, "m") == "3 points not found (m)"


def test_what_the_user_took_back_is_not_expected() -> None:
    taken_back = facts(
        constraints=[
            ConstraintFacts(turn=1, text="No unsafe code."),
            ConstraintFacts(turn=5, text="Forget the unsafe rule."),
        ],
        answers=[AnswerFacts(turn=2, question="How does unsafe code look?", answer="Marked")],
    )
    assert missing_points(DOCUMENT, taken_back) == (
        'the user\'s order of turn 5: "Forget the unsafe rule."',
    )


def test_green_before_the_last_edit_and_a_command_that_never_worked_are_contradictions() -> None:
    found = contradicted_points(
        DOCUMENT,
        facts(
            checks=[
                CheckFacts(kind="test", command="pytest", failed=False, edited_since=True, turn=6)
            ],
            failures=[FailureFacts(turn=4, call="Bash npm run deploy", error="Error: no token")],
        ),
    )
    assert len(found) == 2
    assert "files were edited after the last test command" in found[0]
    assert "Error: no token" in found[1]
    shown = with_missing(DOCUMENT, (), found)
    assert shown.startswith("## Contradicted by the Transcript\n\n- the document says")

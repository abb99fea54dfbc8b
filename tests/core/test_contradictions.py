"""What a document says against the last checks of its session."""

from __future__ import annotations

import pytest

from cockpit.core.contradictions import contradictions
from cockpit.core.document import read
from cockpit.core.facts import Check

RED = Check("test", "pytest -q", failed=True, exit=1, result="2 failed, 10 passed", turn=7)


def document(line: str, title: str = "Current State") -> str:
    return f"# Handoff\n\n## {title}\n\n- {line}\n"


@pytest.mark.parametrize("line", ["All tests pass.", "The test suite is green", "pytest passes"])
def test_a_green_test_that_was_red_is_told_with_both_sides(line: str) -> None:
    (found,) = contradictions(read(document(line)), [RED])
    assert line in found
    assert "2 failed, 10 passed" in found
    assert "(turn 7)" in found


@pytest.mark.parametrize(
    "line",
    [
        "Not all tests pass.",
        "The tests passed before the last edit.",
        "Make the tests pass.",
        "When the tests pass, push.",
        "Tests for the parser, lint is green",
        "10 tests pass, 2 fail",
        "The tests don't pass",
    ],
)
def test_a_line_that_is_not_certain_is_left_out(line: str) -> None:
    assert contradictions(read(document(line)), [RED]) == ()


def test_only_a_check_that_certainly_failed_contradicts() -> None:
    passes = read(document("All tests pass."))
    for known in (
        Check("test", "pytest"),
        Check("test", "pytest", failed=False),
        Check("lint", "x", True),
    ):
        assert contradictions(passes, [known]) == ()
    assert contradictions(read(document("All tests pass.", "Next Steps")), [RED]) == ()
    assert contradictions(read(document("All tests pass.", "Goal")), [RED]) == ()

"""What a document says against the last checks of its session."""

from __future__ import annotations

import pytest

from cockpit.core.contradictions import contradictions, silent_about
from cockpit.core.document import read
from cockpit.core.facts import Check, Failure

RED = Check("test", "pytest -q", failed=True, exit=1, result="2 failed, 10 passed", turn=7)


def document(line: str, title: str = "Current State") -> str:
    return f"# Handoff\n\n## {title}\n\n- {line}\n"


@pytest.mark.parametrize(
    "line",
    [
        "All tests pass.",
        "The test suite is green",
        "pytest passes",
        "Green tests everywhere",
        "Alle Tests sind grün.",
        "Die Testsuite läuft durch",
        "Alle Tests bestanden",
        "Grüne Tests, sonst nichts Neues",
        "Todos los tests pasan.",
        "La suite está en verde",
        "Las pruebas pasan",
        "Tous les tests passent.",
        "Les tests sont verts",
    ],
)
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
        "Nicht alle Tests sind grün.",
        "Die Tests waren grün.",
        "Vor der Änderung waren die Tests grün",
        "Sobald die Tests durchlaufen, pushen",
        "Die Tests sollen bestehen",
        "Los tests no pasan.",
        "Cuando los tests pasen, haz push",
        "Las pruebas pasaban en verde antes",
        "Les tests ne passent pas",
        "Les tests étaient verts",
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


GREEN_BEFORE = Check("test", "pytest -q", failed=False, exit=0, edited_since=True, turn=6)


@pytest.mark.parametrize("line", ["All tests pass.", "Alle Tests sind grün.", "Los tests pasan."])
def test_a_green_test_before_the_last_edit_is_told_as_such(line: str) -> None:
    (found,) = contradictions(read(document(line)), [GREEN_BEFORE])
    assert line in found
    assert "files were edited after the last test command" in found
    assert "(turn 6)" in found


@pytest.mark.parametrize(
    "line",
    [
        "All tests passed before the last edit.",
        "The tests are green, but were not run since the edit.",
        "Die Tests waren vor der letzten Änderung grün.",
        "Los tests pasaban antes del último cambio.",
    ],
)
def test_a_document_that_says_so_contradicts_nothing(line: str) -> None:
    assert contradictions(read(document(line)), [GREEN_BEFORE]) == ()


BROKEN = Failure("Bash npm run deploy", "Error: no token", turn=4)


@pytest.mark.parametrize(
    "line",
    [
        "`npm run deploy` works.",
        "`npm run deploy` läuft",
        "`npm run deploy` funciona",
        "`npm run deploy` marche",
    ],
)
def test_a_command_that_never_worked_is_not_told_as_working(line: str) -> None:
    (found,) = contradictions(read(document(line)), [], [BROKEN])
    assert line in found.replace("'", "`")
    assert "Error: no token" in found
    described = Failure("Deploy it: npm run deploy", "Error: no token", turn=4)
    assert contradictions(read(document(line)), [], [described])
    worked = Failure("Bash npm run deploy", "Error: no token", "Bash npm run deploy", 4)
    assert contradictions(read(document(line)), [], [worked]) == ()


@pytest.mark.parametrize(
    "line",
    [
        "`npm run deploy` does not work.",
        "`npm run deploy --dry-run` works.",
        "`npm run deploy` works once a token is set",
        "npm works",
        "Run `npm run deploy`.",
    ],
)
def test_other_lines_say_nothing_against_a_failure(line: str) -> None:
    assert contradictions(read(document(line)), [], [BROKEN]) == ()


@pytest.mark.parametrize(
    "line", ["The server starts.", "The tests are in tests/unit.", "Alles fertig.", "`pytest -q`"]
)
def test_a_document_that_is_silent_about_a_failed_check_is_told(line: str) -> None:
    (found,) = silent_about(read(document(line)), [RED])
    assert found == 'the last test command failed, "2 failed, 10 passed" (turn 7)'


@pytest.mark.parametrize(
    "line",
    [
        "2 tests fail: test_a and test_b.",
        "Zwei Tests schlagen fehl.",
        "Die Tests sind noch rot",
        "Dos tests fallan todavía.",
        "Les tests échouent",
        "pytest: 2 failed, 10 passed",
        "Not all tests pass.",
    ],
)
def test_a_document_that_tells_the_failure_is_not_silent(line: str) -> None:
    assert silent_about(read(document(line)), [RED]) == ()
    assert silent_about(read(document(line, "Next Steps")), [RED]) == ()
    assert silent_about(read(document("Nothing.")), [GREEN_BEFORE, Check("test", "pytest")]) == ()

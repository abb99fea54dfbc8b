"""Failed calls, and what worked afterwards."""

from __future__ import annotations

import pytest

from cockpit.core.collectors.failures import FAILURES_KEPT, first_error
from cockpit.core.facts import Failure
from cockpit.core.session import ToolFinished, UserSaid
from tests.core.collectors.events import bash, call, facts_of, ran, said


def test_a_failure_is_told_with_the_call_that_worked() -> None:
    facts = facts_of(
        UserSaid("go"),
        *ran("npm run buidl", 'npm ERR! Missing script: "buidl"', 1),
        *ran("ls"),
        *ran("cd /w && npm run build", "built"),
        said("Built."),
    )
    assert facts.failures == (
        Failure("Bash npm run buidl", 'npm ERR! Missing script: "buidl"',
                "Bash npm run build", 1),
    )  # fmt: skip


def test_a_call_has_worked_only_when_the_next_request_was_made() -> None:
    begun = (*ran("make x", "make: *** No rule", 2), bash("1", "make y"))
    assert facts_of(*begun).failures[0].worked == ""
    assert facts_of(*begun, said("ok")).failures[0].worked == "Bash make y"
    failed = ToolFinished("1", failed=True, text="Exit code 2\nmake: *** again")
    assert [one.worked for one in facts_of(*begun, failed, said("no")).failures] == ["", ""]


def test_a_command_that_worked_again_is_told_with_what_was_done_between() -> None:
    broken = (*ran("make x", "ModuleNotFoundError: No module named 'babel'", 1), *ran("ls -la"))
    mended = (*broken, *ran("pip install babel"), *ran("git status"), *ran("make x"), said("ok"))
    (failure,) = facts_of(*mended).failures
    assert (failure.worked, failure.after) == ("Bash make x", "Bash pip install babel")
    assert facts_of(*broken, *ran("make x"), said("ok")).failures[0].after == ""
    edited = (call("e", "Edit", file_path="/w/a.py"), ToolFinished("e"))
    assert facts_of(*broken, *edited, *ran("make x"), said("ok")).failures[0].after == (
        "Edit /w/a.py"
    )
    another = facts_of(*broken, *ran("pip install babel"), *ran("make y"), said("ok"))
    assert [(one.worked, one.after) for one in another.failures] in (
        [("", "")], [("Bash make y", "")],
    )  # fmt: skip


def test_a_command_that_worked_after_another_export_is_told_with_it() -> None:
    facts = facts_of(
        *ran("psql -c 'select 1'", "psql: error: connection refused", 2),
        *ran("export PGPORT=6432; psql -c 'select 1'", "1"),
        said("ok"),
    )
    assert facts.failures[0].worked == "Bash export PGPORT=6432; psql -c 'select 1'"
    assert facts.failures[0].after == ""


def test_gits_own_options_are_no_other_command() -> None:
    facts = facts_of(
        *ran("git tag -a v1 -m v1", "error: gpg failed to sign the data", 128),
        *ran("git -C /w -c tag.gpgSign=false tag -a v1 -m v1"),
        said("ok"),
    )
    assert facts.failures[0].worked == "Bash git -C /w -c tag.gpgSign=false tag -a v1 -m v1"


def test_an_edit_that_failed_worked_later_on_the_same_file() -> None:
    facts = facts_of(
        call("1", "Edit", file_path="/w/a.py"),
        ToolFinished("1", failed=True, text="<tool_use_error>String not found</tool_use_error>"),
        call("2", "Edit", file_path="/w/b.py"),
        ToolFinished("2"),
        call("3", "Edit", file_path="/w/a.py"),
        ToolFinished("3"),
        said("done"),
    )
    assert facts.failures == (Failure("Edit /w/a.py", "String not found", "Edit /w/a.py"),)


@pytest.mark.parametrize(
    "result",
    [
        ToolFinished("1", failed=True, text="no", refused=True),
        ToolFinished("1", failed=True, text="no", interrupted=True),
        ToolFinished("1", failed=True, text="Exit code 1"),
        ToolFinished("1", failed=True, text=""),
    ],
)
def test_what_says_no_error_is_no_failure(result: ToolFinished) -> None:
    assert facts_of(bash("1", "grep x y"), result, said("x")).failures == ()


def test_a_subagents_failure_is_not_the_sessions() -> None:
    facts = facts_of(bash("1", "make", side=True), ToolFinished("1", failed=True, text="error"))
    assert facts.failures == ()


def test_the_newest_failures_are_kept_and_each_call_once() -> None:
    events = [one for number in range(40) for one in ran(f"p{number} x", "error: no", 1)]
    facts = facts_of(*events, *ran("p39 x", "error: still no", 1))
    assert len(facts.failures) == FAILURES_KEPT
    assert [one.error for one in facts.failures if one.call == "Bash p39 x"] == ["error: still no"]


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("Exit code 1\n=== session ===\nFAILED a.py::b - assert 1\n", "FAILED a.py::b - assert 1"),
        ("Exit code 1\nTraceback (most recent call last):\n  File x\nValueError: bad",
         "ValueError: bad"),
        ("Exit code 127\nbash: foo: command not found", "bash: foo: command not found"),
        ("\x1b[31merror\x1b[0m: no\x07", "error: no"),
        ("odd\nwords", "odd"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_line_that_says_what_went_wrong(output: str, line: str) -> None:
    assert first_error(output) == line


@pytest.mark.parametrize(
    ("failed", "worked", "told"),
    [
        ("npm run lint", "npm run build", False),
        ("npm run lint", "npm run lint -- --fix", True),
        ("make lint", "make test", False),
        ("cargo test", "cargo test --workspace", True),
        ("python scripts/load.py x", "python scripts/other.py", False),
        ("python scripts/load.py x", "python scripts/load.py y", True),
        ("python -c 'import a'", "python -c 'import b'", True),
        ("node -e 'x'", "node server.js", False),
    ],
)
def test_only_a_call_that_does_the_same_has_worked(failed: str, worked: str, told: bool) -> None:
    (failure,) = facts_of(*ran(failed, "error: x", 1), *ran(worked), said("ok")).failures
    assert failure.worked == (f"Bash {worked}" if told else "")


def test_the_error_of_a_failed_go_test_is_the_test() -> None:
    output = "ok  \ta\t0.1s\n--- FAIL: TestB (0.00s)\nFAIL\tb\t0.2s"
    assert first_error(output) == "--- FAIL: TestB (0.00s)"

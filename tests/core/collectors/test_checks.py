"""The last test, lint and build with their results."""

from __future__ import annotations

import pytest

from cockpit.core.check_commands import checks_in
from cockpit.core.facts import Check
from cockpit.core.session import Identified, SessionEvent, ToolFinished, UserSaid
from tests.core.collectors.events import bash, call, facts_of, ran


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("cd /w && .venv/bin/pytest -q -n 2 tests", ["test"]),
        ("timeout 300 uv run python -m unittest discover", ["test"]),
        ("npm test", ["test"]),
        ("docker compose exec -T web pytest -q tests/api", ["test"]),
        ("docker exec web npm test", ["test"]),
        ("make -C sub lint", ["lint"]),
        ("npm run test:unit -- --watch=false", ["test"]),
        ("npx vitest run", ["test"]),
        ("vendor/bin/pest --parallel", ["test"]),
        ("yarn t", ["test"]),
        ("bun t", ["test"]),
        ("npm run t", ["test"]),
        ("npm run-script t", ["test"]),
        ("yarn -s t", ["test"]),
        ("npm --silent t", ["test"]),
        ("pnpm -r t", ["test"]),
        ("just all", ["build"]),
        ("task dist", ["build"]),
        ("go test ./...", ["test"]),
        ("cargo nextest run", ["test"]),
        ("make test", ["test"]),
        ("./gradlew testDebug", ["test"]),
        ("./mvnw -q verify", ["test"]),
        ("ruff check . && mypy && pytest -q", ["lint", "test"]),
        ("pnpm lint", ["lint"]),
        ("npx tsc --noEmit", ["lint"]),
        ("cargo clippy -- -D warnings", ["lint"]),
        ("prettier --check src", ["lint"]),
        ("npm run build", ["build"]),
        ("make -j4", ["build"]),
        ("cmake --build build", ["build"]),
        ("docker build -t x .", ["build"]),
        ("npx tsc", ["build"]),
        ("python -m build --wheel", ["build"]),
        ("goreleaser build --snapshot", ["build"]),
        ("forge test -vv", ["test"]),
        ("helm lint chart", ["lint"]),
        ("nx test:unit app", ["test"]),
        ("stack --silent test", ["test"]),
        ("rm -rf build", []),
        ("git checkout test", []),
        ("python3 test", []),
        ("find build -name x", []),
        ("pytest --version", []),
        ("grep -rn pytest .", []),
        ("cat test.py", []),
        ("echo 'make test'", []),
        ("git commit -m 'Run pytest'", []),
        ("pip install pytest mypy", []),
        ("ls build", []),
    ],
)
def test_a_check_is_recognised(command: str, kinds: list[str]) -> None:
    assert [found.kind for found in checks_in(command)] == kinds


@pytest.mark.parametrize(
    ("command", "output", "exit_", "expected"),
    [
        ("pytest -q", "x\n2320 passed in 3s", 0, (False, 0, "2320 passed in 3s")),
        ("pytest", "=== 1 failed, 9 passed in 1s ===", 1, (True, 1, "1 failed, 9 passed in 1s")),
        ("cd a && pytest", "boom", 2, (True, 2, "")),
        ("pytest | tail -3", "1 failed, 9 passed", 0, (True, None, "1 failed, 9 passed")),
        ("pytest | tail -3", "9 passed", 0, (False, None, "9 passed")),
        ("pytest | tail -3", "no idea", 0, (None, None, "")),
        ("pytest; echo done", "done", 0, (None, None, "")),
        ("npm install && npm test", "no network", 1, (None, None, "")),
        ("npm install && npm test", "Tests:  2 failed, 3 passed, 5 total", 1,
         (True, None, "Tests:  2 failed, 3 passed, 5 total")),
        ("cargo test", "test result: ok. 12 passed; 0 failed; 0 ignored", 0,
         (False, 0, "test result: ok. 12 passed; 0 failed; 0 ignored")),
        ("go test ./...", "ok  \ta/b\t0.3s", 0, (False, 0, "ok  \ta/b\t0.3s")),
        ("python -m unittest", "Ran 3 tests in 0.1s\n\nFAILED (failures=1)", 1,
         (True, 1, "FAILED (failures=1)")),
    ],
)  # fmt: skip
def test_a_result_is_told_only_where_the_record_tells_it(
    command: str, output: str, exit_: int, expected: tuple[bool | None, int | None, str]
) -> None:
    (check,) = facts_of(*ran(command, output, exit_)).checks
    assert (check.failed, check.exit, check.result) == expected


def test_one_command_with_two_checks_that_failed_blames_neither() -> None:
    lint, test = facts_of(*ran("ruff check . && pytest", "boom", 1)).checks
    assert (lint.failed, test.failed) == (None, None)
    lint, test = facts_of(*ran("ruff check . && pytest", "All checks passed!\n3 passed")).checks
    assert (lint.failed, test.failed, test.result) == (False, False, "3 passed")


def test_the_last_of_each_kind_is_kept_with_its_turn_and_place() -> None:
    edit: list[SessionEvent] = [call("e", "Edit", file_path="/w/a.py"), ToolFinished("e")]
    facts = facts_of(
        UserSaid("go"), *ran("pytest", "1 failed", 1), *ran("mypy", "Success: no issues found"),
        *edit, UserSaid("again"), *ran("cd /w && pytest -q", "3 passed"),
    )  # fmt: skip
    assert facts.checks == (
        Check("lint", "mypy", False, 0, "Success: no issues found", edited_since=True, turn=1),
        Check("test", "pytest -q", False, 0, "3 passed", turn=2),
    )


def test_a_line_at_the_end_of_a_long_output_counts() -> None:
    result = ToolFinished("1", text="x" * 2_000, tail="\n12 passed in 1s", exit=0)
    (check,) = facts_of(bash("1", "pytest"), result).checks
    assert check.result == "12 passed in 1s"


@pytest.mark.parametrize(
    "result",
    [
        ToolFinished("1", failed=True, refused=True),
        ToolFinished("1", failed=True, interrupted=True),
        ToolFinished("1", task_id="b1"),
        ToolFinished("other"),
    ],
)
def test_a_check_that_did_not_end_has_no_result(result: ToolFinished) -> None:
    assert facts_of(bash("1", "pytest"), result).checks == ()


def test_a_cli_that_does_not_record_the_exit_status_has_only_the_line() -> None:
    without = (bash("1", "pytest"), ToolFinished("1", text="1 failed, 2 passed"))
    (check,) = facts_of(*without).checks
    assert (check.failed, check.exit) == (True, None)
    (check,) = facts_of(bash("1", "pytest"), ToolFinished("1", text="?")).checks
    assert (check.failed, check.exit) == (None, None)


@pytest.mark.parametrize(
    ("path", "edited"),
    [
        ("/w/a.py", True),
        ("/w/docs/draft-plan.md", True),
        ("/w/.cockpit/handoffs/draft-04260269.md", False),
        ("/h/draft-04260269-5565-49f8-9493-585a4589347e.md", False),
        ("/tmp/notes.md", False),
    ],
)
def test_a_draft_of_a_handoff_or_a_file_elsewhere_is_no_edit(path: str, edited: bool) -> None:
    facts = facts_of(
        Identified(cwd="/w"),
        UserSaid("go"),
        *ran("pytest -q", "2 passed"),
        call("t", "Write", file_path=path, content="x"),
        ToolFinished("t"),
    )
    assert facts.checks[0].edited_since is edited
    assert ("Write" in " ".join(facts.recent_activity)) is edited


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("sed -i 's/a/b/' a.py", True),
        ("sed -E -i.bak 's/a/b/' a.py", True),
        ("cd /w && git stash pop", True),
        ("git -C /w checkout main", True),
        ("git checkout -b topic", False),
        ("git stash list", False),
        ("git reset --hard HEAD~1", True),
        ("git reset a.py", False),
        ("uv run ruff format .", True),
        ("ruff format --check .", False),
        ("npx eslint --fix src", True),
        ("cat > src/a.py <<'EOF'\nx\nEOF", True),
        ("cat > /tmp/body.md <<'EOF'\nx\nEOF", False),
        ("cat a.py", False),
        ("sed -n 1,20p a.py", False),
        ("git commit -m 'Apply the patch'", False),
        ("curl -s https://example.com/1.patch | git am", True),
    ],
)
def test_a_command_that_changes_files_is_an_edit(command: str, changes: bool) -> None:
    facts = facts_of(UserSaid("go"), *ran("pytest -q", "2 passed"), *ran(command))
    assert facts.checks[0].edited_since is changes

"""The test, lint and build commands of the corpus, with what they print."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stack:
    """The commands of one kind of project."""

    test: str
    green: str
    """What a green run prints; `{passed}` is the count."""
    red: str
    """What a red run prints; `{failed}` tests failed."""
    lint: str
    linted: str
    """The line with the linter's result."""
    lint_terms: tuple[str, ...]
    build: str
    built: str
    build_terms: tuple[str, ...]


STACKS = {
    "python": Stack(
        "pytest -q",
        "........\n{passed} passed in 4.31s",
        "FAILED tests/test_it.py::test_edge\n{failed} failed, {passed} passed in 4.40s",
        "ruff check .",
        "Found 3 errors.",
        ("ruff check", "3 errors"),
        "python -m build --wheel",
        "Successfully built project-1.4.0-py3-none-any.whl",
        ("python -m build", "successfully built|succeeded|ok|passed|exit 0"),
    ),
    "node": Stack(
        "npm test",
        "Tests:       {passed} passed, {passed} total",
        "Tests:       {failed} failed, {passed} passed, 140 total",
        "npx eslint src",
        "✖ 4 problems (4 errors, 0 warnings)",
        ("npx eslint", "4 problems|4 errors"),
        "npm run build",
        "✓ built in 2.14s",
        ("npm run build", "built in|succeeded|ok|passed|exit 0"),
    ),
    "go": Stack(
        "gotestsum ./...",
        "DONE {passed} passed in 3.208s",
        "DONE {passed} passed, {failed} failed in 3.377s",
        "golangci-lint run",
        "5 issues: errcheck, govet",
        ("golangci-lint run", "5 issues"),
        "goreleaser build --snapshot",
        "build succeeded after 9s",
        ("goreleaser build", "succeeded|ok|passed|exit 0"),
    ),
    "rust": Stack(
        "cargo test",
        "test result: ok. {passed} passed; 0 ignored",
        "test result: FAILED. {passed} passed; {failed} failed",
        "cargo clippy",
        "warning: `project` (lib) generated 6 warnings",
        ("cargo clippy", "6 warnings"),
        "cargo build --release",
        "Finished `release` profile [optimized] target(s) in 21.40s",
        ("cargo build --release", "finished|succeeded|ok|passed|exit 0"),
    ),
}

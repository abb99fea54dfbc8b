"""Recognise commands that test, lint or build, and read their result from the output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from cockpit.core.command_lines import Part, bare_command, parts
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.deferred_pattern import deferred_pattern
from cockpit.core.safetext import without_controls, without_escapes

CheckKind = Literal["test", "lint", "build"]
_SCRIPT = r"(?:npm|pnpm|yarn|bun)(?: run(?:-script)?| -s| --silent| -r)* "
_TASK = r"(?:make|just|task|rake|gradlew?|invoke)(?: -C \S+| -\S+)* "

_KINDS: tuple[tuple[CheckKind, re.Pattern[str]], ...] = (
    (
        "lint",
        deferred_pattern(
            r"(?:ruff (?:check|format\b.*--(?:check|diff))|flake8|pylint|mypy|dmypy|pyright"
            r"|basedpyright|ty check|eslint|biome (?:check|lint|ci)|oxlint"
            r"|prettier\b.*(?:-c|--check)\b|stylelint|golangci-lint|staticcheck|go vet|cargo clippy"
            r"|cargo fmt\b.*--check|rubocop"
            r"|shellcheck|ktlint|detekt|swiftlint|phpstan|psalm|(?:black|isort)\b.*--(?:check|diff)"
            r"|pre-commit run|tsc\b.*--noEmit|vue-tsc|svelte-check|deno (?:lint|check)|mix credo"
            r"|hadolint|yamllint|markdownlint\S*|clang-tidy|bandit|dart analyze|flutter analyze)\b"
            rf"|(?:{_SCRIPT}|{_TASK})(?:lint|typecheck|type-check|check-types|format:check|tsc)\b"
        ),
    ),
    (
        "test",
        deferred_pattern(
            r"(?:pytest|py\.test|tox|nox|unittest|nosetests|jest|vitest|mocha|ava|karma start"
            r"|playwright test|cypress run|rspec|phpunit|pest|ctest|bats|go test|gotestsum"
            r"|cargo (?:test|nextest)|dotnet test|deno test|bun test|swift test|mix test"
            r"|rails test|zig build test|bazel test|flutter test|dart test|node --test|busted"
            r"|(?:mvnw?|\./mvnw)\b.*\b(?:test|verify)|gradlew?\b.*\b\w*[tT]est\w*)\b"
            rf"|{_SCRIPT}(?:t|test|tests|e2e|spec)(?:[:\s-]|$)|{_TASK}(?:test|tests|check|spec)(?:[\s-]|$)"
        ),
    ),
    (
        "build",
        deferred_pattern(
            r"(?:cmake --build|ninja|meson compile|go build|cargo (?:build|check)|tsc|vite build"
            r"|webpack|rollup|next build|turbo build|docker (?:build|buildx build|compose build)"
            r"|(?:mvnw?|\./mvnw)\b.*\b(?:package|install|compile)|gradlew?\b.*\b(?:build|assemble)"
            r"|dotnet build|swift build|xcodebuild|bazel build|zig build|flutter build|hatch build"
            r"|poetry build|uv build|nix build|build -[ws]|build --(?:wheel|sdist)|build$)\b"
            rf"|{_SCRIPT}build\b|{_TASK}(?:build|all|dist)\b|make(?: -j\s?\d*)?$"
        ),
    ),
)
_SUBCOMMAND = deferred_pattern(
    r"([A-Za-z][\w.-]*) (?:--?[\w-]+(?:=\S*)? )*(test|lint|build)(?:[:\s]|$)"
)
"""Matches a program with the subcommand `test`, `lint` or `build`, such as `goreleaser build`."""
_NO_CHECKERS = (
    "ls cat rm cp mv mkdir rmdir echo printf grep egrep rg ag fd find tree du df head tail "
    "less more wc stat file touch chmod chown ln tar zip unzip git gh glab pip pip3 pipx brew "
    "apt apt-get dnf apk which type man sed awk jq sort diff kill ssh scp rsync vi vim nano "
    "code open python python3 node ruby perl sh bash zsh fish kubectl read basename dirname "
    "realpath"
)
_WITHOUT_CHECKS = frozenset(_NO_CHECKERS.split())
"""Programs that take `test`, `lint` or `build` as an ordinary argument, such as a file name."""
_WORDS_OF_CHECKS = (
    "test lint check build tox nox jest mocha ava karma cypress spec phpunit bats flake8 mypy "
    "pyright biome prettier vet clippy fmt rubocop detekt phpstan psalm black isort pre-commit "
    "tsc credo clang-tidy bandit analyze make ninja meson webpack rollup mvn gradle package "
    "ruff e2e busted pest"
)
_SHORT_TESTS = ("npm t", "yarn t", "bun t", "run t", "run-script t", "-s t", "-silent t", "-r t")
"""Texts in a command that runs the script `t` (test), such as `npm t`: one for each word that
`_SCRIPT` allows before `t`."""
_MAY_BE = (*_WORDS_OF_CHECKS.split(), *_SHORT_TESTS, " all", " dist")
"""Only command lines with one of these texts are matched against the patterns of checks, because
searching for the texts is faster."""
_BY_NAME: dict[str, CheckKind] = {"test": "test", "lint": "lint", "build": "build"}
_HELP = deferred_pattern(r"\s--?(?:version|help|collect-only|co|list-tests)\b|\s-[hV]\b")

_COUNTED = (
    r"\b\d+ (?:passed|failed|failing|passing|skipped|errors?|problems?|warnings?|failures?"
    r"|examples?|tests?|assertions?|offenses?|issues?|suites?)\b"
)
_RESULT: dict[CheckKind, re.Pattern[str]] = {
    "test": deferred_pattern(
        rf"{_COUNTED}|\b(?:Tests?|Suites?)(?: run)?:? +\d|^(?:ok|FAIL|---? FAIL:|PASS)\b|^OK\b"
        r"|^FAILED\b|test result:|tests? passed|^# (?:pass|fail) \d|BUILD (?:SUCCESS|FAIL)"
        r"|Passed!|Failed!|no tests ran"
    ),
    "lint": deferred_pattern(
        rf"{_COUNTED}|All checks passed|Success: no issues|Found \d+|no issues"
        r"|would (?:be )?reformat|All matched files use|already formatted|error TS\d"
        r"|could not compile|Failed$|Passed$"
    ),
    "build": deferred_pattern(
        rf"{_COUNTED}|BUILD (?:SUCCESS|FAIL)|Finished |could not compile|Compiled |built in"
        r"|error TS\d|\*\*\* |Successfully (?:built|tagged)|FAILED:"
        r"|[Bb]uild (?:succeeded|failed|complete)"
    ),
}
_BAD = deferred_pattern(
    r"\b[1-9]\d* (?:failed|failing|errors?|failures?|problems?|offenses?)\b"
    r"|\bFAILED\b|^(?:--- )?FAIL\b|BUILD FAIL|(?:Failures|Errors): [1-9]"
    r"|could not compile|error TS\d|^# fail [1-9]"
    r"|[Bb]uild failed|would (?:be )?reformat|Found [1-9]\d* (?:error|issue)",
    re.MULTILINE,
)
_GOOD = deferred_pattern(
    r"\b[1-9]\d* (?:passed|passing)\b|^OK\b|^ok\b|All checks passed|Success: no issues"
    r"|\b0 failures\b|BUILD SUCCESS|test result: ok|tests? passed|Passed!|[Bb]uild succeeded"
    r"|^PASS\b",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Found:
    """One kind of check (test, lint or build) that a command line runs."""

    kind: CheckKind
    exact_success: bool
    """Whether a success of the command line proves that this check succeeded."""
    exact_failure: bool
    """Whether a failure of the command line proves that this check failed."""


@lru_cache(maxsize=64)
def checks_in(command: str) -> tuple[Found, ...]:
    """Return each kind of check that a command line runs, once, in the order of the command line.

    Cached, because several collectors look at the same call, and sessions repeat their checks.
    """
    if not any(text in command for text in _MAY_BE):
        return ()
    commands = parts(command)
    kinds: dict[CheckKind, list[int]] = {}
    for at, part in enumerate(commands):
        for kind in _kinds_of(part):
            kinds.setdefault(kind, []).append(at)
    return tuple(Found(kind, *_exactness(commands, places)) for kind, places in kinds.items())


def result_line(kind: CheckKind, output: str) -> str:
    """Return the last line of the output with a count or a result, at most 200 characters of it.

    Empty if there is no such line.
    """
    pattern = _RESULT[kind]
    for line in reversed(_lines(output)):
        if pattern.search(line):
            return line.strip(" =-").strip()[:200]
    return ""


def verdict(line: str) -> bool | None:
    """Return whether a check failed, from its result line; None if the line shows no result."""
    if _BAD.search(line):
        return True
    return False if _GOOD.search(line) else None


def _kinds_of(part: Part) -> Iterator[CheckKind]:
    command = bare_command(part.text)
    if _HELP.search(part.text):
        return
    for kind, pattern in _KINDS:
        if pattern.match(command):
            yield kind
            return
    match = _SUBCOMMAND.match(command)
    if match is not None and match[1] not in _WITHOUT_CHECKS:
        yield _BY_NAME[match[2]]


def _exactness(commands: list[Part], places: list[int]) -> tuple[bool, bool]:
    """Return `Found.exact_success` and `Found.exact_failure` of one kind of check.

    `places` are the indexes of the commands that run this check. Any operator except
    `&&` after a command hides the command's own status.
    """
    after = [part.joined for part in commands[places[0] :]]
    kept = all(operator in ("&&", "") for operator in after)
    others = [at for at, part in enumerate(commands) if at not in places and not part.is_setup]
    return kept, kept and not others


def _lines(output: str) -> list[str]:
    return without_controls(without_escapes(output)).split("\n")

"""Types of settings, with their validation.

Every error is a `ValueError` that names the expected value (`Refused` also has a hint);
`config.problems` adds file, line and key. Values that become part of a command, a path or a branch
are restricted here, so later code need not check these values again.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePath, PurePosixPath
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)

from cockpit.config.key_names import by_action, key_names
from cockpit.config.quantities import duration, size, spelled_duration
from cockpit.core.errors import BadUsage
from cockpit.core.far_names import RESERVED
from cockpit.core.git_names import names_git_folder
from cockpit.core.ids import NAME_PATTERN, agent_name, model_name

RESERVED_VARIABLES = (
    "COCKPIT_AGENT",
    "COCKPIT_SOCKET",
    "COCKPIT_STATE",
    "COCKPIT_RUN",
    "COCKPIT_HOME",
)
"""Variables that cockpit sets in a pane; an agent's `env` cannot override them."""

_AnyPath = TypeVar("_AnyPath", bound=PurePath)

BRANCH_FIELDS = ("agent", "work_item", "job")
"""Placeholders of the setting `worktree.branch`."""


class Section(BaseModel):
    """A table of a file: immutable, strict about types. Unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, hide_input_in_errors=True, defer_build=True
    )


class Refused(ValueError):
    """The error for a value that `core` refuses, with a hint."""

    def __init__(self, error: BadUsage) -> None:
        super().__init__(error.title)
        self.hint = "\n".join(part for part in (error.detail, error.hint) if part)


def _plain_text(text: str) -> str:
    if "\0" in text:
        raise ValueError("contains a NUL character, which cannot be passed to a program")
    return text


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("expected one line without control characters")
    return text


def _marker(text: str) -> str:
    if not text.strip() or len(text) > 200:
        raise ValueError("expected 1 to 200 characters that the agent prints when it is done")
    return _one_line(text)


def _agent_name(text: str) -> str:
    try:
        return agent_name(text)
    except BadUsage as error:
        raise Refused(error) from None


def _model_name(text: str) -> str:
    try:
        return model_name(text)
    except BadUsage as error:
        raise Refused(error) from None


def _host_name(text: str) -> str:
    if text in RESERVED:
        raise ValueError(f"`{text}` is reserved: {RESERVED[text]}; choose another name")
    if not NAME_PATTERN.fullmatch(text):
        raise ValueError(
            "expected 1 to 32 characters: a-z, 0-9, dot, underscore, dash; "
            "the first must be a-z or 0-9"
        )
    return text


def _theme(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", text):
        raise ValueError('expected the name of a theme, such as "night", not a path')
    return text


def _git_name(text: str) -> str:
    """Check the name of a branch or commit, so that git cannot read it as an option, a range or
    a path.
    """
    wrong = re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/$|\.$|\.lock(/|$)|(^|/)[.-]", text)
    if text and (wrong or text.startswith("/") or not text.isprintable()):
        raise ValueError("expected a valid branch name (see `git check-ref-format`)")
    return text


def _branch_pattern(text: str) -> str:
    for field in re.findall(r"\{([^{}]*)\}", text):
        if field not in BRANCH_FIELDS:
            known = ", ".join(f"{{{name}}}" for name in BRANCH_FIELDS)
            raise ValueError(f"expected only {known} between braces, not {{{field}}}")
    plain = re.sub(r"\{(" + "|".join(BRANCH_FIELDS) + r")\}", "x", text)
    if not plain or "{" in plain or "}" in plain:
        raise ValueError('expected a branch name, such as "agent/{agent}/{work_item}"')
    _git_name(plain)
    return text


def _inside_worktree(text: str) -> str:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or path == PurePosixPath() or "\0" in text:
        raise ValueError("expected a path inside the worktree, without `..`")
    _not_git(path)
    return _one_line(text)


def _not_git(path: _AnyPath) -> _AnyPath:
    if names_git_folder(path.parts):
        raise ValueError("expected a path outside .git")
    return path


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) != len(values):
        raise ValueError("expected no duplicates")
    return values


def _environment(table: dict[str, str]) -> dict[str, str]:
    for name, value in table.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise ValueError(f"{name!a} is not a valid environment variable name")
        if name in RESERVED_VARIABLES:
            raise ValueError(f"{name} is set by cockpit itself")
        _plain_text(value)
    return table


def _threshold(written: object) -> object:
    from cockpit.core.bands import parse_threshold

    if isinstance(written, bool) or not isinstance(written, str | int):
        raise ValueError('expected a threshold such as "70%", "130k", 130000 or "30% left"')
    try:
        parse_threshold(str(written))
    except BadUsage as error:
        raise Refused(error) from None
    return str(written)


def _window(written: object) -> object:
    if written == "auto":
        return written
    try:
        tokens = size(written)
    except ValueError:
        tokens = 0
    if not 1_000 <= tokens <= 100_000_000:
        raise ValueError('expected "auto", or a number of tokens such as 200000 or "200k"')
    return tokens


def _own_file(written: object) -> object:
    return None if written == "" else written


_DURATION_SCHEMA = {
    "anyOf": [
        {"type": "string", "pattern": r"^\d+(\.\d+)?\s*(ms|s|m|h|d)?$"},
        {"type": "number", "minimum": 0},
    ]
}

Seconds = Annotated[
    float,
    BeforeValidator(duration),
    PlainSerializer(spelled_duration, when_used="json"),
    WithJsonSchema(_DURATION_SCHEMA),
]
Mark = Annotated[
    str,
    BeforeValidator(_threshold),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]}),
]
WindowSize = Annotated[
    str | int,
    BeforeValidator(_window),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1000}]}),
]
Text = Annotated[str, AfterValidator(_plain_text)]
Line = Annotated[str, AfterValidator(_plain_text), AfterValidator(_one_line)]
Marker = Annotated[str, AfterValidator(_marker)]
NameText = Annotated[str, AfterValidator(_agent_name)]
ModelName = Annotated[str, AfterValidator(_model_name)]
HostName = Annotated[str, AfterValidator(_host_name)]
ThemeName = Annotated[str, AfterValidator(_theme)]
GitName = Annotated[str, AfterValidator(_git_name)]
BranchPattern = Annotated[str, AfterValidator(_branch_pattern)]
FolderInside = Annotated[str, AfterValidator(_inside_worktree)]
Location = Annotated[
    Path,
    Field(strict=False),
    AfterValidator(_not_git),
    PlainSerializer(str, when_used="json"),
    WithJsonSchema({"type": "string"}),
]
OwnFile = Annotated[
    Annotated[Path, Field(strict=False)] | None,
    BeforeValidator(_own_file),
    PlainSerializer(lambda path: "" if path is None else str(path), when_used="json"),
    WithJsonSchema({"type": "string"}),
]
"""An optional path of a file; empty means none."""
Arguments = Annotated[tuple[Text, ...], Field(strict=False)]
Lines = Annotated[tuple[Line, ...], Field(strict=False)]
EnvironmentTable = Annotated[dict[str, str], AfterValidator(_environment)]
_KEYS_SCHEMA: Any = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
OneOrMany = BeforeValidator(lambda written: [written] if isinstance(written, str) else written)
"""Accepts one text where a list of texts is expected."""
KeyTable = Annotated[
    dict[str, Annotated[str, BeforeValidator(key_names), WithJsonSchema(_KEYS_SCHEMA)]],
    BeforeValidator(by_action),
]
Distinct = AfterValidator(_distinct)

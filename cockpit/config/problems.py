"""Turn schema errors into readable errors, with the expected value or the nearest known name.

All pydantic errors of a file become one `BadConfig` with file, line and key; the first error is the
title.
"""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from cockpit.config.file import ConfigFile, dotted
from cockpit.config.lines import KeyPath
from cockpit.config.schema import Settings
from cockpit.config.values import Refused
from cockpit.core.errors import BadConfig, BadUsage
from cockpit.core.safetext import quoted, safe_line

MOST_FINDINGS = 20
"""Maximum errors of one file that are described and sorted by line; the first ten are shown."""

_EXPECTED = {
    "string_type": "text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list in [brackets]",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "path_type": "a path in quotes",
    "is_instance_of": "a path in quotes",
}
_NAMED_TYPES = {str: "text", bool: "true or false", int: "a number", float: "a number"}


def checked(file: ConfigFile, data: dict[str, Any]) -> Settings:
    """Validate the data of one file. Raises `BadConfig`."""
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        raise refusal(file, error) from None


def refusal(file: ConfigFile, error: ValidationError) -> BadConfig:
    """Return one error for all errors of a file, ordered by line.

    Describes only the first `MOST_FINDINGS`, because each description needs a search for similar
    names.
    """
    findings = error.errors(include_url=False)
    problems: list[tuple[int, str, str, KeyPath]] = []
    for finding in findings[:MOST_FINDINGS]:
        path = _key_path(finding)
        problem, hint = _describe(finding, path)
        problems.append((file.line_of(path), problem, hint, path))
    problems.sort(key=lambda problem: problem[0])
    _, problem, hint, path = problems[0]
    more = "\n".join(f"{_at(file, where)}: {what}" for _, what, _, where in problems[1:10])
    if len(findings) > 10:
        more += f"\n… and {len(findings) - 10} more"
    return file.refusal(path, problem, hint, more)


def _at(file: ConfigFile, path: KeyPath) -> str:
    line, key = file.shown_line(path), file.shown_key(file.written_as(path))
    return key if line is None else f"line {line}: {key}"


def usage_refusal(subject: str, error: ValidationError) -> BadUsage:
    """Return the error for the first invalid value on the command line or in the environment.

    `subject` is the name of an agent from the command line, or of an environment variable.
    """
    finding = error.errors(include_url=False)[0]
    path = _key_path(finding)
    problem, hint = _describe(finding, path)
    return BadUsage(f"{subject}: {dotted(path)}: {problem}", "", hint)


def nearest(word: str, known: list[str]) -> str | None:
    """Return the known name that is nearest to a mistyped one; None if no name is similar."""
    close = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return close[0] if close else None


def _key_path(finding: ErrorDetails) -> KeyPath:
    return tuple(part for part in finding["loc"] if part not in ("[key]", "str", "int"))


def _describe(finding: ErrorDetails, path: KeyPath) -> tuple[str, str]:
    kind, context = finding["type"], finding.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(path)
    if kind == "missing":
        return "missing", ""
    if kind == "literal_error":
        return _choice(str(context["expected"]), finding["input"])
    if kind == "value_error":
        wrong = context["error"]
        return str(wrong), wrong.hint if isinstance(wrong, Refused) else ""
    if kind in ("greater_than_equal", "less_than_equal", "greater_than"):
        bound = next(iter(context.values()))
        words = {"greater_than_equal": "at least", "less_than_equal": "at most"}
        return f"expected {words.get(kind, 'more than')} {bound:g}", ""
    if kind == "too_short":
        return "expected at least one", ""
    if kind == "tuple_type" and (keys := known_keys(path)):
        return f"expected a list of tables, not {_named(finding['input'])}", _header(
            path, finding["input"], keys
        )
    expected = _EXPECTED.get(kind)
    if expected is None:
        return finding["msg"][:1].lower() + finding["msg"][1:], ""
    return f"expected {expected}, not {_named(finding['input'])}", ""


def _header(path: KeyPath, given: object, keys: list[str]) -> str:
    """Return the hint with the header of a table in the list at `path`.

    `[agents.one]` gives the name of a table where the list's tables have the key `name`.
    """
    header = f"[[{'.'.join(part for part in path if isinstance(part, str))}]]"
    entries = given.items() if isinstance(given, dict) else ()
    tables = [str(name) for name, value in entries if isinstance(value, dict)]
    if tables and "name" in keys and tables[0] not in keys:
        return f'Write {header} with name = "{safe_line(tables[0], 40)}".'
    return f"Write {header} above each table."


def _named(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    return _NAMED_TYPES.get(type(value), "a date or time")


def _choice(expected: str, given: object) -> tuple[str, str]:
    known = re.findall(r"'([^']*)'", expected)
    text = (
        f"expected {', '.join(known[:-1])} or {known[-1]}" if known[1:] else f"expected {known[0]}"
    )
    if not isinstance(given, str):
        return f"{text}, not {_named(given)}", ""
    close = nearest(given, known)
    return f"{text}, not {quoted(given)}", f'Did you mean "{close}"?' if close else ""


def _unknown(path: KeyPath) -> tuple[str, str]:
    word = str(path[-1])
    known = known_keys(path[:-1])
    if close := nearest(word, known):
        return "unknown key", f'Did you mean "{close}"?'
    homes = [table for table, key in _every_key() if key == word]
    if homes:
        return "unknown key here", f'"{word}" belongs in [{homes[0]}].'
    return "unknown key", f"Known here: {', '.join(known)}." if known else ""


def known_keys(table: KeyPath) -> list[str]:
    """Return the keys that a table can have; empty for an unknown table, and for a table in which
    the user chooses the keys."""
    model: Any = Settings
    is_name = False
    for part in table:
        if isinstance(part, int) or is_name:
            is_name = False
            continue
        field = model.model_fields.get(part)
        model = _model_in(field.annotation) if field else None
        if model is None:
            return []
        is_name = typing.get_origin(field.annotation) is dict
    return [] if is_name else list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in typing.get_args(annotation):
        if (model := _model_in(inner)) is not None:
            return model
    return None


def _every_key() -> Iterator[tuple[str, str]]:
    def walk(model: type[BaseModel], name: str) -> Iterator[tuple[str, str]]:
        for key, field in model.model_fields.items():
            if name:
                yield name, key
            if (inner := _model_in(field.annotation)) is not None:
                yield from walk(inner, f"{name}.{key}" if name else key)

    return walk(Settings, "")

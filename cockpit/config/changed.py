"""Change settings in a file's text; everything else stays as the user wrote it.

The result is parsed again and compared with the intended change. If the two differ, the change is
refused. This module writes no files.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit

from cockpit.config.file import dotted
from cockpit.config.lines import lines_of
from cockpit.core.errors import Failed

Path = tuple[str, ...]


def changed_text(text: str, changes: Mapping[Path, Any]) -> str:
    """Return the text with these settings changed.

    `changes` maps key paths to values; None removes a key. Missing tables are added at the end. If
    a removed key has a comment on its line, the comment is kept. Raises `Failed` if the change
    cannot be made.
    """
    for path, value in changes.items():
        text = _without(text, path) if value is None else _with(text, path, value)
    return text


def _with(text: str, path: Path, value: Any) -> str:
    document = tomlkit.parse(text)
    table: Any = document
    for part in path[:-1]:
        if part not in table:
            table[part] = tomlkit.table(is_super_table=part != path[-2])
        table = table[part]
    table[path[-1]] = value
    return _checked(tomlkit.dumps(document), text, path, value)


def _without(text: str, path: Path) -> str:
    document = tomlkit.parse(text)
    table: Any = document
    for part in path[:-1]:
        if not isinstance(table, Mapping) or part not in table:
            return text
        table = table[part]
    if path[-1] not in table:
        return text
    trivia = getattr(table[path[-1]], "trivia", None)
    del table[path[-1]]
    bare = _checked(tomlkit.dumps(document), text, path, None)
    return _with_comment(bare, text, path, trivia.comment if trivia else "")


def _with_comment(bare: str, text: str, path: Path, comment: str) -> str:
    """Return `bare` with the comment of the removed key on the line where the key was.

    `bare` is `text` without the key. Returns `bare` unchanged if there is no comment, or if the
    lines above the key differ in the two texts.
    """
    line = lines_of(text).exactly(path)
    before, after = text.splitlines(True), bare.splitlines(True)
    if not comment or line is None or before[: line - 1] != after[: line - 1]:
        return bare
    return "".join([*after[: line - 1], f"{comment}\n", *after[line - 1 :]])


def _checked(after: str, before: str, path: Path, value: Any) -> str:
    meant = _meant(tomllib.loads(before), path, value)
    if _without_empty(tomllib.loads(after)) != _without_empty(meant):
        raise Failed(
            f"Cannot change {dotted(path)} automatically",
            "cockpit cannot edit this setting in the form that the file uses.",
            "Edit the file by hand; to find the line: cockpit config show",
        )
    return after


def _meant(data: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    inner = data
    for part in path[:-1]:
        inner = inner.setdefault(part, {})
    if value is None:
        inner.pop(path[-1], None)
    else:
        inner[path[-1]] = value
    return data


def _without_empty(data: Any) -> Any:
    """Return the data without empty tables: a change may add or remove headers of empty tables."""
    if not isinstance(data, dict):
        return data
    inner = {key: _without_empty(value) for key, value in data.items()}
    return {key: value for key, value in inner.items() if value != {}}

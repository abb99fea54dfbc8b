"""The text of a file with settings changed in it: everything else stays as the pilot wrote it.

What comes out is read again and compared with what was meant, so that an oddity of a file, or of
the library that writes it, is a refusal and never another setting. Writes nothing.
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
    """The text with settings changed by path of keys; None takes a key out.

    A table that is not there yet is added at the end; the comment behind a key that is taken out
    stays on its line. Raises `Failed` for a text in which that cannot be done.
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
    """The comment on the line where its key was, if that place is still there."""
    line = lines_of(text).exactly(path)
    before, after = text.splitlines(True), bare.splitlines(True)
    if not comment or line is None or before[: line - 1] != after[: line - 1]:
        return bare
    return "".join([*after[: line - 1], f"{comment}\n", *after[line - 1 :]])


def _checked(after: str, before: str, path: Path, value: Any) -> str:
    meant = _meant(tomllib.loads(before), path, value)
    if _without_empty(tomllib.loads(after)) != _without_empty(meant):
        raise Failed(
            f"{dotted(path)} cannot be changed from here",
            "The way in which it is written there would not be kept.",
            "Change it in the file by hand: cockpit config show says where.",
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
    """Without tables that hold nothing: their headers may stay, or go."""
    if not isinstance(data, dict):
        return data
    inner = {key: _without_empty(value) for key, value in data.items()}
    return {key: value for key, value in inner.items() if value != {}}

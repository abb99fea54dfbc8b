"""Describe what a form would save: file, line and resulting value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cockpit.core.safetext import safe_line
from cockpit.tui.present.paths import short_path

if TYPE_CHECKING:
    from cockpit.config.files import Edit
    from cockpit.config.loaded import Loaded

_IMPLIED = {"cockpit", "defaults", "context", "notifications", "keys"}
"""Tables of the configuration whose names are left out of a setting's shown name."""


def writing(edits: Sequence[Edit], then: Loaded, standing: Callable[[Path], str], home: str) -> str:
    """Return a sentence with the files that Ctrl-S would save, and the changes in each file.

    `then` is the configuration after the changes. `standing` returns a note about a file; empty
    without one.
    """
    if not edits:
        return "No changes yet."
    files = []
    for file in dict.fromkeys(edit.file for edit in edits):
        known = standing(file)
        changes = "; ".join(_edit(edit, then, home) for edit in edits if edit.file == file)
        note = f"{known}; " if known else ""
        files.append(f"{short_path(str(file), home)} ({note}{changes})")
    return f"Ctrl-S saves to {' and to '.join(files)}."


def label(key: Sequence[str]) -> str:
    """Return a setting's name as the form shows it."""
    words = list(key)
    while len(words) > 1 and words[0] in _IMPLIED:
        words.pop(0)
    return safe_line(".".join(words), 60)


def value_at(loaded: Loaded, key: Sequence[str]) -> str:
    """Return a setting's value as text; empty if the setting has no value."""
    value: Any = loaded.settings
    if key[0] == "keys":
        return str(loaded.settings.keys.get(".".join(key[1:]), ""))
    for part in key:
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
    return "" if value is None else str(value)


def _edit(edit: Edit, then: Loaded, home: str) -> str:
    name = label(edit.key)
    if not edit.removed:
        return f"changes `{name}` on line {edit.line}" if edit.line else f"adds `{name}`"
    value = safe_line(value_at(then, edit.key), 60)
    whose = f"from {_source(edit, home)}" if edit.then else "the default"
    after = f"{value}, {whose}" if value else whose
    return f"removes `{name}` from line {edit.line}, leaving {after}"


def _source(edit: Edit, home: str) -> str:
    assert edit.then is not None
    if edit.then.line is None:
        return "the environment"
    return f"{short_path(edit.then.where, home)}:{edit.then.line}"

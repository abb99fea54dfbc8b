"""A path as a pilot says it: `~` for the home directory, and nothing that could move a cursor."""

from __future__ import annotations

from pathlib import PurePath

from cockpit.core.safetext import safe_line


def short_path(path: str, home: str) -> str:
    """With `~` where it lies at home; made safe to show."""
    if home and PurePath(path).is_relative_to(home):
        path = f"~/{PurePath(path).relative_to(home)}".removesuffix("/.")
    return safe_line(path, 200)

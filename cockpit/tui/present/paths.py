"""Paths for display: `~` for the home directory, without control characters."""

from __future__ import annotations

from pathlib import PurePath

from cockpit.core.safetext import safe_line


def short_path(path: str, home: str) -> str:
    """Return the path with `~` for the home directory, safe to show."""
    if home and PurePath(path).is_relative_to(home):
        path = f"~/{PurePath(path).relative_to(home)}".removesuffix("/.")
    return safe_line(path, 200)

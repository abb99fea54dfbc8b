"""Patterns for git's `info/exclude` that match one folder only."""

from __future__ import annotations

import re
from collections.abc import Iterable


def exclusion(parts: Iterable[str]) -> str:
    """Return the pattern for a folder, given as the parts of its path below the worktree."""
    return f"/{escaped('/'.join(parts))}/"


def escaped(path: str) -> str:
    """Return a path with a backslash before each character that is special in a pattern."""
    return re.sub(r"([\\*?\[\] ])", r"\\\1", path)

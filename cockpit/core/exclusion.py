"""A folder as a line of git's `info/exclude`: that folder and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable


def exclusion(parts: Iterable[str]) -> str:
    """The pattern for a folder, given as the parts of its path."""
    return f"/{escaped('/'.join(parts))}/"


def escaped(path: str) -> str:
    """A path with everything escaped that means something else than itself in a pattern."""
    return re.sub(r"([\\*?\[\] ])", r"\\\1", path)

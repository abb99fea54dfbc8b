"""Reading handoff documents from worktrees, each read waited for only so long.

A worktree can lie on a file system that hangs, and whoever reads holds the agent's lock meanwhile.
Only reads come here: a write that is given up half-way would go on behind the next one, so writes
are waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cockpit.supervisor.dependencies import Dependencies

T = TypeVar("T")

PATIENCE = 5.0
"""Seconds; a busy disk needs tenths of one for the largest document."""


async def read_document(dependencies: Dependencies, path: Path, read: Callable[[], T]) -> T:
    """What `read` says of the document at the path. Raises what it raises, and `NoAnswer`.

    The file system is asked once more only when the read that was given up has returned.
    """
    return await dependencies.slow.ask(str(path), read, PATIENCE)

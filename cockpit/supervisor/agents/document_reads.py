"""Read handoff documents from worktrees, with a time limit.

A worktree can be on a file system that hangs, and the reader holds the agent's lock. Writes have no
time limit: an abandoned write could still overwrite a later one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cockpit.supervisor.dependencies import Dependencies

T = TypeVar("T")

PATIENCE = 5.0
"""Time limit in seconds for reading a document. The largest document on a busy disk needs tenths of
a second."""


async def read_document(dependencies: Dependencies, path: Path, read: Callable[[], T]) -> T:
    """Return the result of `read` for the document. Raises the errors of `read`, and `NoAnswer`.

    After a timeout, another read starts only when the earlier one has returned.
    """
    return await dependencies.slow.ask(str(path), read, PATIENCE)

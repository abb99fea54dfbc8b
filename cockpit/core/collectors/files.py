"""Collect the files that a session changed and read."""

from __future__ import annotations

import re
from collections import Counter

from cockpit.core.collectors.bounded import remember, remember_call
from cockpit.core.session import ToolFinished, ToolUse

FILES_KEPT = 2_000
MOST_READ = 5
INSTRUCTIONS_KEPT = 30
_SCRATCH = re.compile(r"/(?:private/)?(?:tmp|var/tmp|var/folders)/|.*/scratchpad/")
_DRAFT = re.compile(r"(?:^|.*/)draft-[0-9a-f]{8}(?:-[0-9a-f-]{27})?\.md")
FILE_TOOLS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Read", "Write"})
"""Tools that only change or read one file."""
_PATH_OF = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}


def changed_path(tool: ToolUse) -> str:
    """Return the file that a call changes; empty for any other call."""
    key = _PATH_OF.get(tool.name)
    path = tool.input.get(key) if key else None
    return path if isinstance(path, str) else ""


def is_scratch(path: str, root: str | None) -> bool:
    """Return whether a file is outside the worktree, in a folder for temporary files.

    False if the worktree is unknown.
    """
    outside = root is not None and not path.startswith(f"{root.rstrip('/')}/")
    return outside and _SCRATCH.match(path) is not None


def is_draft(path: str) -> bool:
    """Return whether a file is the draft of a handoff document."""
    return _DRAFT.fullmatch(path) is not None


class FileCollector:
    """Keeps the files that were changed and read, with their paths as the agent wrote them."""

    __slots__ = ("_changed", "_editing", "_files", "_instructions", "_reads")

    def __init__(self) -> None:
        self._files: dict[str, None] = {}
        self._changed: set[str] = set()
        self._editing: dict[str, str] = {}
        self._reads: Counter[str] = Counter()
        self._instructions: dict[str, None] = {}

    @property
    def modified(self) -> tuple[str, ...]:
        """Changed files, in the order of the first change."""
        return tuple(self._files)

    @property
    def most_read(self) -> tuple[tuple[str, int], ...]:
        """The files that were read more than once, most read first; at most `MOST_READ`."""
        often = [(path, count) for path, count in self._reads.most_common(MOST_READ) if count > 1]
        return tuple(often)

    @property
    def instructions(self) -> tuple[str, ...]:
        return tuple(self._instructions)

    def changes(self, ident: str, path: str) -> None:
        """Record a call of the agent or a subagent that changes a file."""
        if path in self._files or len(self._files) < FILES_KEPT:
            self._files.setdefault(path)
            remember_call(self._editing, ident, path)

    def reads(self, path: object) -> None:
        """Record a call of the agent or a subagent that reads a file."""
        if isinstance(path, str) and (path in self._reads or len(self._reads) < FILES_KEPT):
            self._reads[path] += 1

    def finished(self, event: ToolFinished) -> None:
        """Record the result of a tool call.

        A file is not listed as changed if all calls that would change it failed.
        """
        path = self._editing.pop(event.tool_use_id, None)
        if path is None:
            return
        if not event.failed:
            self._changed.add(path)
        elif path not in self._changed and path not in self._editing.values():
            self._files.pop(path, None)

    def instructed(self, path: str) -> None:
        """Record an instruction file that the CLI gave to the model."""
        remember(self._instructions, path, None, INSTRUCTIONS_KEPT)

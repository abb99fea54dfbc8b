"""Our own copies of handoff documents, which outlive their worktrees.

Each is named by its handoff. How long they are kept is the caller's to say.
"""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path

from cockpit.adapters.files import guarded_folder
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import safe_line

ARCHIVE = "archive"
"""The folder among the copies for those of finished jobs."""

_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


class Copies:
    """The copies of one cockpit; every call blocks on the disk."""

    def __init__(self, folder: Path) -> None:
        """The folder is made when first needed."""
        self._folder = folder.absolute()

    def path(self, handoff: str) -> Path:
        """Where the copy of a handoff's document is, or will be."""
        return self._folder / f"{checked(handoff)}.md"

    def archived(self, handoff: str) -> Path:
        """Where the copy is once its job is over."""
        return self._folder / ARCHIVE / f"{checked(handoff)}.md"

    def archive(self, handoff: str) -> Path | None:
        """Move a copy to those of finished jobs; its place, or None if there is no copy.

        Twice is the same as once: whoever was cut short syncs what was moved. Raises `OSError`.
        """
        copy, place = self.path(handoff), self.archived(handoff)
        if copy.is_file():
            place.parent.mkdir(mode=0o700, exist_ok=True)
            place.parent.chmod(0o700)
            copy.replace(place)
        if not place.is_file():
            return None
        # In this order, so that no power cut leaves it in neither folder.
        guarded_folder.sync(place.parent)
        guarded_folder.sync(self._folder)
        return place

    def forget(self, handoff: str) -> None:
        """Remove a copy, wherever it is; the document in the worktree stays. Raises `OSError`."""
        for path in (self.path(handoff), self.archived(handoff)):
            path.unlink(missing_ok=True)

    def all(self) -> list[Path]:
        """Every copy that is kept, of open jobs and of finished ones."""
        found = [*self._folder.glob("*.md"), *(self._folder / ARCHIVE).glob("*.md")]
        return sorted(path for path in found if not path.name.startswith("draft-"))

    def clear_strays(self, named: Set[str], oldest: float) -> None:
        """Remove copies and drafts of facts that no handoff of these ids has, once so old.

        `oldest` is in Unix seconds.
        """
        for path in self._folder.glob("*.md"):
            ident = path.stem.removeprefix("draft-")
            if ident not in named and path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)

    def keep(self, handoff: str, data: bytes) -> None:
        """Write a copy durably, in the place of an older one. Raises `OSError`."""
        copy = self.path(handoff)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with guarded_folder.opened(self._folder.resolve()) as descriptor:
            guarded_folder.write_durably(descriptor, copy.name, data, replace=True)


def checked(handoff: str) -> str:
    """The id as it is, since it becomes the name of a file. Raises `BadUsage`."""
    if not _ID.fullmatch(handoff):
        raise BadUsage(f"{safe_line(handoff)} is not the id of a handoff")
    return handoff

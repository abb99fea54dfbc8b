"""cockpit's own copies of handoff documents, which remain when a worktree is removed.

A copy's file name is the id of its handoff. The caller decides how long copies are kept.
"""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path

from cockpit.adapters.files import guarded_folder
from cockpit.core.errors import BadUsage
from cockpit.core.safetext import safe_line

ARCHIVE = "archive"
"""The subfolder for copies of finished jobs."""

_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


class Copies:
    """Copies of handoff documents in one folder. All methods do blocking disk I/O."""

    def __init__(self, folder: Path) -> None:
        """`folder` is created on first use."""
        self._folder = folder.absolute()

    def path(self, handoff: str) -> Path:
        """Return the path of a handoff's copy, which may not exist yet."""
        return self._folder / f"{checked(handoff)}.md"

    def archived(self, handoff: str) -> Path:
        """Return the path of a handoff's copy in the archive, where `archive` moves the copy after
        the job has ended."""
        return self._folder / ARCHIVE / f"{checked(handoff)}.md"

    def archive(self, handoff: str) -> Path | None:
        """Move a handoff's copy into the archive; return the copy's new path, or None if there is
        no copy.

        Idempotent: a second call completes an interrupted move. Raises `OSError`.
        """
        copy, place = self.path(handoff), self.archived(handoff)
        if copy.is_file():
            place.parent.mkdir(mode=0o700, exist_ok=True)
            place.parent.chmod(0o700)
            copy.replace(place)
        if not place.is_file():
            return None
        # In this order, so that at least one folder has the copy after a power failure.
        guarded_folder.sync(place.parent)
        guarded_folder.sync(self._folder)
        return place

    def forget(self, handoff: str) -> None:
        """Remove a handoff's copy, even in the archive; the document in the worktree stays.

        Raises `OSError`.
        """
        for path in (self.path(handoff), self.archived(handoff)):
            path.unlink(missing_ok=True)

    def all(self) -> list[Path]:
        """Return all copies, including those of finished jobs."""
        copies = [*self._folder.glob("*.md"), *(self._folder / ARCHIVE).glob("*.md")]
        return sorted(path for path in copies if not path.name.startswith("draft-"))

    def clear_strays(self, named: Set[str], oldest: float) -> None:
        """Remove copies, and drafts that cockpit wrote from facts, if they are older than `oldest`
        (Unix seconds) and their handoff is not in `named`. Copies of finished jobs stay."""
        for path in self._folder.glob("*.md"):
            ident = path.stem.removeprefix("draft-")
            if ident not in named and path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)

    def keep(self, handoff: str, data: bytes) -> None:
        """Write a copy durably, replacing an older copy. Raises `OSError`."""
        copy = self.path(handoff)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with guarded_folder.opened(self._folder.resolve(), in_state=True) as descriptor:
            guarded_folder.write_durably(descriptor, copy.name, data, replace=True)


def checked(handoff: str) -> str:
    """Return the handoff's id unchanged. Raises `BadUsage` unless the id is safe as a file name."""
    if not _ID.fullmatch(handoff):
        raise BadUsage(
            f"{safe_line(handoff)} is not a handoff id",
            hint="To list the handoffs with their ids: cockpit history",
        )
    return handoff

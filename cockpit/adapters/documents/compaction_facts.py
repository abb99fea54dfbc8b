"""Documents with a session's facts, which are saved just before a CLI compacts the session.

The documents are in one folder below the state folder; the newest `KEPT` documents of each session
are kept. All methods do blocking disk I/O.
"""

from __future__ import annotations

from pathlib import Path

from cockpit.adapters.files import guarded_folder
from cockpit.core.errors import Failed
from cockpit.core.ids import SESSION_PATTERN

KEPT = 5
"""Maximum documents kept per session."""


class CompactionDocuments:
    """Documents with the facts of sessions, written before compactions, in one folder."""

    def __init__(self, folder: Path) -> None:
        """`folder` is created on first use."""
        self._folder = folder.absolute()

    def keep(self, session: str, at: float, text: str) -> Path:
        """Write a document durably, and delete the session's oldest documents beyond `KEPT`.

        `at` is in Unix seconds. Raises `Failed` for an invalid session id, and `OSError`.
        """
        if not SESSION_PATTERN.fullmatch(session):
            raise Failed(f"{session!a} is not a session id")
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{session}.{int(at * 1000):015d}.md"
        with guarded_folder.opened(self._folder.resolve(), in_state=True) as folder:
            guarded_folder.write_durably(folder, path.name, text.encode(), replace=False)
        for older in self._of(session)[:-KEPT]:
            older.unlink(missing_ok=True)
        return path

    def forget(self, oldest: float) -> None:
        """Remove documents written before `oldest`, in Unix seconds."""
        for path in self._folder.glob("*.md"):
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)

    def _of(self, session: str) -> list[Path]:
        return sorted(self._folder.glob(f"{session}.*.md"))

"""The chat thread for each job's messages, in the supervisor's database.

A chat is identified by a hash of its URL, because the URL may be a secret.
"""

from __future__ import annotations

from cockpit.adapters.store.store import Store

MOST = 10_000
"""Maximum number of stored threads; another thread replaces the oldest."""


class ThreadTable:
    """Stores the thread for each job's messages in each chat, in the database of one store."""

    def __init__(self, store: Store) -> None:
        self._run = store.run

    def of(self, place: str, job: str) -> str | None:
        row = self._run(
            "select thread from threads where place = ? and job = ?", place, job
        ).fetchone()
        return None if row is None else str(row[0])

    def remember(self, place: str, job: str, thread: str) -> None:
        """Store the thread of a job's messages in the chat `place`, replacing an older thread."""
        self._run("insert or replace into threads values (?, ?, ?)", place, job, thread)
        self._run(
            "delete from threads where rowid in "
            "(select rowid from threads order by rowid desc limit -1 offset ?)",
            MOST,
        )

    def forget(self, place: str, job: str) -> None:
        """Remove the thread of a job's messages in the chat `place`."""
        self._run("delete from threads where place = ? and job = ?", place, job)

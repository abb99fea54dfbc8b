"""Check in memory whether this Python's SQLite has the features that cockpit needs."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from cockpit.adapters.store.migrations import cannot_search, make_searchable


def check_sqlite(database: sqlite3.Connection | None = None) -> str:
    """Return SQLite's version. Raises `Failed` with the missing feature. `database` must be empty,
    and is closed afterwards.
    """
    with closing(database or sqlite3.connect(":memory:")) as tried:
        try:
            make_searchable(tried)
        except sqlite3.DatabaseError as missing:
            raise cannot_search(missing) from missing
    return sqlite3.sqlite_version

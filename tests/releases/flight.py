"""What a version leaves on disk, as text that can be committed and laid down elsewhere.

A stored flight is a folder: `database.sql`, and the files beside it with their paths. Paths of the
machine it was recorded on are placeholders; hashes of documents follow their text.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

HOME, SLUG = "@HOME@", "@HOME-SLUG@"
"""The folder that everything lies in, and how Claude Code spells it in a folder's name."""

KEPT = ("ck/state", "claude/projects", "repository/.cockpit", "cockpit.toml")
LEFT_OUT = (
    "cockpit.db", "logs", "supervisor.lock", "plugin", "environments", "trusted.json", "verdicts",
    "reporter.sh", "tmux.conf", "settings", "leases", "orders",
)  # fmt: skip
"""Locks, what each start writes anew, and what holds variables of this machine."""
SEARCH = "document_words"
"""A virtual table, filled from documents; SQLite has no text for it."""


def slug(home: Path) -> str:
    """How Claude Code writes a folder into the name of another."""
    return "".join(char if char.isalnum() else "-" for char in str(home))


def keep(home: Path, to: Path) -> None:
    """Copy what lies in `home` at this moment, the database as it was last committed."""
    for kept in KEPT:
        place = home / kept
        (to / kept).parent.mkdir(parents=True, exist_ok=True)
        if place.is_file():
            shutil.copyfile(place, to / kept)
        elif place.is_dir():
            shutil.copytree(place, to / kept, symlinks=True, ignore=_left_out)
    with (
        closing(sqlite3.connect(home / "ck/state/cockpit.db")) as opened,
        closing(sqlite3.connect(to / "copy.db")) as copy,
    ):
        opened.backup(copy)


def store(kept: Path, home: Path, folder: Path) -> None:
    """Write down what was kept of `home`, for `lay_down`."""
    texts = {
        str(path.relative_to(kept)): path.read_bytes()
        for path in _all(kept)
        if path.name != "copy.db"
    }
    texts["database.sql"] = _dump(kept / "copy.db").encode()
    for name, content in _written(texts, str(home), HOME, slug(home), SLUG).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def lay_down(folder: Path, home: Path) -> None:
    """Put a stored flight into `home` as its version would have left it there."""
    texts = {str(path.relative_to(folder)): path.read_bytes() for path in _all(folder)}
    for name, content in _written(texts, HOME, str(home), SLUG, slug(home)).items():
        if name == "database.sql":
            _load(content.decode(), home / "ck/state/cockpit.db")
            continue
        path = home / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o600)
    (home / "ck/state").chmod(0o700)


def _all(place: Path) -> list[Path]:
    found = [place] if place.is_file() else place.rglob("*")
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def _written(
    texts: dict[str, bytes], old: str, new: str, old_slug: str, new_slug: str
) -> dict[str, bytes]:
    """The same files with other paths in them, and the hashes that go with that."""
    moved: dict[str, bytes] = {}
    hashes: dict[bytes, bytes] = {}
    for name, content in texts.items():
        changed = _replaced(content, old, new, old_slug, new_slug)
        hashes[_hash(content)] = _hash(changed)
        moved[name.replace(old_slug, new_slug)] = changed
    for name, content in moved.items():
        for before, after in hashes.items():
            content = content.replace(before, after)
        moved[name] = content
    return moved


def _replaced(content: bytes, old: str, new: str, old_slug: str, new_slug: str) -> bytes:
    return content.replace(old.encode(), new.encode()).replace(old_slug.encode(), new_slug.encode())


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _dump(database: Path) -> str:
    """The database as statements, the index of words left out: it is filled from documents."""
    with closing(sqlite3.connect(database)) as opened:
        (version,) = opened.execute("pragma user_version").fetchone()
        lines = [line for line in _statements(opened) if SEARCH not in line]
    return "\n".join([*lines, f"pragma user_version = {version};", ""])


def _statements(opened: sqlite3.Connection) -> Iterator[str]:
    tables = "select name, sql from sqlite_master where type = 'table' order by rowid"
    for name, sql in opened.execute(tables).fetchall():
        if name.startswith((SEARCH, "sqlite_", "indexed")):
            if name == "indexed":
                yield f"{sql};"
            continue
        yield f"{sql};"
        rows = opened.execute(f"select * from {name} order by rowid")
        columns = ", ".join(column[0] for column in rows.description)
        for row in rows.fetchall():
            values = ", ".join(_literal(opened, value) for value in row)
            yield f"insert into {name} ({columns}) values ({values});"
    others = "select sql from sqlite_master where type <> 'table' and sql is not null"
    for (sql,) in opened.execute(others).fetchall():
        yield f"{sql};"


def _literal(opened: sqlite3.Connection, value: object) -> str:
    (text,) = opened.execute("select quote(?)", (value,)).fetchone()
    return str(text)


def _load(text: str, database: Path) -> None:
    database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with closing(sqlite3.connect(database)) as opened:
        opened.executescript(text)
        opened.execute(f"create virtual table {SEARCH} using fts5(text, tokenize = 'trigram')")
        opened.commit()
    database.chmod(0o600)


def _left_out(folder: str, names: list[str]) -> list[str]:
    return [
        name for name in names if name.startswith(LEFT_OUT) or (Path(folder) / name).is_socket()
    ]

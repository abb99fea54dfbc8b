"""Our own copies of the records of sessions that are over: the CLI clears its own away.

Compressed, mode 0600, known secrets taken out; evidence of a chain, not something that a CLI could
open again. A record that is too large leaves its facts instead, which the caller finds.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.foreign_files import opened
from cockpit.adapters.files.private_file import write_private

LARGEST = 20_000_000
"""Bytes of a record that is kept whole; ten times less when compressed."""
RECORD, FACTS = ".jsonl.gz", ".facts.json"

_SESSION = re.compile(r"[A-Za-z0-9-]{1,64}")
_GZIP = zlib.MAX_WBITS | 16


class KeptRecords:
    """A folder of records; every call blocks on the disk."""

    def __init__(self, folder: Path) -> None:
        """The folder is made when first needed."""
        self._folder = folder

    def path(self, session: str) -> Path | None:
        """What is kept of a session; None if nothing is."""
        return next((path for path in self._paths(session) if path.is_file()), None)

    def lines(self, kept: Path) -> Iterator[bytes]:
        """A kept record as it was, line by line; none of one that left its facts alone.

        Raises `OSError`, also for what was not compressed whole.
        """
        if kept.name.endswith(RECORD):
            try:
                with gzip.open(kept) as file:
                    yield from (line.removesuffix(b"\n") for line in file)
            except (EOFError, zlib.error) as error:
                raise OSError(0, f"it is damaged: {error}") from error

    def is_current(self, session: str, transcript: Path) -> bool:
        """Whether what is kept is of the transcript as it stands, or the transcript is gone."""
        try:
            written = transcript.stat().st_mtime_ns
        except OSError:
            return True
        kept = self.path(session)
        return kept is not None and kept.stat().st_mtime_ns == written

    def keep(self, session: str, transcript: Path, clean: Callable[[str], str]) -> bool:
        """Keep a transcript, each line through `clean`; False for one that is too large.

        Raises `OSError`; nothing half is left.
        """
        found = transcript.stat()
        if found.st_size > LARGEST:
            return False
        packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
        with opened(transcript, most=LARGEST) as lines:
            packed = [packer.compress(_cleaned(line, clean)) for line in lines]
        self._put(session, RECORD, b"".join([*packed, packer.flush()]), found)
        return True

    def keep_facts(self, session: str, transcript: Path, facts: str) -> None:
        """Keep what a record comes to, in the place of the record. Raises `OSError`."""
        self._put(session, FACTS, facts.encode("utf-8", "replace"), transcript.stat())

    def forget(self, session: str) -> None:
        """Remove what is kept of a session. Twice is the same as once."""
        for path in self._paths(session):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def sessions(self) -> list[str]:
        """Those of which something is kept."""
        names = (path.name for path in self._folder.glob("*") if not path.name.startswith("."))
        return sorted({name.partition(".")[0] for name in names})

    def _put(self, session: str, ending: str, data: bytes, of: os.stat_result) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.chmod(0o700)
        path = self._folder / f"{_checked(session)}{ending}"
        write_private(path, data)
        os.utime(path, ns=(of.st_atime_ns, of.st_mtime_ns))

    def _paths(self, session: str) -> Iterator[Path]:
        return (self._folder / f"{_checked(session)}{ending}" for ending in (RECORD, FACTS))


def _cleaned(line: bytes, clean: Callable[[str], str]) -> bytes:
    """Bytes that are no UTF-8 come through as they are."""
    return clean(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _checked(session: str) -> str:
    if not _SESSION.fullmatch(session):
        raise ValueError(f"{session!a} is not the id of a session")
    return session

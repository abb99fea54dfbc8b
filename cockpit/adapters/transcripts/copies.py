"""Keep compressed copies of ended sessions' transcripts, because CLIs delete their own files.

The copies have mode 0600 and contain no known secrets. They are a record of the chain; a CLI cannot
resume from them. For a transcript that is too large, the caller supplies the transcript's facts
instead.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.files.foreign_files import opened
from cockpit.adapters.files.private_file import write_private
from cockpit.core.ids import SESSION_PATTERN

LARGEST = 20_000_000
"""Maximum bytes of a transcript that is copied. The copy is about ten times smaller."""
RECORD, FACTS = ".jsonl.gz", ".facts.json"

_GZIP = zlib.MAX_WBITS | 16


class KeptRecords:
    """Copies of transcripts in one folder. All methods do blocking disk I/O."""

    def __init__(self, folder: Path) -> None:
        """Keep the copies in `folder`, which is created by the first write."""
        self._folder = folder

    def path(self, session: str) -> Path | None:
        """Return the path of a session's copy or facts; None if there is neither."""
        return next((path for path in self._paths(session) if path.is_file()), None)

    def lines(self, kept: Path) -> Iterator[bytes]:
        """Yield the lines of a copied transcript; none if only its facts were stored.

        Raises `OSError`, including for an incomplete file.
        """
        if kept.name.endswith(RECORD):
            try:
                with gzip.open(kept) as file:
                    yield from (line.removesuffix(b"\n") for line in file)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise OSError(0, f"the file is damaged: {error}") from error

    def is_current(self, session: str, transcript: Path) -> bool:
        """Return whether the copy or the facts are as new as the transcript.

        True if the transcript no longer exists.
        """
        try:
            written = transcript.stat().st_mtime_ns
        except OSError:
            return True
        kept = self.path(session)
        return kept is not None and kept.stat().st_mtime_ns == written

    def keep(self, session: str, transcript: Path, clean: Callable[[str], str]) -> bool:
        """Copy a transcript, passing each line through `clean`; return False if the transcript is
        too large.

        Raises `OSError`. Leaves no partial copy.
        """
        state = transcript.stat()
        if state.st_size > LARGEST:
            return False
        packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
        with opened(transcript, most=LARGEST) as lines:
            packed = [packer.compress(_cleaned(line, clean)) for line in lines]
        self._put(session, RECORD, b"".join([*packed, packer.flush()]), state)
        return True

    def keep_facts(self, session: str, transcript: Path, facts: str) -> None:
        """Store a transcript's facts instead of a copy. Raises `OSError`."""
        self._put(session, FACTS, facts.encode("utf-8", "replace"), transcript.stat())

    def forget(self, session: str) -> None:
        """Remove a session's copy or facts. Idempotent."""
        for path in self._paths(session):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def sessions(self) -> list[str]:
        """Return the sessions that have a copy or facts."""
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
    """Return the line after `clean`; bytes that are not UTF-8 stay as they are."""
    return clean(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _checked(session: str) -> str:
    if not SESSION_PATTERN.fullmatch(session):
        raise ValueError(f"{session!a} is not a session id")
    return session

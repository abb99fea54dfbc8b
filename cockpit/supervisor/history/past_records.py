"""Read transcripts of past sessions: the CLI's file, else cockpit's copy. Every call blocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cockpit.adapters.files.foreign_files import is_file, read_text
from cockpit.adapters.transcripts.copies import LARGEST as LARGEST_COPY
from cockpit.adapters.transcripts.copies import KeptRecords
from cockpit.adapters.transcripts.lines import Parse, parse_bounded
from cockpit.adapters.transcripts.scan import read_all
from cockpit.core.foreign_json import loads
from cockpit.core.session import SessionEvent, Skipped
from cockpit.ports.records import SessionRecord

LARGEST = 512 * 1024 * 1024
"""Maximum bytes of a transcript that is read on request. Reading that many takes about five
seconds."""
TRANSCRIPT, COPIED_FACTS = ".jsonl", ".json"
"""Suffixes of transcript files, and of files with facts that replace a large transcript."""


class PastRecords:
    """Finds and reads the transcript, copy or facts of a past session."""

    def __init__(self, state: Path) -> None:
        """`state` is the state folder."""
        self._kept = KeptRecords(state / "records")

    def path(self, session: SessionRecord) -> Path | None:
        """Return the path of the CLI's transcript, else of cockpit's copy or facts; else None."""
        transcript = Path(session.transcript) if session.transcript else None
        if transcript is not None and is_file(transcript):
            return transcript
        return self._kept.path(session.id)

    def read(
        self, record: Path, parse: Parse, feed: Callable[[SessionEvent | Skipped], None]
    ) -> None:
        """Pass every event to `feed`, in order; nothing if only facts exist. Raises `OSError`."""
        if record.suffix == TRANSCRIPT:
            read_all(record, parse, feed)
            return
        for line in self._kept.lines(record):
            parsed = parse_bounded(parse, line)
            for event in (parsed,) if isinstance(parsed, Skipped) else parsed:
                feed(event)

    def kept_facts(self, record: Path) -> dict[str, Any] | None:
        """Return the facts in the file `record`; None if the file is a transcript.

        Raises `OSError`, including for a damaged file.
        """
        if record.suffix != COPIED_FACTS:
            return None
        try:
            facts = loads(read_text(record, LARGEST_COPY))
        except ValueError as error:
            raise OSError(0, f"the file is damaged: {error}") from error
        return facts if isinstance(facts, dict) else None

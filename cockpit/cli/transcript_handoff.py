"""Provide the document from which `cockpit continue` starts an agent.

The document is the given file, or is made from a CLI's transcript.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cockpit.adapters.agents.transcript_formats import TranscriptFormat, format_of


@dataclass(frozen=True, slots=True)
class Source:
    """The document from which a new agent starts."""

    document: Path
    cli: str | None = None
    """The built-in runtime that wrote the transcript; None for a document."""


@contextmanager
def document_from(path: Path, *, here: bool, config: Path | None = None) -> Iterator[Source]:
    """Yield the document at `path`, or a temporary document with the facts of a transcript.

    The temporary file is private. It is removed afterwards, because the supervisor copies it into
    the new agent's directory. Files on another machine (`here` is False) are not read. Raises
    `Failed` if the transcript cannot be read.
    """
    form = _transcript_format(path) if here else None
    if form is None:
        yield Source(path)
        return
    from cockpit.cli.facts_document import configured_size, document_of

    with TemporaryDirectory(prefix="cockpit-") as folder:
        document = Path(folder) / "handoff.md"
        document.write_text(document_of(path, configured_size(config)), encoding="utf-8")
        yield Source(document, form.cli)


def _transcript_format(path: Path) -> TranscriptFormat | None:
    """Return the format of a transcript; None for any other file."""
    try:
        form = format_of(path) if path.stat().st_size > 0 else None
    except OSError:
        return None  # the supervisor reports the error
    return form if form is not None and form.recognised else None

"""The document from which `cockpit continue` starts an agent: a given one, or one made from a CLI's
transcript."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from cockpit.adapters.agents.transcript_formats import format_of


@contextmanager
def document_file(path: Path, *, here: bool, config: Path | None = None) -> Iterator[Path]:
    """Yield `path`, or a file with the document of its facts if it is a transcript.

    The file is private, and removed afterwards: the supervisor copies it into the directory of the
    new agent. Files on another machine (`here` is False) are not read. Raises `Failed`.
    """
    if not here or not _is_transcript(path):
        yield path
        return
    from cockpit.cli.facts_document import configured_size, document_of

    with TemporaryDirectory(prefix="cockpit-") as folder:
        document = Path(folder) / "handoff.md"
        document.write_text(document_of(path, configured_size(config)), encoding="utf-8")
        yield document


def _is_transcript(path: Path) -> bool:
    try:
        return path.stat().st_size > 0 and format_of(path).recognised
    except OSError:
        return False  # the supervisor reports what is wrong

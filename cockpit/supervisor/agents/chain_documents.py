"""Read the documents that led to a session: of its job, and of jobs that the job continues.

Skips handoffs that the chain does not continue from: refused, failed and undone ones.
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from cockpit.adapters.documents.checked_reads import read_own
from cockpit.adapters.documents.files import Documents
from cockpit.adapters.files.foreign_files import is_file
from cockpit.core import document
from cockpit.core.chain_memory import Place
from cockpit.core.document import Document
from cockpit.core.errors import CockpitError, OsProblem
from cockpit.core.ids import JobId
from cockpit.ports.records import HandoffRecord, SessionRecord
from cockpit.supervisor.agents.document_reads import read_document
from cockpit.supervisor.dependencies import Dependencies

MOST = 200
"""Maximum number of documents that are read from one chain; older ones are skipped. Newer documents
repeat the facts of older ones, except documents of old versions of cockpit."""

Left = tuple[Place, Document]


async def documents_before(dependencies: Dependencies, session: SessionRecord) -> list[Left]:
    """Return the readable documents of the sessions before this one, oldest first.

    Returns at most the newest `MOST`. Raises `OsProblem` if the file system does not answer.
    """
    earlier: list[Left] = []
    current: SessionRecord | None = session
    while current is not None and current.document and len(earlier) < MOST:
        record = _handoff_before(dependencies, current, current.document)
        text = await _text(dependencies, record, Path(current.document))
        before = dependencies.store.session(record.old_session) if record else None
        if text is not None:
            read = document.read(text)
            earlier.append((_place(session.job, record, before, read), read))
        current = before
    return earlier[::-1]


def _handoff_before(
    dependencies: Dependencies, session: SessionRecord, path: str
) -> HandoffRecord | None:
    """Return the handoff whose document started the session; None if unknown."""
    store = dependencies.store
    own = store.handoffs_of(session.job, session.previous) if session.previous else []
    followed = [handoff for handoff in own if handoff.new_session == session.id]
    handoffs = followed or store.handoffs_named(path)
    return next(
        (handoff for handoff in reversed(handoffs) if handoff.old_session != session.id), None
    )


async def _text(
    dependencies: Dependencies, record: HandoffRecord | None, path: Path | None
) -> str | None:
    """Return the text of a document, from cockpit's copy if there is one; None if unreadable."""
    documents = dependencies.documents
    if record is not None:
        text = await asyncio.to_thread(_copied, documents, record)
        if text is not None:
            return text
    if path is None:
        return None
    try:
        return await read_document(dependencies, path, partial(read_own, path))
    except OsProblem:
        raise
    except (CockpitError, OSError):
        return None


def _copied(documents: Documents, record: HandoffRecord) -> str | None:
    named = Path(record.copy) if record.copy else None
    for copy in (named, documents.copies.archived(record.id)):
        if copy is not None and is_file(copy):
            try:
                return read_own(copy)
            except CockpitError:
                continue
    return None


def _place(
    job: JobId, record: HandoffRecord | None, session: SessionRecord | None, read: Document
) -> Place:
    front = read.front
    number = session.number if session else front.number if front else 0
    if record is not None:
        return Place(number, "" if record.job == job else record.agent)
    other = front is not None and front.job != job
    return Place(number, front.agent if front is not None and other else "")

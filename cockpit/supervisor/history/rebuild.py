"""Rebuild the history from cockpit's copies of documents, after the database was lost.

Runs only while no job is stored, and in one transaction, so that an interrupted rebuild is
repeated. Unreadable files, and files that are not complete handoff documents, are ignored but not
deleted; an event lists the first 20.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.documents.checked_reads import read_own
from cockpit.adapters.documents.files import FOLDER, Documents
from cockpit.adapters.files.foreign_files import read_file
from cockpit.core import document
from cockpit.core.document import Document
from cockpit.core.errors import CockpitError
from cockpit.core.events import HistoryRebuilt
from cockpit.core.front_matter import FrontMatter
from cockpit.core.ids import NAME_PATTERN, SESSION_PATTERN
from cockpit.core.plurals import counted
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.document_chains import (
    RebuiltHistory,
    Source,
    rebuild_history,
    seconds,
)

MOST_NAMED = 20
"""Maximum number of ignored files that the event lists."""

_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


async def rebuild(dependencies: Dependencies, folders: Mapping[str, str]) -> None:
    """Store the history that the documents describe, if no job is stored. Raises `OsProblem`.

    `folders` maps each agent to the folder for its documents, relative to the agent's directory.
    """
    store = dependencies.store
    if store.jobs():
        return
    sources, ignored = await asyncio.to_thread(_read_copies, dependencies.documents, folders)
    history = await asyncio.to_thread(rebuild_history, sources, _last_write)
    with store.transaction():
        for job in history.jobs:
            store.add_job(job)
        for session in history.sessions:
            store.save_session(session)
        for handoff in history.handoffs:
            store.save_handoff(handoff)
        if sources or ignored:
            _record(dependencies, history, ignored)


def _record(dependencies: Dependencies, history: RebuiltHistory, ignored: list[str]) -> None:
    documents = counted(len(history.handoffs), "document")
    text = f"The history was empty: {counted(len(history.jobs), 'job')} rebuilt from {documents}"
    if ignored:
        text += f"; {counted(len(ignored), 'file')} ignored (unreadable or no handoff document)"
    dependencies.event_log.record(HistoryRebuilt(left_aside=tuple(ignored[:MOST_NAMED])), text)


def _read_copies(documents: Documents, own: Mapping[str, str]) -> tuple[list[Source], list[str]]:
    """Return every copy that is a complete handoff document, and the paths of the ignored files.

    Skips the copies that `cockpit continue` made: their file name is not the id in the front
    matter. Also skips the documents of sessions that cockpit did not start.
    """
    sources, ignored = [], []
    places: dict[Path, dict[str, Path]] = {}
    for copy in documents.copies.all():
        try:
            text = read_own(copy)
        except CockpitError:
            ignored.append(str(copy))
            continue
        left = document.read(text)
        if left.front is not None and left.front.id == copy.stem and _is_of_no_job(left.front):
            continue
        if left.front is None or not _is_complete(left.front):
            ignored.append(str(copy))
            continue
        if left.front.id != copy.stem:
            continue
        sha256 = hashlib.sha256(read_file(copy, document.LARGEST)).hexdigest()
        place = _in_worktree(documents, places, _folders(left.front, own), sha256)
        sources.append(_source(left, left.front, copy, place, sha256))
    return sources, ignored


def _is_of_no_job(front: FrontMatter) -> bool:
    """Return whether a document is about a session that cockpit did not start."""
    return not front.agent and not front.job


def _source(left: Document, front: FrontMatter, copy: Path, place: Path | None, sha: str) -> Source:
    return Source(front, left.goal, str(place or copy), str(copy), sha)


def _is_complete(front: FrontMatter) -> bool:
    """Return whether the document has every field that the database records need."""
    return (
        NAME_PATTERN.fullmatch(front.agent) is not None
        and front.number >= 1
        and seconds(front.created) is not None
        and all(_ID.fullmatch(ident or "") for ident in (front.id, front.job))
        and SESSION_PATTERN.fullmatch(front.old_session_id or "") is not None
        and SESSION_PATTERN.fullmatch(front.new_session_id or "x") is not None
    )


def _folders(front: FrontMatter, own: Mapping[str, str]) -> set[Path]:
    """Return the folders that may contain a document. Several, because the setting for the folder
    may have changed after the document was written."""
    folders = {Path(front.previous_document).parent} if front.previous_document else set()
    if front.worktree is not None:
        folders |= {Path(front.worktree) / name for name in (FOLDER, own.get(front.agent, FOLDER))}
    return folders


def _in_worktree(
    documents: Documents, places: dict[Path, dict[str, Path]], folders: set[Path], sha256: str
) -> Path | None:
    """Return the path of the document with this SHA-256 in one of the folders; None if no folder
    has the document. `places` caches the documents of each folder."""
    for folder in folders:
        if folder not in places:
            places[folder] = documents.by_hash(folder)
        if sha256 in places[folder]:
            return places[folder][sha256]
    return None


def _last_write(transcript: str) -> float | None:
    try:
        return Path(transcript).stat().st_mtime
    except OSError:
        return None

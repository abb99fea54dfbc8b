"""Taking the history up again from our copies of documents, after a database that was lost.

Done when no job at all is on record, in one transaction, before anything else is written down: a
start that is cut short does it again. What cannot be read is left where it is, and told.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from cockpit.adapters.documents.files import FOLDER, Documents
from cockpit.adapters.files.foreign_files import read_file
from cockpit.core import document
from cockpit.core.document import Document
from cockpit.core.errors import CockpitError
from cockpit.core.front_matter import FrontMatter
from cockpit.core.ids import NAME_PATTERN
from cockpit.core.plurals import counted
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.history.document_chains import Lineage, Paper, lineage, seconds

MOST_NAMED = 20
"""Papers that are named when they were left aside."""

_ID = re.compile(r"[A-Za-z0-9-]{1,64}")


async def rebuild(dependencies: Dependencies, folders: Mapping[str, str]) -> None:
    """Put on record what the documents tell, if nothing is. Raises `Hindered`.

    `folders` has each agent's own folder for documents, in its directory.
    """
    store = dependencies.store
    if store.jobs():
        return
    papers, odd = await asyncio.to_thread(_papers, dependencies.documents, folders)
    found = await asyncio.to_thread(lineage, papers, _last_sign)
    with store.transaction():
        for job in found.jobs:
            store.add_job(job)
        for session in found.sessions:
            store.save_session(session)
        for handoff in found.handoffs:
            store.save_handoff(handoff)
        if papers or odd:
            _tell(dependencies, found, odd)


def _tell(dependencies: Dependencies, found: Lineage, odd: list[str]) -> None:
    documents = counted(len(found.handoffs), "document")
    words = (
        f"No history was on record: {counted(len(found.jobs), 'job')} read back from {documents}"
    )
    if odd:
        words += f"; {counted(len(odd), 'paper')} left aside, being no document of a handoff"
    dependencies.event_log.record("history.rebuilt", words, None, left_aside=odd[:MOST_NAMED])


def _papers(documents: Documents, own: Mapping[str, str]) -> tuple[list[Paper], list[str]]:
    """Every copy that reads as the document of a handoff, and the paths of those that do not.

    A copy of another handoff's document is neither: a new agent was started from it.
    """
    papers, odd = [], []
    places: dict[Path, dict[str, Path]] = {}
    for copy in documents.copies.all():
        try:
            text = documents.read_own(copy)
        except CockpitError:
            odd.append(str(copy))
            continue
        left = document.read(text)
        if left.front is None or not _is_whole(left.front):
            odd.append(str(copy))
            continue
        if left.front.id != copy.stem:
            continue
        sha256 = hashlib.sha256(read_file(copy, document.LARGEST)).hexdigest()
        place = _in_worktree(documents, places, _folders(left.front, own), sha256)
        papers.append(_paper(left, left.front, copy, place, sha256))
    return papers, odd


def _paper(left: Document, front: FrontMatter, copy: Path, place: Path | None, sha: str) -> Paper:
    return Paper(front, left.goal, str(place or copy), str(copy), sha)


def _is_whole(front: FrontMatter) -> bool:
    """Whether it says all that a row needs."""
    return (
        NAME_PATTERN.fullmatch(front.agent) is not None
        and front.number >= 1
        and seconds(front.created) is not None
        and all(_ID.fullmatch(each or "") for each in (front.id, front.job, front.old_session_id))
        and _ID.fullmatch(front.new_session_id or "-") is not None
    )


def _folders(front: FrontMatter, own: Mapping[str, str]) -> set[Path]:
    """Where the document may lie: its folder may have had another name once."""
    found = {Path(front.previous_document).parent} if front.previous_document else set()
    if front.worktree is not None:
        found |= {Path(front.worktree) / name for name in (FOLDER, own.get(front.agent, FOLDER))}
    return found


def _in_worktree(
    documents: Documents, places: dict[Path, dict[str, Path]], folders: set[Path], sha256: str
) -> Path | None:
    """The same document where its agent worked, if it is there still."""
    for folder in folders:
        if folder not in places:
            places[folder] = documents.by_hash(folder)
        if sha256 in places[folder]:
            return places[folder][sha256]
    return None


def _last_sign(transcript: str) -> float | None:
    try:
        return Path(transcript).stat().st_mtime
    except OSError:
        return None

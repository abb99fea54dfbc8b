"""Protect the approved document: accept edits by the user, and revert edits by others.

Between the approval and the new session, any process can write in the worktree. So cockpit's copy
is the reference: a document that differs from the copy is restored. Approves nothing itself.
"""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import suppress
from functools import partial
from pathlib import Path

from cockpit.adapters.documents.checked_reads import read_chosen, read_own
from cockpit.core import document, front_matter
from cockpit.core.errors import BadUsage, Failed, NotNow
from cockpit.core.events import HandoffPutBack
from cockpit.core.handoff.states import Document
from cockpit.core.markdown import plain
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.document_reads import read_document
from cockpit.supervisor.agents.known_secrets import redactor_of
from cockpit.supervisor.agents.ownership import refuse_foreign_document
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.location import DIRECTORY_SECONDS


async def approved_text(dependencies: Dependencies, agent: Agent, sealed: Document) -> str:
    """Return the text of the approved document; if the file was changed, restore it first.

    Restores the file from cockpit's copy, which is newer than `sealed` if an update was
    interrupted. Raises `Failed` if the file was changed and the copy is missing, and the errors of
    `read_document`.
    """
    assert agent.handoff_record is not None
    path, documents = Path(sealed.path), dependencies.documents
    is_intact = partial(documents.is_intact, path, sealed.sha256)
    if not await read_document(dependencies, path, is_intact):
        if not await asyncio.to_thread(documents.copies.path(agent.handoff_record.id).is_file):
            raise _lost(sealed)
        await _put_back(dependencies, agent, path)
    return await read_document(dependencies, path, partial(read_chosen, path))


async def edited(
    dependencies: Dependencies, agent: Agent, sealed: Document, seen: str | None
) -> Document | None:
    """Check and seal the document with its changes on disk; return None if unchanged.

    `seen` is the SHA-256 of the text that the user has read. A file does not show who changed it,
    so only that text is accepted. Uses the front matter of cockpit's copy. Raises `NotNow` for a
    different text, and `BadUsage` with the problems of an incomplete text, without sealing.
    """
    assert agent.handoff_record is not None
    path, documents = Path(sealed.path), dependencies.documents
    read = await read_document(dependencies, path, partial(read_own, path))
    now = hashlib.sha256(read.encode("utf-8", "replace")).hexdigest()
    if now == sealed.sha256:
        return None
    if seen is None or seen.lower() != now:
        ident = agent.handoff_record.id[:8]
        raise NotNow(
            f"The handoff document of {agent.name} was changed after it was written",
            "The agent can change the document too, so read the change before you approve. "
            "Nothing was approved or ended.",
            f"Read the document: cockpit show {ident}. Then: cockpit approve {agent.name} "
            f"--sha256 {now}",
        )
    text = plain(read)
    problems = document.validate(text, complete=True)
    if problems:
        raise BadUsage(
            "The edited document is incomplete",
            "\n".join(problem.text for problem in problems),
            f"Fix {path} and approve again, or refuse.",
        )
    refuse_foreign_document(text, sealed.path, agent.name, agent.handoff_record.old_session)
    copy = documents.copies.path(agent.handoff_record.id)
    with suppress(BadUsage):  # a missing copy is recreated below
        text = _with_front_matter_of(await asyncio.to_thread(read_chosen, copy), text)
    redactor = redactor_of(dependencies.environment, agent)
    clean = await asyncio.to_thread(lambda: redactor.redact(text).text)
    saved = await asyncio.to_thread(documents.reseal, path, agent.handoff_record.id, clean)
    return Document(str(saved.path), saved.sha256, sealed.writer)


def _with_front_matter_of(ours: str, text: str) -> str:
    front, body = front_matter.load(ours)[0], front_matter.load(text)[1]
    return text if front is None else front_matter.dump(front) + body


async def ensure_approved(dependencies: Dependencies, agent: Agent, sealed: Document) -> None:
    """Make sure that the document on disk is the approved one; otherwise restore it.

    Recreates a changed or missing copy from the document. Keeps a changed document next to the
    restored one. Raises `Failed` if neither the document nor the copy is the approved version, and
    `OsProblem` on a disk error. Idempotent.
    """
    assert agent.handoff_record is not None
    documents, path = dependencies.documents, Path(sealed.path)
    copy = documents.copies.path(agent.handoff_record.id)
    is_copied = await asyncio.to_thread(documents.is_intact, copy, sealed.sha256)
    is_intact = partial(documents.is_intact, path, sealed.sha256)
    if await read_document(dependencies, path, is_intact):
        if not is_copied:
            ident = agent.handoff_record.id
            await asyncio.to_thread(documents.copy_again, path, ident, sealed.sha256)
        return
    if not is_copied:
        raise _lost(sealed)
    await _put_back(dependencies, agent, path)


def _lost(sealed: Document) -> Failed:
    return Failed(
        "The handoff document is not the approved one",
        f"{sealed.path} was changed or removed, and so was cockpit's copy.",
        "Nothing was ended. Start the handoff again.",
    )


async def _put_back(dependencies: Dependencies, agent: Agent, path: Path) -> None:
    """Restore the document from the copy, if it differs from the copy.

    Does nothing if the worktree or the copy is missing.
    """
    assert agent.handoff_record is not None
    documents, ident = dependencies.documents, agent.handoff_record.id
    directory = agent.directory
    is_there = await dependencies.slow.ask(directory, directory.is_dir, DIRECTORY_SECONDS)
    if not (is_there and documents.copies.path(ident).is_file()):
        return
    if await read_document(dependencies, path, partial(documents.is_copied, path, ident)):
        return
    aside = await asyncio.to_thread(documents.put_back, agent.directory, path, ident)
    what = f"was changed; the changed version was saved as {aside.name}" if aside else "was missing"
    dependencies.event_log.record(
        HandoffPutBack(document=str(path)),
        f"The handoff document of {agent.name} {what}. The approved version was restored",
        agent.name,
    )

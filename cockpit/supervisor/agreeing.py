"""The document that is agreed to: what the pilot changed in it is taken, what others change is not.

Between the agreement and the swap anybody can write in the worktree. So our own copy counts, and is
put back where the document is another one by then. Agrees to nothing itself.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from cockpit.core import document, front_matter
from cockpit.core.errors import BadUsage, Failed
from cockpit.core.handoff.states import Document
from cockpit.core.markdown import plain
from cockpit.supervisor.belonging import refuse_anothers
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.secrecy import redactor_of


async def agreed_text(instruments: Instruments, seat: Seat, sealed: Document) -> str:
    """The sealed document, to be renewed; our copy is put in its place where it was changed.

    The copy is the newer one also when a renewal was cut short. Raises as `Documents.read`.
    """
    path, documents = Path(sealed.path), instruments.documents
    if not await asyncio.to_thread(documents.is_intact, path, sealed.sha256):
        await _put_back(instruments, seat, path)
    return await asyncio.to_thread(documents.read, path)


async def edited(instruments: Instruments, seat: Seat, sealed: Document) -> Document | None:
    """The document as the pilot changed it on disk, checked and sealed; None if unchanged.

    Its front matter stays ours. Raises `BadUsage` with what is wrong; nothing is sealed then.
    """
    assert seat.handoff_record is not None
    path, documents = Path(sealed.path), instruments.documents
    text = plain(await asyncio.to_thread(documents.read_own, path))
    if await asyncio.to_thread(documents.is_intact, path, sealed.sha256):
        return None
    problems = document.validate(text, complete=True)
    if problems:
        raise BadUsage(
            "The edited document is not complete",
            "\n".join(each.text for each in problems),
            f"Mend {path} and approve again, or refuse.",
        )
    refuse_anothers(text, sealed.path, seat.name, seat.handoff_record.old_session)
    copy = documents.copies.path(seat.handoff_record.id)
    with suppress(BadUsage):  # a copy that is gone is made anew by what follows
        text = _with_front_of(await asyncio.to_thread(documents.read, copy), text)
    clean = redactor_of(instruments.environment, seat).redact(text).text
    saved = await asyncio.to_thread(documents.reseal, path, seat.handoff_record.id, clean)
    return Document(str(saved.path), saved.sha256, sealed.writer)


def _with_front_of(ours: str, text: str) -> str:
    front, body = front_matter.load(ours)[0], front_matter.load(text)[1]
    return text if front is None else front_matter.dump(front) + body


async def see_agreed(instruments: Instruments, seat: Seat, sealed: Document) -> None:
    """See that the document on disk is the one that was agreed; else put our copy there.

    Raises `Failed` where our copy is another one too, and `Hindered` for a disk that takes nothing.
    What was found in its place is kept beside it.
    """
    assert seat.handoff_record is not None
    documents, path = instruments.documents, Path(sealed.path)
    copy = documents.copies.path(seat.handoff_record.id)
    if await asyncio.to_thread(documents.is_intact, path, sealed.sha256):
        return
    if not await asyncio.to_thread(documents.is_intact, copy, sealed.sha256):
        raise Failed(
            "The handoff document is not the one that was agreed",
            f"{sealed.path} was changed or is gone, and so is our copy.",
            "Nothing was ended. Ask for the handoff again.",
        )
    await _put_back(instruments, seat, path)


async def _put_back(instruments: Instruments, seat: Seat, path: Path) -> None:
    """Nothing is done where worktree or copy are gone: what follows tells of that."""
    assert seat.handoff_record is not None
    documents, ident = instruments.documents, seat.handoff_record.id
    if not (seat.directory.is_dir() and documents.copies.path(ident).is_file()):
        return
    if await asyncio.to_thread(documents.is_copied, path, ident):
        return
    aside = await asyncio.to_thread(documents.put_back, seat.directory, path, ident)
    words = f"was changed; that is kept as {aside.name}" if aside else "was gone"
    instruments.feed.tell(
        "handoff.put_back",
        f"The handoff document of {seat.name} {words}. The one that was agreed is there again",
        seat.name,
        document=str(path),
    )

"""A new agent from a handoff document: whose, where, and with which words it begins.

Any document will do that an agent could have left, also one that was not made here. What it says
of itself is only a proposal: a directory is taken from it when it is there and nobody works in it.
The document is left where it is; one that lies elsewhere is copied to where the agent may read.
Neither the copy nor the first prompt holds a secret that is known or looks like one.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

from cockpit.core import document
from cockpit.core.document import Document
from cockpit.core.errors import BadUsage, CockpitError, NotNow
from cockpit.core.ids import AgentName, agent_name, suggested_name
from cockpit.core.markdown import plain
from cockpit.supervisor import starting
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.secrecy import redactor_of
from cockpit.supervisor.sessions import refuse_if_alive
from cockpit.supervisor.starting import Inheritance
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.verbs import Continue, Start

NAME_LENGTH = 32


async def continue_from(supervisor: Supervisor, asked: Continue) -> Seat:
    """Start an agent that takes up what the document left; its seat.

    Raises `BadUsage` for what is no handoff document or has no place to go on in, `NotNow` when
    somebody works there. Nothing is left behind of a start that was refused.
    """
    path = _place_of(supervisor, Path(asked.document))
    text = await asyncio.to_thread(supervisor.instruments.documents.read, path)
    if problems := [each.text for each in document.validate(text) if not each.mends]:
        raise BadUsage(f"{path} is not a handoff document", "\n".join(problems))
    left = document.read(text)
    if asked.config:
        supervisor.fleet.load(Path(asked.config), named=asked.named)
    directory = _directory(supervisor, asked, left)
    name = _name(supervisor, asked.name, left)
    known = supervisor.fleet.find(name)
    if known is not None:
        refuse_if_alive(known)
    ordered = Start(name=name, directory=str(directory))
    seat = starting.seat_for(supervisor, name, ordered, in_place=True)
    try:
        clean = redactor_of(supervisor.instruments.environment, seat).redact(plain(text)).text
        place = await _within_reach(supervisor, seat, path, clean)
        left = document.read(clean)
        inheritance = Inheritance(str(place), left.first_step)
        await starting.start(supervisor, seat, left.goal or "", inheritance=inheritance)
    except (CockpitError, OSError):
        if known is None:
            supervisor.fleet.forget(seat)
        raise
    return seat


def _place_of(supervisor: Supervisor, named: Path) -> Path:
    """The document where it lies; of one whose worktree is gone, our own copy, if that is kept."""
    if named.exists():
        return named
    records = supervisor.instruments.store.handoffs_named(str(named))
    copies = [Path(each.copy) for each in records if each.copy]
    return next((copy for copy in copies if copy.is_file()), named)


def _directory(supervisor: Supervisor, asked: Continue, left: Document) -> Path:
    """Where the pilot said; else where the document was left, if nobody works there now."""
    if asked.directory is not None:
        if not (said := Path(asked.directory)).is_dir():
            raise BadUsage(f"{said} is not a directory", "", "Name another one, or make it.")
        return said
    place = Path(left.front.worktree) if left.front and left.front.worktree else None
    if place is None or not place.is_absolute() or not place.is_dir():
        raise BadUsage(
            "Where is the new agent to work?",
            "The document names no directory."
            if place is None
            else f"The document's directory {place} is not there any more.",
            "Say it: --directory DIR",
        )
    for seat in supervisor.fleet:
        if seat.alive and seat.directory.resolve() == place.resolve():
            raise NotNow(
                f"{seat.name} works in {place}",
                "Two agents in one directory overwrite each other's work.",
                f"Stop it first (cockpit stop {seat.name}), or say --directory.",
            )
    return place


def _name(supervisor: Supervisor, wanted: str | None, left: Document) -> AgentName:
    """As the pilot said; else the name of the document's agent, with a number if it is taken."""
    if wanted is not None:
        return agent_name(wanted)
    stem = suggested_name(left.front.agent if left.front and left.front.agent else "continued")
    name, number = stem, 1
    while supervisor.fleet.find(name) is not None:
        number += 1
        ending = f"-{number}"
        name = stem[: NAME_LENGTH - len(ending)] + ending
    return agent_name(name)


async def _within_reach(supervisor: Supervisor, seat: Seat, path: Path, text: str) -> Path:
    """The document in the agent's own directory: elsewhere it might have to ask for leave."""
    folder = str(seat.settings.handoff.directory)
    if (inside := _inside(path, seat.directory)) is not None:
        return inside
    parts = supervisor.instruments
    await parts.worktrees.keep_out(seat.directory, f"/{Path(folder).parts[0]}/")
    sealed = await asyncio.to_thread(
        parts.documents.seal, seat.directory, str(uuid4()), text, parts.clock.now(), folder
    )
    return sealed.path


def _inside(path: Path, directory: Path) -> Path | None:
    """The real path of a file that lies in the directory, links followed; None for others."""
    real = path.resolve()
    return real if real.is_relative_to(directory.resolve()) else None

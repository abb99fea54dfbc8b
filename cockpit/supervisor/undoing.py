"""Undoing a swap: the session that sits is ended, and the one before it is reopened in its place.

The intent stands in the session's own row (`undoing`) before anything is ended, and every step may
be done twice, so a supervisor that comes back finishes what another one began. Chains are never
rewritten: the session that was undone keeps its place in them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cockpit.core.errors import CockpitError, Failed, NotNow
from cockpit.core.permission import successors_mode
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.guards import UNDONE
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.supervisor import Supervisor

UNDOING = "undoing"
"""State of a session that is to give way to the one before it."""


async def undo(supervisor: Supervisor, seat: Seat) -> SessionRecord:
    """End the seat's session and reopen the one before it; the reopened session.

    Raises `NotNow` with the reason, and then nothing was ended.
    """
    async with supervisor.engine.alone(seat):
        session = seat.session
        before = previous(supervisor, seat)
        assert session is not None
        order = supervisor.sessions.order(seat, _reopened(supervisor, seat, before), None)
        await supervisor.sessions.prepare(seat, replace(order, resume=True))
        supervisor.sessions.keep(seat)
        seat.session = replace(seat.session or session, state=UNDOING)
        supervisor.instruments.store.save_session(seat.session)
        return await _swap_back(supervisor, seat, seat.session, before)


async def finish_undos(supervisor: Supervisor) -> None:
    """Finish what an earlier supervisor was undoing when it was killed; a reason, where it fails.

    Where the session before lives already, only the rest is written down.
    """
    for seat in supervisor.fleet:
        undone = next((each for each in seat.chain if each.state == UNDOING), None)
        if undone is None or not seat.record.wanted:
            continue
        before = supervisor.instruments.store.session(undone.previous or "")
        try:
            if before is not None and seat.record.session == before.id and seat.alive:
                _note_done(supervisor, seat, undone, before)
            elif before is not None:
                await _swap_back(supervisor, seat, undone, before)
        except (CockpitError, OSError) as refused:
            words = f"the undo could not be finished: {_words(refused)}"
            supervisor.instruments.store.save_seat(seat.change(gave_up=words))
        supervisor.board.changed(seat)


def previous(supervisor: Supervisor, seat: Seat) -> SessionRecord:
    """The session that can be gone back to. Raises `NotNow`."""
    session = seat.session
    if session is None or session.previous is None:
        raise NotNow(
            f"{seat.name} has no session before this one",
            "Only a session that followed another one can be undone.",
        )
    before = supervisor.instruments.store.session(session.previous)
    if before is None or not before.transcript or not Path(before.transcript).is_file():
        raise NotNow(
            f"The session before this one of {seat.name} cannot be reopened",
            "Its record is gone; the CLI removes old ones by itself.",
            f"Its handoff document is still there: cockpit history {seat.name}",
        )
    return before


def _reopened(supervisor: Supervisor, seat: Seat, before: SessionRecord) -> SessionRecord:
    """The session as it will be: a new marker, and no wider a mode than was last seen.

    What the pilot chose in either of the two sessions counts, where it is the narrower one.
    """
    _, run = supervisor.sessions.mint(seat)
    mode = before.permission_mode or seat.settings.permission_mode
    for handoff in supervisor.instruments.store.handoffs(before.job):
        if handoff.old_session == before.id:
            mode = successors_mode(mode, handoff.details.get("permission_mode"))
    mode = successors_mode(mode, seat.sitting.permission_mode)
    return replace(before, run=run, state="live", permission_mode=mode, ended=None)


async def _swap_back(
    supervisor: Supervisor, seat: Seat, undone: SessionRecord, before: SessionRecord
) -> SessionRecord:
    """End whoever sits there and open the session before; all of it may be done twice."""
    reopened = _reopened(supervisor, seat, before)
    ending = await supervisor.sessions.end(seat)
    if not ending.gone:
        _give_up(supervisor, seat, undone, "live")
        survivors = ", ".join(str(pid) for pid in ending.survivors)
        raise Failed(
            f"The session of {seat.name} cannot be ended", f"Processes {survivors} survive KILL."
        )
    _guard(supervisor, reopened)
    try:
        await supervisor.sessions.open(seat, reopened, None, resume=True)
    except (CockpitError, OSError) as refused:
        _give_up(supervisor, seat, undone, "ended")
        words = (
            f"session {before.number} could not be reopened ({_words(refused)}); "
            f"the one after it has ended. Try again: cockpit undo {seat.name}"
        )
        supervisor.instruments.store.save_seat(seat.change(gave_up=words))
        raise
    _note_done(supervisor, seat, undone, reopened)
    return reopened


def _words(refused: CockpitError | OSError) -> str:
    return refused.title if isinstance(refused, CockpitError) else str(refused)


def _guard(supervisor: Supervisor, reopened: SessionRecord) -> None:
    """The pilot wanted this session: it is not swapped again at once, and then only asked about."""
    store, now = supervisor.instruments.store, supervisor.instruments.clock.now().timestamp()
    with store.transaction():
        store.unlatch(reopened.id, UNDONE)
        store.latch(reopened.id, UNDONE, now)


def _give_up(supervisor: Supervisor, seat: Seat, undone: SessionRecord, state: str) -> None:
    left = replace(undone, state=state)
    supervisor.instruments.store.save_session(left)
    if seat.record.session == left.id:
        seat.session = left
    supervisor.board.changed(seat)


def _note_done(
    supervisor: Supervisor, seat: Seat, undone: SessionRecord, before: SessionRecord
) -> None:
    now = supervisor.instruments.clock.now().timestamp()
    store = supervisor.instruments.store
    store.save_session(replace(undone, state="undone", ended=now))
    seat.chain = store.chain(before.job)
    supervisor.instruments.store.save_seat(
        seat.change(note=f"back in session {before.number}: session {undone.number} was undone")
    )
    supervisor.feed.tell(
        "handoff.undone",
        f"{seat.name} is back in session {before.number}; session {undone.number} is kept",
        seat.name,
        old_session=undone.id,
        new_session=before.id,
    )

"""Taking up a living agent that no record names any more, as after a database that was lost.

The process tells by itself what is needed: the marker in its environment, where it works, and,
by its CLI's own note, which session it sits in. What the database alone knew is gone, and is said
to be. Ends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from cockpit.config.project import repository_root
from cockpit.core.errors import BadUsage, CockpitError
from cockpit.core.handoff.states import Outcome
from cockpit.core.ids import SessionId, agent_name
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.ports.panes import Pane
from cockpit.ports.processes import Origin
from cockpit.ports.records import SessionRecord
from cockpit.supervisor.fleet import Fleet
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.sessions import Sessions


def seat_unknown(instruments: Instruments, fleet: Fleet, panes: Iterable[Pane]) -> list[Seat]:
    """A seat for each living agent of ours that neither the record nor a file names.

    Its settings went with the record, so it is only observed. Who cannot be seated is told of.
    """
    seats = []
    for pane in panes:
        origin = (
            None if pane.dead or fleet.find(pane.label) else instruments.processes.origin(pane.pid)
        )
        if origin is None:
            continue
        try:
            if not origin.marker.startswith(f"{agent_name(pane.label)}-"):
                raise BadUsage("Its marker is another agent's", "", "")
            seats.append(_observed(fleet, pane.label, origin))
        except CockpitError as refused:
            _tell_unowned(instruments, pane, origin, refused)
    return seats


def _observed(fleet: Fleet, name: str, origin: Origin) -> Seat:
    assert fleet.loaded is not None
    said = {"mode": "observe", "worktree": {"strategy": "none"}}
    return fleet.take_up(fleet.loaded.new_agent(name, origin.directory, **said), None)


def _tell_unowned(
    instruments: Instruments, pane: Pane, origin: Origin, refused: CockpitError
) -> None:
    instruments.feed.tell(
        "agent.unowned",
        f"Process {pane.pid} of cockpit's lives in {safe_line(str(origin.directory), 200)} and is "
        f"in no list ({safe_line(refused.title, 200)}). Look at it, and end it: kill {pane.pid}",
        pid=pane.pid,
    )


def say_unknown(instruments: Instruments, seat: Seat) -> None:
    """Leave word on the row of what its settings were lost for, with the next step."""
    again = f" --resume {seat.record.session}" if seat.record.session else ""
    words = (
        "it was found alive without its settings, so it is only observed. To go on: "
        f"cockpit stop {seat.name}, then cockpit start {seat.name} --mode prompt{again}"
    )
    instruments.store.save_seat(seat.change(note=words))


def regain(instruments: Instruments, sessions: Sessions, seat: Seat, panes: Iterable[Pane]) -> bool:
    """Seat the process that lives in the pane of this name, if nobody is on record; False if none.

    Its chain is the one that its documents told of; else its job begins anew on record, with a
    prompt that is not known.
    """
    pane = next((pane for pane in panes if pane.label == seat.name and not pane.dead), None)
    if seat.record.session is not None or pane is None:
        return False
    origin = instruments.processes.origin(pane.pid)
    if origin is None or not origin.marker.startswith(f"{seat.name}-"):
        return False
    presence = seat.runtime.presence(pane.pid, sessions.environment(seat))
    session = presence.session_id if presence is not None else None
    known = _write_down(instruments, sessions, seat, origin, session)
    sessions.seated(seat, pane)
    before = (
        f"its documents tell of {counted(len(seat.chain), 'session')} of its job"
        if known
        else "what it did before is not known here"
    )
    instruments.feed.tell(
        "agent.regained",
        f"{seat.name} was found alive without a record of it; {before}",
        seat.name,
        session=session,
        pid=pane.pid,
    )
    return True


def _write_down(
    instruments: Instruments,
    sessions: Sessions,
    seat: Seat,
    origin: Origin,
    session: SessionId | None,
) -> bool:
    """Whether the session was on record, by its documents."""
    elsewhere = str(origin.directory) != seat.record.directory
    # An agent of a sub-folder works in that of its worktree.
    top = repository_root(origin.directory) or origin.directory
    seat.change(run=origin.marker, wanted=True, worktree=str(top) if elsewhere else None)
    known = instruments.store.session(session) if session else None
    if known is not None:
        again = replace(known, run=origin.marker, state="live", ended=None)
        transcript = seat.runtime.transcript(sessions.order(seat, again, None))
        _take_over(instruments, sessions, seat, again, transcript)
        return True
    job = sessions.new_job(seat, None, None)
    minted, _ = sessions.mint(seat)
    record = SessionRecord(
        # Without the CLI's word the session has no name that could be resumed.
        id=session or minted,
        agent=seat.name,
        job=job.id,
        number=1,
        previous=None,
        run=origin.marker,
        created=instruments.clock.now().timestamp(),
        permission_mode=seat.settings.permission_mode,
    )
    transcript = seat.runtime.transcript(sessions.order(seat, record, None))
    _take_over(instruments, sessions, seat, record, transcript if session else None)
    return False


def _take_over(
    instruments: Instruments,
    sessions: Sessions,
    seat: Seat,
    session: SessionRecord,
    transcript: Path | None,
) -> None:
    """Put a session on record for a process that lives already."""
    session = replace(session, transcript=str(transcript) if transcript else None)
    with instruments.store.transaction():
        instruments.store.save_session(session)
        instruments.store.save_seat(seat.change(job=session.job, session=session.id))
    seat.job, seat.session = instruments.store.job(session.job), session
    seat.chain = instruments.store.chain(session.job)
    seat.handoffs = sum(
        each.outcome == Outcome.DONE.value for each in instruments.store.handoffs(session.job)
    )
    seat.begin_sitting(sessions.tail(seat, transcript))

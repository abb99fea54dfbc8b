"""Finding the process again that a seat's record names.

The marker in its environment is the proof, not its pid. Starts and ends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cockpit.ports.panes import Pane
from cockpit.ports.processes import ProcessId
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.sessions import Sessions

LAUNCHES, LAUNCH_LOOK = 30, 0.05
"""How often, and how many seconds apart, a launcher is looked at until it is the agent."""


async def find(
    instruments: Instruments, sessions: Sessions, seat: Seat, panes: Mapping[str, Pane]
) -> bool:
    """After a restart: take up the living process that the record names; True if it lives."""
    record = seat.record
    if record.session is None or record.run is None:
        return False
    pane = panes.get(record.pane or "") or _labelled(panes, seat.name)
    kept = seat.session.transcript if seat.session else None
    seat.begin_sitting(sessions.tail(seat, Path(kept) if kept else None))
    if pane is not None and await _is_sitter(instruments, seat, pane):
        sessions.seated(seat, pane)
        return True
    if (left := _without_terminal(instruments, seat)) is not None:
        seat.process = left
        seat.change(pane=None)
        sessions.watch_end(seat, left)
        return True
    if pane is not None:
        seat.change(pane=pane.id)
    elif record.pane is not None:
        seat.change(pane=None)
    seat.process = None
    return False


def _without_terminal(instruments: Instruments, seat: Seat) -> ProcessId | None:
    """The recorded process, if it outlived its pane: it is deaf to the end of a terminal."""
    record = seat.record
    if record.run is None or record.pid is None or record.started is None or record.boot is None:
        return None
    process = ProcessId(record.pid, record.started, record.boot)
    return process if process in instruments.processes.marked(record.run) else None


async def adopt(instruments: Instruments, sessions: Sessions, seat: Seat) -> bool:
    """Whether the process that the record names lives here; it sits then.

    For a start that was done and never written down: another one would be a second agent.
    """
    if seat.alive and seat.process is not None and seat.record.pid == seat.process.pid:
        return True
    panes = {str(key): pane for key, pane in (await instruments.panes.look()).items()}
    pane = panes.get(seat.record.pane or "") or _labelled(panes, seat.name)
    if pane is None or not await _is_sitter(instruments, seat, pane):
        return False
    sessions.seated(seat, pane)
    return True


async def _is_sitter(instruments: Instruments, seat: Seat, pane: Pane) -> bool:
    """Whether the pane's process carries the seat's marker, or is about to.

    A launcher carries it only once it has become the agent, so it is given a moment.
    """
    assert seat.record.run is not None
    if pane.dead:
        return False
    process = instruments.processes.identify(pane.pid)
    for _ in range(LAUNCHES if seat.record.pid is None else 1):
        if any(one.pid == pane.pid for one in instruments.processes.marked(seat.record.run)):
            return True
        if process is None or not instruments.processes.alive(process):
            return False
        await instruments.clock.sleep(LAUNCH_LOOK)
    return False


def _labelled(panes: Mapping[str, Pane], label: str) -> Pane | None:
    found = [pane for pane in panes.values() if pane.label == label]
    return found[0] if len(found) == 1 else None

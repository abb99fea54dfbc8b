"""What is worth a word beside an agent's state, where the state alone does not say why.

Pure: looks at a seat, changes nothing.
"""

from __future__ import annotations

from cockpit.core.safetext import safe_line
from cockpit.supervisor.seat import Seat

UNREAD_AFTER_TURNS = 3
"""Turns after which a successor that has not read its document says so on its row."""


def note(seat: Seat) -> str | None:
    """Why the agent is in its state, where the state alone does not say."""
    if seat.handoff and seat.stall:
        return safe_line(f"the handoff waits: {seat.stall.why}", 300)
    if seat.preparing or seat.lost:
        return safe_line(seat.preparing or seat.lost or "", 400)
    if seat.trouble:
        return safe_line(seat.trouble, 300)
    if seat.exit is not None and seat.record.wanted:
        again = f"Go on in its session: cockpit start {seat.name} --resume {seat.record.session}"
        told = f"{seat.exit}. {seat.exit.words} {seat.record.note or ''}"
        words = " ".join(told.split())
        return safe_line(f"{words} {again}" if seat.sitting.replied else words, 400)
    if unread(seat):
        return "this session has not read its handoff document yet"
    return "; ".join(_asides(seat)) or None


def _asides(seat: Seat) -> list[str]:
    """What is worth knowing beside an agent's state, the most lasting first."""
    late = seat.sitting.too_late
    words = f"it compacted by itself, {late}: a handoff would have been too late" if late else None
    told = (
        _no_record(seat),
        _no_terminal(seat),
        seat.record.note,
        warning(seat),
        seat.waits,
        words,
    )
    return [safe_line(each, 300) for each in told if each]


def warning(seat: Seat) -> str | None:
    """The hooks that failed last, and have not gone well since."""
    return safe_line("; ".join(list(seat.hooks_failed.values())[-2:]), 300) or None


def _no_record(seat: Seat) -> str | None:
    """A process was found again whose record says nothing, and nobody heard of it since."""
    sitting = seat.sitting
    unheard = sitting.began_at is None and not sitting.replied and sitting.conduct.prompts == 0
    if not (seat.alive and unheard and seat.runtime.has_readings):
        return None
    return "it was found again without a record: what it did before is not known"


def _no_terminal(seat: Seat) -> str | None:
    if not seat.alive or seat.record.pane is not None:
        return None
    return (
        "its terminal is gone and it works on without one. Go on in its session: "
        f"cockpit stop {seat.name}, then cockpit start {seat.name} --resume {seat.record.session}"
    )


def unread(seat: Seat) -> bool:
    """A successor that went on for some turns without looking at its document."""
    document = seat.must_read
    if document is None or seat.sitting.conduct.turns < UNREAD_AFTER_TURNS:
        return False
    return not seat.has_read(document)

"""The pilot's answers to the question of a handoff: yes, no, later.

An answer is for what the pilot saw, and for nothing that came after it. Each answers `Done`, or
raises `NotNow` and has changed nothing.
"""

from __future__ import annotations

import asyncio
import hashlib

from cockpit.core.errors import NotNow
from cockpit.core.handoff.events import Approved, Declined, Snoozed
from cockpit.core.handoff.states import PHASES, Asked, Confirming, Reviewing, is_revocable
from cockpit.supervisor import history
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.supervisor import Supervisor
from cockpit.wire.verbs import Approve, Done, Refuse, Snooze


async def approve(supervisor: Supervisor, asked: Approve) -> Done:
    """Yes to the question that stands."""
    seat = _questioned(supervisor, asked.name, asked.handoff)
    assert seat.handoff is not None
    first = isinstance(seat.handoff.state, Asked)
    if asked.sha256 is not None and not first:
        await asyncio.to_thread(_same_document, supervisor, seat, asked.sha256)
    await supervisor.engine.take_edit(seat)
    now = supervisor.instruments.clock.monotonic()
    await supervisor.engine.tell(seat, Approved(now, straight=asked.straight))
    await supervisor.engine.look(seat)
    words = "the agent is asked for the document" if first else "the swap begins"
    return Done(message=f"Approved: {words} ({seat.name})", name=seat.name)


async def refuse(supervisor: Supervisor, asked: Refuse) -> Done:
    """No to the question that stands, or to a handoff that has ended nothing yet."""
    seat = supervisor.fleet.seat(asked.name)
    if seat.handoff is not None and isinstance(seat.handoff.state, Confirming):
        return await give_up(supervisor, seat)
    if seat.handoff is None or not is_revocable(seat.handoff):
        raise _no_question(seat)
    _same_handoff(seat, asked.handoff)
    if asked.compact:
        supervisor.triggers.let_compact(seat)
    await supervisor.engine.tell(seat, Declined())
    if not seat.alive:
        again = f"cockpit start {seat.name} --resume {seat.record.session}"
        words = f"Refused: {seat.name} is not running. Go on in its session: {again}"
        return Done(message=words, name=seat.name)
    words = "; not asked again before it has compacted" if asked.compact else ""
    return Done(message=f"Refused: {seat.name} goes on as it is{words}", name=seat.name)


async def give_up(supervisor: Supervisor, seat: Seat) -> Done:
    """A new session that has not answered yet is ended, and the old one comes back."""
    await supervisor.engine.tell(seat, Declined())
    supervisor.board.changed(seat)
    return Done(message=f"{seat.name}: the old session is reopened", name=seat.name)


async def snooze(supervisor: Supervisor, asked: Snooze) -> Done:
    """Ask again later."""
    seat = _questioned(supervisor, asked.name, asked.handoff)
    if asked.percent is not None:
        tokens = _later_by(seat, asked.percent)
        await supervisor.engine.tell(seat, Snoozed(None, tokens))
        words = f"at {tokens // 1000}k tokens"
    else:
        until = supervisor.instruments.clock.monotonic() + asked.seconds
        await supervisor.engine.tell(seat, Snoozed(until))
        words = f"in {asked.seconds / 60:.0f} min"
    supervisor.board.changed(seat)
    return Done(message=f"Asked again {words} ({seat.name})", name=seat.name)


def _later_by(seat: Seat, percent: float) -> int:
    """The tokens at which so much more of the window is used. Raises `NotNow`."""
    reading = seat.sitting.gauge.reading
    if reading.tokens is None or not reading.window:
        raise NotNow(
            f"It is not known how full the context of {seat.name} is",
            "So it cannot be said when more of it is used.",
            f"Say a time instead: cockpit snooze {seat.name} 10m",
        )
    return reading.tokens + int(reading.window * percent / 100)


def _questioned(supervisor: Supervisor, name: str, handoff: str | None) -> Seat:
    """The seat whose handoff has a question standing. Raises `NotNow`."""
    seat = supervisor.fleet.seat(name)
    if seat.handoff is None or not isinstance(seat.handoff.state, Asked | Reviewing):
        raise _no_question(seat)
    _same_handoff(seat, handoff)
    return seat


def _no_question(seat: Seat) -> NotNow:
    if seat.handoff is None:
        detail = "No handoff is under way."
    else:
        detail = f"Its handoff is in the phase {PHASES.get(type(seat.handoff.state), 'ended')}."
    return NotNow(f"{seat.name} asks nothing", detail, f"Begin one: cockpit handoff {seat.name}")


def _same_handoff(seat: Seat, seen: str | None) -> None:
    """An answer is only for the question that the pilot saw."""
    if seen is not None and seat.handoff_record is not None and seat.handoff_record.id != seen:
        raise NotNow(
            f"{seat.name} asks something else by now",
            "The handoff that you answered is over.",
            "Look again, then answer.",
        )


def _same_document(supervisor: Supervisor, seat: Seat, seen: str) -> None:
    """A yes is only for the document that the pilot read, edits of the pilot's own included."""
    assert seat.handoff_record is not None
    text = history.document(supervisor, seat.handoff_record.id)
    if hashlib.sha256(text.encode()).hexdigest() != seen.lower():
        raise NotNow(
            f"The handoff document of {seat.name} has changed since it was shown",
            "Nothing was agreed to, and nothing was ended.",
            f"Read it as it is now, then answer: cockpit show {seat.handoff_record.id[:8]}",
        )

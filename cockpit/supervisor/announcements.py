"""What is told of a handoff: its beginning, its phases, its end. Changes nothing."""

from __future__ import annotations

from cockpit.core.handoff.states import (
    PHASES,
    Asked,
    Confirming,
    Documenting,
    Ended,
    Handoff,
    Outcome,
    Plan,
    Reviewing,
    Reviving,
    Settling,
    Starting,
    Stopping,
    Waiting,
)
from cockpit.supervisor.feed import Feed
from cockpit.supervisor.seat import Seat

PHASE_WORDS: dict[type, str] = {
    Asked: "the handoff waits for your word",
    Waiting: "the handoff waits for a moment to ask the agent",
    Documenting: "the handoff document is being written",
    Reviewing: "the handoff document waits for your review",
    Settling: "the document is agreed; the agent finishes its turn",
    Stopping: "the old session is being ended",
    Starting: "the new session is being started",
    Confirming: "the new session runs; waiting for its first reply",
    Reviving: "no new session would start; the old one is being reopened",
}
"""What an event says of each phase."""


def begun(feed: Feed, seat: Seat, plan: Plan, why: str) -> None:
    """A handoff began; `why` in words, empty for the plan's own reason."""
    gauge = seat.sitting.gauge
    words = "asked for" if plan.reason in {"manual", "agent"} else "due"
    feed.tell(
        "handoff.begun",
        f"A handoff of {seat.name} is {words} ({why or plan.reason})",
        seat.name,
        tokens=gauge.tokens,
        window=gauge.window.tokens,
        reason=plan.reason,
    )


def changed(feed: Feed, seat: Seat, before: Handoff, after: Handoff) -> None:
    """It came to another phase; nothing is told of steps within one."""
    old, new = PHASES.get(type(before.state)), PHASES.get(type(after.state))
    if new is not None and old != new:
        text = f"{seat.name}: {PHASE_WORDS[type(after.state)]}"
        feed.tell(f"handoff.{new}", text, seat.name, phase=new)


def ended(feed: Feed, seat: Seat, end: Ended) -> None:
    """It is over; to be told while the seat still holds the handoff's record."""
    done = end.outcome is Outcome.DONE
    record = seat.handoff_record
    feed.tell(
        f"handoff.{'confirmed' if done else end.outcome.value}",
        _outcome(seat, end),
        seat.name,
        why=end.why,
        handoff=record.id if record else None,
        old_session=record.old_session if record else None,
        new_session=record.new_session if record else None,
        number=seat.handoffs,
        document=end.document.path if end.document else None,
    )


def _outcome(seat: Seat, end: Ended) -> str:
    match end.outcome:
        case Outcome.DONE:
            return f"{seat.name} goes on in session {seat.session.number if seat.session else '?'}"
        case Outcome.FAILED:
            return f"The handoff of {seat.name} failed: {end.why}"
        case Outcome.REVIVED:
            return f"No new session of {seat.name} would start, the old one is back: {end.why}"
        case _:
            return f"The handoff of {seat.name} was {end.outcome.value}: {end.why}"

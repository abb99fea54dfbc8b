"""What the pilot has to do for an agent, and why: the most pressing only.

Pure: looks at a seat and a time, changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import Asked, Reviewing
from cockpit.core.moments import DialogOpened, TurnBroken
from cockpit.core.safetext import safe_line, safe_text
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.feed import rfc3339
from cockpit.supervisor.seat import Seat
from cockpit.wire.status import NeedKind, Needs

LONGEST_COMMAND = 2000
"""Characters that are shown of what a tool asks leave for."""
_REFUSED = frozenset({"authentication_failed", "model_not_found"})
"""Answers of the API that no new prompt mends."""


def need(seat: Seat, monotonic: float) -> Needs | None:
    """What the pilot has to do, if anything; the most pressing only."""
    if seat.handoff_failed:
        return Needs(kind="failed", detail=safe_line(seat.handoff_failed, 400))
    if seat.handoff and seat.stall and seat.stall.is_told(monotonic):
        words = f"the handoff cannot go on: {seat.stall.why}. It is tried again by itself"
        return Needs(kind="failed", detail=safe_line(words, 400))
    conduct = seat.sitting.conduct
    if seat.alive and seat.trust_asked:
        began = seat.session.created if seat.session else None
        return Needs(kind="trust", detail=seat.trust_asked, since=_time(began))
    if seat.alive and conduct.turn is Turn.DIALOG and conduct.dialog:
        return _dialog(conduct.dialog, heard_at(seat, conduct.since))
    asked = _question(seat, monotonic)
    if asked:
        return asked
    if seat.gave_up:
        ended = _time(seat.exit.at if seat.exit else None)
        return Needs(kind="failed", detail=safe_line(seat.gave_up, 400), since=ended)
    if (limit := usage_limited(seat)) is not None:
        return Needs(
            kind="usage_limit",
            detail=safe_line(limit.words, 300),
            since=heard_at(seat, conduct.since),
            resets_at=_time(limit.resets),
        )
    # A handoff that is under way has a deadline, and goes on without the agent's turn.
    over = conduct.turn is not Turn.WORKING and seat.handoff is None
    if conduct.broken and (over or conduct.broken.error in _REFUSED):
        words = _broken(conduct.broken)
        return Needs(kind="failed", detail=words, since=heard_at(seat, conduct.since))
    return None


def _broken(broken: TurnBroken) -> str:
    """What the API answered in place of the work, and what comes next."""
    if broken.error in _REFUSED:
        return f"the API refused: {broken.error}"
    why = safe_line(broken.detail or broken.error, 200).rstrip(".")
    return f"the API failed: {why}. Its turn is broken off; send it a prompt to go on"


def _dialog(dialog: DialogOpened, since: str | None) -> Needs:
    return Needs(
        kind=dialog.kind,
        detail=safe_line(dialog.detail, 300),
        since=since,
        tool=safe_line(dialog.tool, 60) or None,
        command=safe_text(dialog.command, LONGEST_COMMAND) or None,
    )


def heard_at(seat: Seat, at: float | None) -> str | None:
    """What a witness dated, as the wall clock has it."""
    return rfc3339(at - seat.ahead) if at else None


def _time(at: float | None) -> str | None:
    return rfc3339(at) if at else None


def _question(seat: Seat, monotonic: float) -> Needs | None:
    if seat.handoff is None:
        return None
    match seat.handoff.state:
        case Asked(snoozed_until=until, snoozed_tokens=None) if until is None or until <= monotonic:
            return _hand_off(seat)
        case Reviewing(snoozed_until=until, snoozed_tokens=None) if (
            until is None or until <= monotonic
        ):
            words = "the handoff document waits for your approval"
            return Needs(kind="review", detail=words, since=_asked_since(seat))
        case _:
            return None


def _hand_off(seat: Seat) -> Needs:
    """The question; for an automatic agent with what stopped it from going by itself."""
    details = seat.handoff_record.details if seat.handoff_record else {}
    due, because = _due(seat, details.get("due")), details.get("because")
    since = _asked_since(seat)
    if not because:
        return Needs(kind="handoff", detail=safe_line(f"hand off? {due}", 400), since=since)
    detail = safe_line(f"hand off? {due}; asked because {because['words']}", 400)
    kind: NeedKind = "breaker" if because["kind"] == "breaker" else "handoff"
    return Needs(kind=kind, detail=detail, since=since)


def _due(seat: Seat, words: str | None) -> str:
    """Why a handoff is due: what the context holds, unless it is for something else."""
    reason = seat.handoff.plan.reason if seat.handoff else "threshold"
    if reason == "limit":
        return f"its session is at its limit ({words})" if words else "its session is at its limit"
    if reason == "loop" and words:
        return words
    used = seat.sitting.gauge.reading.used
    return f"{used:.0%} of the context is used" if used is not None else "the context fills"


def phase_since(record: HandoffRecord) -> str:
    """When the handoff came into its phase."""
    return record.details.get("phase_since") or rfc3339(record.created)


def _asked_since(seat: Seat) -> str | None:
    record = seat.handoff_record
    return phase_since(record) if record else None


@dataclass(frozen=True, slots=True)
class UsageLimit:
    """The account may not be used for now."""

    words: str
    resets: float | None
    """Unix seconds, where anybody said so."""


def usage_limited(seat: Seat) -> UsageLimit | None:
    """The limit that broke the agent's last turn, until it is given a new prompt."""
    broken = seat.sitting.conduct.broken
    if broken is None or broken.error not in {"rate_limit", "billing_error"}:
        return None
    resets = broken.resets_at or seat.sitting.limit_resets
    words = broken.detail or "the account's usage limit is reached"
    if resets is not None:
        words = f"{words}; it resets at {clock_time(resets)}"
    return UsageLimit(words, resets)


def clock_time(at: float) -> str:
    """A point in time for the pilot: UTC, to the minute."""
    return datetime.fromtimestamp(at, UTC).strftime("%d %b %Y %H:%M UTC")

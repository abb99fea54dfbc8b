"""A seat as the row that everybody sees: states, needs and numbers of `wire.status`.

Pure: looks at a seat and a time, changes nothing. When several states hold, the order is
needs_you, handing_off, starting, working, idle; what cannot be known is null.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from cockpit.core.bands import Marks
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import (
    PHASES,
    Asked,
    Confirming,
    Documenting,
    Ended,
    Reviewing,
    Reviving,
    Settling,
    Waiting,
)
from cockpit.core.moments import DialogOpened, TurnBroken
from cockpit.core.safetext import safe_line, safe_text
from cockpit.supervisor.feed import rfc3339
from cockpit.supervisor.seat import Seat
from cockpit.wire.status import (
    AgentStatus,
    ContextStatus,
    HandoffStatus,
    MarksStatus,
    NeedKind,
    Needs,
    State,
)

LONGEST_COMMAND = 2000
"""Characters that are shown of what a tool asks leave for."""
_REFUSED = frozenset({"authentication_failed", "model_not_found"})
"""Answers of the API that no new prompt mends."""
UNREAD_AFTER_TURNS = 3
"""Turns after which a successor that has not read its document says so on its row."""


def row(seat: Seat, now: float, monotonic: float) -> AgentStatus:
    """The agent's row, as of `now` (steady seconds) and `monotonic`."""
    needs = need(seat, monotonic)
    session, sitting = seat.session, seat.sitting
    return AgentStatus(
        name=seat.name,
        runtime=seat.settings.runtime,
        job=seat.record.job,
        state=state(seat, needs),
        needs=needs,
        pane=seat.record.pane,
        pid=seat.process.pid if seat.alive and seat.process else None,
        directory=seat.record.directory,
        branch=seat.record.branch,
        worktree=seat.record.worktree,
        session_id=seat.record.session,
        session_number=session.number if session else None,
        previous_session_id=session.previous if session else None,
        transcript=session.transcript if session else None,
        model=safe_line(sitting.model, 80) if sitting.model else None,
        context=context(seat, now),
        mode=seat.settings.mode,
        strategy=seat.settings.strategy,
        handoff=handoff(seat),
        handoffs=seat.handoffs,
        max_handoffs=seat.settings.handoff.max_per_job,
        compactions=sitting.meter.compactions,
        cost_usd=seat.cost_usd,
        chain_cost_usd=chain_cost(seat),
        activity=sitting.conduct.activity,
        last_activity_at=_heard_at(seat, sitting.last_activity),
        note=note(seat),
        warning=warning(seat),
    )


def state(seat: Seat, needs: Needs | None) -> State:
    """The one word for the row."""
    if needs is not None:
        return "needs_you"
    if seat.handoff and not isinstance(seat.handoff.state, Ended):
        return "handing_off"
    if seat.preparing:
        return "starting"
    if seat.record.session is None and seat.process is None:
        return "stopped"
    if not seat.alive:
        return "exited" if seat.record.wanted else "stopped"
    return _living(seat)


def _living(seat: Seat) -> State:
    conduct = seat.sitting.conduct
    if not seat.runtime.has_readings:
        return "working"
    if conduct.turn is Turn.WORKING:
        return "working"
    if conduct.turn is Turn.IDLE:
        if expects_prompt(seat) and not seat.sitting.replied:
            return "starting"
        return "done" if finished(seat) else "idle"
    return (
        "starting" if seat.sitting.began_at is not None and not seat.sitting.replied else "unknown"
    )


def expects_prompt(seat: Seat) -> bool:
    """The session was started with a prompt that was not accepted yet.

    Of a process that was found again nobody knows, and it is not said.
    """
    sitting = seat.sitting
    prompted = seat.job is not None and bool(seat.job.prompt)
    return prompted and sitting.conduct.prompts == 0 and sitting.began_at is not None


def finished(seat: Seat) -> bool:
    """The agent's last words at the end of a turn hold the completion marker, on a line."""
    settings, words = seat.settings, seat.sitting.conduct.last_words
    markers = [settings.handoff.completion_marker]
    markers += [settings.loop.completion_marker] if settings.loop.enabled else []
    return any(marker_said(words, marker) for marker in markers)


def marker_said(words: str, marker: str) -> bool:
    """Whether the marker stands at the start or end of a line; quoting it in a sentence is not."""
    lines = (line.strip().strip("*`_#> ") for line in words.splitlines())
    return bool(marker) and any(line.startswith(marker) or line.endswith(marker) for line in lines)


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
        return _dialog(conduct.dialog, _heard_at(seat, conduct.since))
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
            since=_heard_at(seat, conduct.since),
            resets_at=_time(limit.resets),
        )
    # A handoff that is under way has a deadline, and goes on without the agent's turn.
    over = conduct.turn is not Turn.WORKING and seat.handoff is None
    if conduct.broken and (over or conduct.broken.error in _REFUSED):
        words = _broken(conduct.broken)
        return Needs(kind="failed", detail=words, since=_heard_at(seat, conduct.since))
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


def _heard_at(seat: Seat, at: float | None) -> str | None:
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


def _asked_since(seat: Seat) -> str | None:
    flown = handoff(seat)
    return flown.since if flown else None


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


def context(seat: Seat, now: float) -> ContextStatus:
    gauge, meter = seat.sitting.gauge, seat.sitting.meter
    if not seat.runtime.has_readings:
        return ContextStatus()
    reading = gauge.reading
    marks, compacts_at = seat.marks, seat.compacts_at
    shown_window = reading.window if seat.sitting.model or gauge.override else None
    return ContextStatus(
        tokens=reading.tokens,
        window=shown_window,
        used=round(reading.used, 4) if reading.used is not None else None,
        band=seat.band.value,
        confidence=reading.confidence.value,
        source=reading.source,
        age_seconds=round(max(0.0, now - gauge.at), 1) if gauge.at is not None else None,
        compacts_at=compacts_at if shown_window else None,
        tokens_per_turn=meter.tokens_per_turn,
        turns_left=_turns_left(seat, marks, compacts_at),
        marks=marks_status(marks) if shown_window else MarksStatus(),
        tool_calls=seat.tool_calls if reading.tokens is None else None,
        trend=list(meter.trend),
    )


def marks_status(marks: Marks | None) -> MarksStatus:
    """Where the bands begin, as everybody is told."""
    if marks is None:
        return MarksStatus()
    return MarksStatus(
        notice=marks.notice.tokens,
        warn=marks.warn.tokens,
        act=marks.act.tokens,
        force=marks.force.tokens,
    )


def _turns_left(seat: Seat, marks: Marks | None, compacts_at: int | None) -> int | None:
    """API calls to the act point; above it, to the CLI's own compaction."""
    tokens = seat.sitting.gauge.tokens
    if tokens is None or marks is None:
        return None
    target = marks.act.tokens if tokens < marks.act.tokens else compacts_at
    return seat.sitting.meter.turns_left(target) if target is not None else None


def handoff(seat: Seat) -> HandoffStatus | None:
    """The handoff that is under way, if one is."""
    flight, record = seat.handoff, seat.handoff_record
    if flight is None or record is None or isinstance(flight.state, Ended):
        return None
    return HandoffStatus(
        id=record.id,
        reason=flight.plan.reason,
        phase=PHASES[type(flight.state)],
        since=record.details.get("phase_since") or rfc3339(record.created),
        detail=_detail(seat),
        document=flight.document.path if flight.document else record.details.get("draft_facts"),
        writer=flight.document.writer if flight.document else None,
    )


def _detail(seat: Seat) -> str | None:
    assert seat.handoff is not None
    match seat.handoff.state:
        case Asked(snoozed_tokens=int(tokens)) | Reviewing(snoozed_tokens=int(tokens)):
            return f"asked again at {tokens // 1000}k tokens"
        case Waiting(why=why) | Settling(why=why) if why:
            return safe_line(why, 200)
        case Settling():
            return "the agent finishes its turn"
        case Documenting(composing=True):
            return "checking the document against git"
        case Documenting(writer=writer):
            return "the agent writes the document" if writer == "agent" else f"writer: {writer}"
        case Confirming(attempt=attempt):
            return "waiting for the new session's first reply" + _nth(attempt)
        case Reviving(why=why):
            return safe_line(f"reopening the previous session: {why}", 200)
        case _:
            return None


def _nth(attempt: int) -> str:
    return f" (start {attempt})" if attempt > 1 else ""


def chain_cost(seat: Seat) -> float | None:
    """Cost of all sessions of the job, as far as any is known."""
    known = [each.cost_usd for each in seat.chain if each.id != seat.record.session]
    known.append(seat.cost_usd)
    costs = [cost for cost in known if cost is not None]
    return round(sum(costs), 6) if costs else None


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

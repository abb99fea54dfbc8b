"""A seat as the row that everybody sees: its state and numbers, as `wire.status` has them.

Pure: looks at a seat and a time, changes nothing. When several states hold, the order is
needs_you, handing_off, starting, working, idle; what cannot be known is null. What the pilot has
to do is `needs`, what is worth a word beside the state is `notes`.
"""

from __future__ import annotations

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
from cockpit.core.safetext import safe_line
from cockpit.supervisor.needs import heard_at, need, phase_since
from cockpit.supervisor.notes import note, warning
from cockpit.supervisor.seat import Seat
from cockpit.wire.status import (
    AgentStatus,
    ContextStatus,
    HandoffStatus,
    MarksStatus,
    Needs,
    State,
)


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
        last_activity_at=heard_at(seat, sitting.last_activity),
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
        since=phase_since(record),
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

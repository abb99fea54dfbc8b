"""Record the events of a handoff: its beginning, its phases, its end."""

from __future__ import annotations

from cockpit.core.events import (
    HandoffAt,
    HandoffBegun,
    HandoffOver,
    OutcomeKind,
    PhaseKind,
    WriterFailed,
)
from cockpit.core.handoff.states import (
    PHASES,
    Asked,
    Confirming,
    Documenting,
    Ended,
    Handoff,
    Moving,
    Outcome,
    Phase,
    Plan,
    Reviewing,
    Reviving,
    Settling,
    Starting,
    Stopping,
    Waiting,
)
from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.events import EventLog

PHASE_WORDS: dict[type, str] = {
    Asked: "the handoff is waiting for your answer",
    Waiting: "the handoff is waiting until cockpit can ask the agent for the document",
    Documenting: "the handoff document is being written",
    Reviewing: "the handoff document is waiting for your review",
    Settling: "the document is approved; the agent is finishing its turn",
    Moving: "the job is being moved to another machine",
    Stopping: "the old session is being ended",
    Starting: "the new session is being started",
    Confirming: "the new session is running; waiting for its first reply",
    Reviving: "no new session took over; the old session is being reopened",
}
"""For each phase of a handoff, the text of its event."""
OF_PHASE: dict[Phase, PhaseKind] = {
    "asked": "handoff.asked",
    "waiting": "handoff.waiting",
    "documenting": "handoff.documenting",
    "review": "handoff.review",
    "moving": "handoff.moving",
    "stopping": "handoff.stopping",
    "starting": "handoff.starting",
    "confirming": "handoff.confirming",
}
OF_OUTCOME: dict[Outcome, OutcomeKind] = {
    Outcome.DONE: "handoff.confirmed",
    Outcome.CANCELLED: "handoff.cancelled",
    Outcome.REFUSED: "handoff.refused",
    Outcome.REVIVED: "handoff.revived",
    Outcome.MOVED: "handoff.moved",
    Outcome.FAILED: "handoff.failed",
}


def begun(event_log: EventLog, agent: Agent, plan: Plan, why: str) -> None:
    """Record that a handoff began, and `why`; if `why` is empty, the plan's reason."""
    gauge = agent.session_state.gauge
    origin = "requested" if plan.reason in {"manual", "agent"} else "due"
    event_log.record(
        HandoffBegun(tokens=gauge.tokens, window=gauge.window.tokens, reason=plan.reason),
        f"A handoff of {agent.name} is {origin} ({why or plan.reason})",
        agent.name,
    )


def passed_over(before: Handoff, after: Handoff) -> str:
    """Return which writer failed between the two states, and why; empty if none did."""
    now, then = after.state, before.state
    if not isinstance(now, Documenting) or not now.passed_over:
        return ""
    same = isinstance(then, Documenting) and then.passed_over == now.passed_over
    return "" if same else safe_line(now.passed_over, 300)


def changed(event_log: EventLog, agent: Agent, before: Handoff, after: Handoff) -> None:
    """Record a new phase, or a failed writer; steps within a phase are not recorded."""
    failed = passed_over(before, after)
    composed = isinstance(before.state, Documenting) and before.state.composing
    if failed and not composed:  # a failed composition is recorded by `Effects`
        writer, _, why = failed.partition(": ")
        event_log.record(
            WriterFailed(writer=writer),
            f"The writer {writer} wrote no handoff document for {agent.name}: {why}",
            agent.name,
        )
    old, new = PHASES.get(type(before.state)), PHASES.get(type(after.state))
    if new is not None and old != new:
        text = f"{agent.name}: {PHASE_WORDS[type(after.state)]}"
        event_log.record(HandoffAt(OF_PHASE[new], phase=new), text, agent.name)


def ended(event_log: EventLog, agent: Agent, end: Ended) -> None:
    """Record the outcome. Must be called before the handoff's record is removed from the agent."""
    record = agent.handoff_record
    over = HandoffOver(
        OF_OUTCOME[end.outcome],
        why=end.why,
        handoff=record.id if record else None,
        old_session=record.old_session if record else None,
        new_session=record.new_session if record else None,
        number=agent.handoffs,
        document=end.document.path if end.document else None,
    )
    event_log.record(over, _outcome(agent, end), agent.name)


def _outcome(agent: Agent, end: Ended) -> str:
    match end.outcome:
        case Outcome.DONE:
            number = agent.session.number if agent.session else "?"
            return f"{agent.name} continues in session {number}"
        case Outcome.MOVED:
            return f"{agent.name} was {end.why}"
        case Outcome.FAILED:
            return f"The handoff of {agent.name} failed: {end.why}"
        case Outcome.REVIVED:
            why = end.why.rstrip(".")
            return f"No new session of {agent.name} took over ({why}); the old one was reopened"
        case Outcome.REFUSED:
            return f"The handoff of {agent.name} was {end.why}"
        case Outcome.CANCELLED:
            return f"The handoff of {agent.name} was cancelled: {end.why}"

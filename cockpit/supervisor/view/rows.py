"""Build an agent's row: its state and numbers, as in `wire.status`. Pure.

Unknown values are null. `needs` builds the reasons why the user must act, `notes` the remarks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from cockpit.core.bands import Marks
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import (
    PHASES,
    Asked,
    Confirming,
    Documenting,
    Ended,
    Moving,
    Reviewing,
    Reviving,
    Settling,
    Starting,
    Waiting,
)
from cockpit.core.redaction import Redactor
from cockpit.core.safetext import safe_line
from cockpit.core.timestamps import rfc3339
from cockpit.core.token_counts import token_count
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.needs import heard_at, need, phase_since
from cockpit.supervisor.agents.predicates import (
    chain_cost,
    configured_successor,
    is_job_done,
    is_over_budget,
)
from cockpit.supervisor.agents.shown_state import is_ending, state
from cockpit.supervisor.view.notes import note, warning
from cockpit.wire.status import (
    AgentStatus,
    BackgroundStatus,
    ContextStatus,
    HandoffStatus,
    LastRequest,
    MarksStatus,
    RateLimitStatus,
)

LONGEST_GOAL = 200
"""Maximum characters of a goal in a row."""
LONGEST_ASKED = 2000
"""Maximum characters of a prompt from which the goal is read."""


def row(
    agent: Agent, now: float, monotonic: float, custom_runtimes: Sequence[str] = ()
) -> AgentStatus:
    """Return the agent's row.

    `now` is the time of `Clock.steady`, `monotonic` that of `Clock.monotonic`, in seconds.
    """
    needs = need(agent, monotonic)
    session, session_state = agent.session, agent.session_state
    return AgentStatus(
        name=agent.name,
        runtime=agent.runtime.name,
        configured_runtime=agent.settings.runtime,
        configured_successor=configured_successor(agent),
        custom_runtimes=[name for name in custom_runtimes if name != agent.runtime.name],
        job=agent.record.job,
        state=state(agent, needs),
        needs=needs,
        pane=agent.record.pane,
        pid=agent.process.pid if agent.process and (agent.alive or is_ending(agent)) else None,
        directory=str(agent.directory),
        configured_directory=agent.record.directory,
        goal=goal(agent),
        branch=agent.record.branch,
        worktree=agent.record.worktree,
        session_id=agent.record.session,
        cli_session_id=session.cli_id if session else None,
        session_number=session.number if session else None,
        previous_session_id=session.previous if session else None,
        transcript=session.transcript if session else None,
        model=safe_line(session_state.model, 80) if session_state.model else None,
        context=context(agent, now),
        mode=agent.settings.mode,
        strategy=agent.settings.strategy,
        handoff=handoff(agent, now, monotonic),
        handoffs=agent.handoffs,
        max_handoffs=agent.settings.handoff.max_per_job,
        compactions=session_state.reading.meter.compactions,
        cost_usd=agent.cost_usd,
        chain_cost_usd=chain_cost(agent),
        budget_usd=agent.settings.limits.cost or None,
        # Every other session that was handed off has a successor on this machine.
        moved_away=not agent.alive and bool(agent.session and agent.session.state == "handed_off"),
        over_budget=is_over_budget(agent),
        rate_limits=rate_limits(agent, now),
        background=background(agent),
        activity=session_state.activity.doing,
        job_done=is_job_done(agent),
        last_activity_at=heard_at(agent, session_state.last_activity),
        exit_code=exit_code(agent),
        note=note(agent),
        last_request=last_request(agent),
        warning=warning(agent),
    )


def last_request(agent: Agent) -> LastRequest | None:
    last = agent.last_request
    if last is None:
        return None
    at = rfc3339(last.at - agent.clock_offset)
    return LastRequest(verb=last.verb, by=safe_line(last.by, 120), at=at, handoff=last.handoff)


def rate_limits(agent: Agent, now: float) -> list[RateLimitStatus]:
    """Return the account's limits that have not been reset since the CLI reported them."""
    return [
        RateLimitStatus(
            name=limit.name,
            used=limit.used,
            resets_at=None if limit.resets_at is None else rfc3339(limit.resets_at),
        )
        for limit in agent.session_state.rate_limits
        if limit.resets_at is None or limit.resets_at > now - agent.clock_offset
    ]


def exit_code(agent: Agent) -> int | None:
    """Return the exit code of the agent's ended process, negative for a signal; None if unknown."""
    if agent.alive or agent.exit is None:
        return None
    return -agent.exit.signal if agent.exit.signal else agent.exit.status


def goal(agent: Agent) -> str | None:
    """Return the goal of the job, as one line without secrets; None if unknown."""
    asked = (agent.job.prompt if agent.job else None) or agent.session_state.reading.collector.goal
    return shown_goal(asked[:LONGEST_ASKED]) if asked else None


@lru_cache(maxsize=1000)
def shown_goal(asked: str) -> str:
    """Redact a goal, and make it one line. Cached, because rows are built many times a second."""
    return safe_line(Redactor().redact(asked).text, LONGEST_GOAL)


def context(agent: Agent, now: float) -> ContextStatus:
    gauge, meter = agent.session_state.gauge, agent.session_state.reading.meter
    if not agent.has_readings:
        return ContextStatus()
    reading = gauge.reading
    marks, (compacts_at, known_by) = agent.marks, agent.compaction_point
    shown_window = agent.shown_window
    return ContextStatus(
        tokens=reading.tokens,
        window=shown_window,
        used=round(reading.used, 4) if reading.used is not None else None,
        band=agent.band.value,
        confidence=reading.confidence.value,
        source=reading.source,
        age_seconds=round(max(0.0, now - gauge.at), 1) if gauge.at is not None else None,
        compacts_at=compacts_at if shown_window else None,
        compacts_at_source=known_by if shown_window else None,
        tokens_per_turn=meter.tokens_per_turn,
        turns_left=_turns_left(agent, marks, compacts_at),
        marks=MarksStatus.of(marks) if shown_window else MarksStatus(),
        tool_calls=agent.tool_calls if reading.tokens is None else None,
        trend=list(meter.trend),
    )


def background(agent: Agent) -> list[BackgroundStatus]:
    """Return the background tasks for the agent's row, at most 20."""
    if not agent.alive:
        return []
    return [
        BackgroundStatus(
            id=safe_line(task.id, 80),
            type=safe_line(task.type, 40),
            description=safe_line(task.description, 200),
            command=safe_line(task.command, 500),
            log=safe_line(task.log, 4096) or None,
        )
        for task in agent.session_state.background[:20]
    ]


def _turns_left(agent: Agent, marks: Marks | None, compacts_at: int | None) -> int | None:
    """Estimate the API calls until the act threshold; above it, until the CLI compacts."""
    tokens = agent.session_state.gauge.tokens
    if tokens is None or marks is None:
        return None
    target = marks.act.tokens if tokens < marks.act.tokens else compacts_at
    return agent.session_state.reading.meter.turns_left(target) if target is not None else None


def handoff(agent: Agent, now: float, monotonic: float) -> HandoffStatus | None:
    """Return the handoff that is in progress; None if there is none. See `row` for the times."""
    current, record = agent.handoff, agent.handoff_record
    if current is None or record is None or isinstance(current.state, Ended):
        return None
    return HandoffStatus(
        id=record.id,
        reason=current.plan.reason,
        phase=PHASES[type(current.state)],
        since=phase_since(record),
        detail=_detail(agent),
        document=current.document.path if current.document else record.details.draft_facts,
        writer=current.document.writer if current.document else None,
        not_found=record.details.not_found or None if current.document else None,
        to=current.plan.runtime or None,
        host=current.plan.move_to or None,
        snoozed_until=_snoozed_until(agent, now, monotonic),
        snoozed_until_tokens=_snoozed_until_tokens(agent),
    )


def _snoozed_until(agent: Agent, now: float, monotonic: float) -> str | None:
    assert agent.handoff is not None
    match agent.handoff.state:
        case Asked(snoozed_until=float(at)) | Reviewing(snoozed_until=float(at)) if at > monotonic:
            return heard_at(agent, now + at - monotonic)
        case _:
            return None


def _snoozed_until_tokens(agent: Agent) -> int | None:
    assert agent.handoff is not None
    match agent.handoff.state:
        case Asked(snoozed_tokens=tokens) | Reviewing(snoozed_tokens=tokens):
            return tokens
        case _:
            return None


def _detail(agent: Agent) -> str | None:
    assert agent.handoff is not None
    match agent.handoff.state:
        case Asked(snoozed_tokens=int(tokens)) | Reviewing(snoozed_tokens=int(tokens)):
            return f"asking you again at {token_count(tokens)} tokens"
        case Waiting(why=why) | Settling(why=why) if why:
            return safe_line(why, 200)
        case Settling():
            return "the agent is finishing its turn"
        case Documenting(composing=True):
            return "checking the document against git"
        case Documenting(writer="agent") if agent.session_state.activity.turn is Turn.DIALOG:
            return "the agent cannot write the document: it is asking you a question in its pane"
        case Documenting(writer=writer):
            return "the agent is writing the document" if writer == "agent" else f"writer: {writer}"
        case Moving():
            return (
                f"moving to {agent.handoff.plan.move_to}; if `cockpit move` was interrupted, run "
                f"it again, or keep the job here: cockpit refuse {agent.name}"
            )
        case Starting(attempt=attempt) if attempt > 1:
            most = len(agent.handoff.plan.successors)
            return f"the previous start failed; starting attempt {attempt} of {most}"
        case Confirming(attempt=attempt):
            return "waiting for the new session's first reply" + _nth(attempt)
        case Reviving(why=why):
            return safe_line(f"reopening the previous session: {why}", 200)
        case _:
            return None


def _nth(attempt: int) -> str:
    return f" (attempt {attempt})" if attempt > 1 else ""

"""Find the most urgent thing that the user has to do for an agent, and why. Pure."""

from __future__ import annotations

from cockpit.core.cli_events import DialogOpened, TurnBroken
from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import Asked, Reviewing
from cockpit.core.safetext import safe_line, safe_text
from cockpit.core.timestamps import rfc3339
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.background_work import ended_work_text
from cockpit.supervisor.agents.predicates import reopen_hint, usage_limited
from cockpit.wire.status import NeedKind, Needs

LONGEST_COMMAND = 2000
"""Maximum characters shown of a command that needs permission."""
_REFUSED = frozenset({"authentication_failed", "model_not_found"})
"""Errors of the API that a new prompt does not fix."""


def need(agent: Agent, monotonic: float) -> Needs | None:
    """Return the most urgent thing that the user has to do; None if there is none."""
    if agent.progress.failed:
        return Needs(kind="failed", detail=safe_line(agent.progress.failed, 400))
    blocked = agent.progress.blocked
    if agent.handoff and blocked and blocked.is_shown(monotonic):
        detail = f"the handoff cannot continue: {blocked.why}. cockpit retries automatically"
        return Needs(kind="failed", detail=safe_line(detail, 400))
    activity = agent.session_state.activity
    if agent.alive and agent.troubles.dialog:
        began = agent.session.created if agent.session else None
        return Needs(kind="trust", detail=agent.troubles.dialog, since=_time(began))
    if agent.alive and activity.turn is Turn.DIALOG and activity.dialog:
        return _dialog(agent, activity.dialog, heard_at(agent, activity.since))
    asked = _question(agent, monotonic)
    if asked:
        return asked
    if agent.alive and agent.troubles.writing:
        return Needs(kind="failed", detail=safe_line(agent.troubles.writing, 600))
    if agent.alive and agent.session_state.reading.unreadable:
        return Needs(kind="failed", detail=_unreadable(agent))
    if agent.gave_up:
        ended = _time(agent.exit.at if agent.exit else None)
        return Needs(kind="failed", detail=safe_line(agent.gave_up, 400), since=ended)
    if stuck := _why_prompt_needed(agent):
        return Needs(kind="failed", detail=safe_line(stuck, 400))
    if (interrupted := reopen_hint(agent)) is not None and agent.settings.resume == "ask":
        return Needs(kind="resume", detail=safe_line(interrupted, 400))
    if (limit := usage_limited(agent)) is not None:
        return Needs(
            kind="usage_limit",
            detail=safe_line(limit.words, 300),
            since=heard_at(agent, activity.since),
            resets_at=_time(limit.resets),
        )
    # An open handoff has a deadline and continues without the agent's turn.
    over = activity.turn is not Turn.WORKING and agent.handoff is None
    if activity.broken and (over or activity.broken.error in _REFUSED):
        detail = _broken(activity.broken)
        return Needs(kind="failed", detail=detail, since=heard_at(agent, activity.since))
    return None


def _why_prompt_needed(agent: Agent) -> str | None:
    """Return why the agent needs a prompt: a failed handoff, or a loop that has ended."""
    if agent.handoff is not None or agent.session_state.activity.turn is Turn.WORKING:
        return None
    revived = agent.progress.revived
    if revived is not None and agent.alive and not _was_prompted(agent, revived.at):
        to = f" --to {revived.to}" if revived.to else ""
        return (
            f"no new session took over ({revived.why.rstrip('.')}); the old one was reopened. "
            f"Send a prompt to continue, or try again: cockpit handoff {agent.name}{to}"
        )
    return agent.progress.loop_over


def _was_prompted(agent: Agent, since: float) -> bool:
    """Return whether the user sent a prompt after `since`, in seconds of `Clock.steady`."""
    return any(at > since for at, _ in agent.session_state.user_prompts)


def _unreadable(agent: Agent) -> str:
    path = agent.session.transcript if agent.session else None
    unreadable = agent.session_state.reading.unreadable
    if agent.session_state.reading.answers_late:
        step = "cockpit retries automatically"
    else:
        step = (
            "Put the file back, or restart the agent:"
            f" cockpit stop {agent.name}, then cockpit start {agent.name}"
        )
    detail = (
        f"the transcript {unreadable}: {path}. The context usage is unknown, so there is no"
        f" automatic handoff. {step}"
    )
    return safe_line(detail, 600)


def _broken(broken: TurnBroken) -> str:
    """Return the API error, with the next step."""
    if broken.error in _REFUSED:
        return (
            f"the API returned an error: {broken.error}. Check the login and the model in the "
            "agent's pane"
        )
    why = safe_line(broken.detail or broken.error, 200).rstrip(".")
    return f"the API failed: {why}. The turn was interrupted; send a prompt to continue"


def _dialog(agent: Agent, dialog: DialogOpened, since: str | None) -> Needs:
    return Needs(
        kind=dialog.kind,
        detail=safe_line(dialog.detail, 300),
        since=since,
        tool=safe_line(dialog.tool, 60) or None,
        command=safe_text(dialog.command, LONGEST_COMMAND) or None,
        answerable=bool(agent.runtime.capabilities.answers),
    )


def heard_at(agent: Agent, at: float | None) -> str | None:
    """Return seconds of `Clock.steady` as a wall clock time; None for None or 0."""
    return rfc3339(at - agent.clock_offset) if at else None


def _time(at: float | None) -> str | None:
    return rfc3339(at) if at else None


def _question(agent: Agent, monotonic: float) -> Needs | None:
    if agent.handoff is None:
        return None
    match agent.handoff.state:
        case Asked(snoozed_until=until, snoozed_tokens=None) if until is None or until <= monotonic:
            return _hand_off(agent)
        case Reviewing(snoozed_until=until, snoozed_tokens=None) if (
            until is None or until <= monotonic
        ):
            to = agent.handoff.plan.runtime
            then = f"; the job then continues in {to}" if to else ""
            not_found = agent.progress.details.not_found
            check = f"; cockpit's check: {not_found}" if not_found else ""
            waits = "the handoff document is waiting for your approval"
            detail = f"{waits}{check}{then}{_ended_work(agent)}"
            return Needs(kind="review", detail=detail, since=_asked_since(agent))
        case _:
            return None


def _hand_off(agent: Agent) -> Needs:
    """Return the question whether to hand off, with the reason why the user is asked, if stored.

    The question names the CLI of the new session, if that CLI differs from the current one.
    """
    due, because = _due(agent, agent.progress.details.due), agent.progress.details.because
    since = _asked_since(agent)
    asked_because = f"; asked because {because.words}" if because else ""
    why = safe_line(f"{due}{asked_because}{_ended_work(agent)}", 390)
    kind: NeedKind = "breaker" if because and because.kind == "breaker" else "handoff"
    to = agent.handoff.plan.runtime if agent.handoff is not None else ""
    question = f"hand off to {to}?" if to else "hand off?"
    return Needs(kind=kind, detail=f"{question} {why}", since=since, due=why)


def _ended_work(agent: Agent) -> str:
    text = ended_work_text(agent)
    return f"; {text}" if text else ""


def _due(agent: Agent, detail: str) -> str:
    """Return why a handoff is due: a limit, the loop, or the context usage."""
    reason = agent.handoff.plan.reason if agent.handoff else "threshold"
    if reason == "limit":
        return (
            f"its session is at its limit ({detail})" if detail else "its session is at its limit"
        )
    if reason == "loop" and detail:
        return detail
    used = agent.session_state.gauge.reading.used
    return f"{used:.0%} of the context is used" if used is not None else "the context is filling up"


def phase_since(record: HandoffRecord) -> str:
    """Return when the handoff entered its current phase."""
    return record.details.phase_since or rfc3339(record.created)


def _asked_since(agent: Agent) -> str | None:
    record = agent.handoff_record
    return phase_since(record) if record else None

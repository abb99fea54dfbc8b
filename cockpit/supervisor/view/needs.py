"""What the user has to do for an agent, and why: the most pressing only.

Pure: looks at an agent and a time, changes nothing.
"""

from __future__ import annotations

from cockpit.core.handoff.events import Turn
from cockpit.core.handoff.states import Asked, Reviewing
from cockpit.core.moments import DialogOpened, TurnBroken
from cockpit.core.safetext import safe_line, safe_text
from cockpit.ports.records import HandoffRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.background_work import ended_work_text
from cockpit.supervisor.agents.predicates import to_reopen, usage_limited
from cockpit.supervisor.events import rfc3339
from cockpit.wire.status import NeedKind, Needs

LONGEST_COMMAND = 2000
"""Characters that are shown of what a tool asks leave for."""
_REFUSED = frozenset({"authentication_failed", "model_not_found"})
"""Answers of the API that no new prompt mends."""


def need(agent: Agent, monotonic: float) -> Needs | None:
    """What the user has to do, if anything; the most pressing only."""
    if agent.progress.failed:
        return Needs(kind="failed", detail=safe_line(agent.progress.failed, 400))
    blocked = agent.progress.blocked
    if agent.handoff and blocked and blocked.is_shown(monotonic):
        words = f"the handoff cannot go on: {blocked.why}. It is retried automatically"
        return Needs(kind="failed", detail=safe_line(words, 400))
    conduct = agent.session_state.conduct
    if agent.alive and agent.troubles.dialog:
        began = agent.session.created if agent.session else None
        return Needs(kind="trust", detail=agent.troubles.dialog, since=_time(began))
    if agent.alive and conduct.turn is Turn.DIALOG and conduct.dialog:
        return _dialog(conduct.dialog, heard_at(agent, conduct.since))
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
    if stuck := _unattended_over(agent):
        return Needs(kind="failed", detail=safe_line(stuck, 400))
    if (cut_off := to_reopen(agent)) is not None and agent.settings.resume == "ask":
        return Needs(kind="resume", detail=safe_line(cut_off, 400))
    if (limit := usage_limited(agent)) is not None:
        return Needs(
            kind="usage_limit",
            detail=safe_line(limit.words, 300),
            since=heard_at(agent, conduct.since),
            resets_at=_time(limit.resets),
        )
    # A handoff that is under way has a deadline, and goes on without the agent's turn.
    over = conduct.turn is not Turn.WORKING and agent.handoff is None
    if conduct.broken and (over or conduct.broken.error in _REFUSED):
        words = _broken(conduct.broken)
        return Needs(kind="failed", detail=words, since=heard_at(agent, conduct.since))
    return None


def _unattended_over(agent: Agent) -> str | None:
    """That nothing goes on by itself here any more: a failed swap, or a loop without rounds."""
    if agent.handoff is not None or agent.session_state.conduct.turn is Turn.WORKING:
        return None
    revived = agent.progress.revived
    if revived is not None and agent.alive and not _spoken_to(agent, revived.at):
        return (
            f"no new session started ({revived.why.rstrip('.')}); this is the old one, reopened. "
            f"Send it a prompt to go on, or try again: cockpit handoff {agent.name}"
        )
    return agent.progress.loop_over


def _spoken_to(agent: Agent, since: float) -> bool:
    """Whether a person gave it a prompt after that, in steady seconds."""
    return any(at > since for at, _ in agent.session_state.user_prompts)


def _unreadable(agent: Agent) -> str:
    path = agent.session.transcript if agent.session else None
    unreadable = agent.session_state.reading.unreadable
    words = (
        f"its transcript {unreadable}: {path}. Its context is not known, and"
        " nothing is handed off by itself. Put the file back, or start the agent again:"
        f" cockpit stop {agent.name}, then cockpit start {agent.name}"
    )
    return safe_line(words, 600)


def _broken(broken: TurnBroken) -> str:
    """What the API answered in place of the work, and what comes next."""
    if broken.error in _REFUSED:
        return f"the API refused: {broken.error}"
    why = safe_line(broken.detail or broken.error, 200).rstrip(".")
    return f"the API failed: {why}. Its turn was interrupted; send a prompt to continue"


def _dialog(dialog: DialogOpened, since: str | None) -> Needs:
    return Needs(
        kind=dialog.kind,
        detail=safe_line(dialog.detail, 300),
        since=since,
        tool=safe_line(dialog.tool, 60) or None,
        command=safe_text(dialog.command, LONGEST_COMMAND) or None,
    )


def heard_at(agent: Agent, at: float | None) -> str | None:
    """What a witness dated, as the wall clock has it."""
    return rfc3339(at - agent.ahead) if at else None


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
            words = "the handoff document waits for your approval" + _ends_too(agent)
            return Needs(kind="review", detail=words, since=_asked_since(agent))
        case _:
            return None


def _hand_off(agent: Agent) -> Needs:
    """The question; for an automatic agent with what stopped it from going by itself."""
    due, because = _due(agent, agent.progress.details.due), agent.progress.details.because
    since = _asked_since(agent)
    asked_because = f"; asked because {because.words}" if because else ""
    words = safe_line(f"{due}{asked_because}{_ends_too(agent)}", 390)
    kind: NeedKind = "breaker" if because and because.kind == "breaker" else "handoff"
    return Needs(kind=kind, detail=f"hand off? {words}", since=since, due=words)


def _ends_too(agent: Agent) -> str:
    words = ended_work_text(agent)
    return f"; {words}" if words else ""


def _due(agent: Agent, words: str) -> str:
    """Why a handoff is due: what the context holds, unless it is for something else."""
    reason = agent.handoff.plan.reason if agent.handoff else "threshold"
    if reason == "limit":
        return f"its session is at its limit ({words})" if words else "its session is at its limit"
    if reason == "loop" and words:
        return words
    used = agent.session_state.gauge.reading.used
    return f"{used:.0%} of the context is used" if used is not None else "the context is filling up"


def phase_since(record: HandoffRecord) -> str:
    """When the handoff came into its phase."""
    return record.details.phase_since or rfc3339(record.created)


def _asked_since(agent: Agent) -> str | None:
    record = agent.handoff_record
    return phase_since(record) if record else None

"""Sentences about the last request to an agent: the action, the user and the time."""

from __future__ import annotations

from datetime import datetime

from cockpit.core.actors import ANSWERS, ago, what_was_done
from cockpit.core.safetext import safe_line
from cockpit.core.timestamps import moment
from cockpit.wire.status import AgentStatus

SHOWN_SECONDS = 600.0


def done_by_other(agent: AgentStatus, this_user: str, now: datetime) -> str:
    """Return a sentence on the last request to the agent, if another user sent the request.

    Empty if there is no such request, or if it is older than `SHOWN_SECONDS`.
    """
    last = agent.last_request
    if last is None or last.by == this_user:
        return ""
    return _sentence(agent, now)


def answered_by(agent: AgentStatus | None, now: datetime, handoff: str = "") -> str:
    """Return a sentence on who answered the agent's question.

    Empty unless the last request to the agent is an answer, not older than `SHOWN_SECONDS`. If
    `handoff` is the id of a handoff, the answer must be about that handoff.
    """
    last = agent.last_request if agent is not None else None
    if agent is None or last is None or last.verb not in ANSWERS:
        return ""
    return _sentence(agent, now) if handoff in ("", last.handoff) else ""


def _sentence(agent: AgentStatus, now: datetime) -> str:
    last = agent.last_request
    at = moment(last.at) if last is not None else None
    if last is None or at is None:
        return ""
    seconds = max(0.0, (now - at).total_seconds())
    if seconds > SHOWN_SECONDS:
        return ""
    # The time is in minutes, so that an idle screen is not redrawn.
    text = safe_line(what_was_done(last.verb, last.by, ago(seconds if seconds >= 60 else 0)), 200)
    return f"{text[:1].upper()}{text[1:]}."

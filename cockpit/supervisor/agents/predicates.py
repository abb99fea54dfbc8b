"""Questions that both rules and rows ask about an agent. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from cockpit.core.safetext import safe_line
from cockpit.supervisor.agents.agent import Agent


def expects_prompt(agent: Agent) -> bool:
    """The session was started with a prompt that was not accepted yet.

    Of a process that was found again nobody knows, and it is not said.
    """
    session_state = agent.session_state
    prompted = agent.job is not None and bool(agent.job.prompt)
    return prompted and session_state.conduct.prompts == 0 and session_state.began_at is not None


def finished(agent: Agent) -> bool:
    """The agent's last words at the end of a turn hold the completion marker, on a line.

    Or somebody said it for the agent, and no prompt came since.
    """
    if agent.said_done is not None:
        later = (at for at, _ in agent.session_state.user_prompts if at > agent.said_done)
        if next(later, None) is None:
            return True
    settings, words = agent.settings, agent.session_state.conduct.last_words
    markers = [settings.handoff.completion_marker]
    markers += [settings.loop.completion_marker] if settings.loop.enabled else []
    return any(marker_said(words, marker) for marker in markers)


def marker_said(words: str, marker: str) -> bool:
    """Whether the marker stands at the start or end of a line; quoting it in a sentence is not."""
    lines = (line.strip().strip("*`_#> ") for line in words.splitlines())
    return bool(marker) and any(line.startswith(marker) or line.endswith(marker) for line in lines)


def chain_cost(agent: Agent) -> float | None:
    """Cost of all sessions of the job, as far as any is known."""
    before = [each for each in agent.chain if each.id != agent.record.session]
    known = [each.cost_usd for each in before]
    known += [agent.aside_costs.get(each.id) for each in before]
    known.append(agent.cost_usd)
    costs = [cost for cost in known if cost is not None]
    return round(sum(costs), 6) if costs else None


def to_reopen(agent: Agent) -> str | None:
    """That the agent's session was cut off and can be reopened, with the command; else None."""
    if agent.troubles.interrupted is None or not agent.record.wanted:
        return None
    if agent.alive or agent.start.hooks_run or agent.handoff is not None or agent.start.setup:
        return None
    return f"{agent.troubles.interrupted}; reopen its session: cockpit start {agent.name} --resume"


@dataclass(frozen=True, slots=True)
class UsageLimit:
    """The account may not be used for now."""

    words: str
    resets: float | None
    """Unix seconds, where anybody said so."""


def usage_limited(agent: Agent) -> UsageLimit | None:
    """The limit that broke the agent's last turn, until it is given a new prompt."""
    broken = agent.session_state.conduct.broken
    if broken is None or broken.error not in {"rate_limit", "billing_error"}:
        return None
    resets = broken.resets_at or agent.session_state.limit_resets
    words = broken.detail or "the account's usage limit is reached"
    if resets is not None:
        words = f"{words}; it resets at {clock_time(resets)}"
    return UsageLimit(words, resets)


def clock_time(at: float) -> str:
    """A point in time for the user: UTC, to the minute."""
    return datetime.fromtimestamp(at, UTC).strftime("%d %b %Y %H:%M UTC")


def writers_failed(agent: Agent) -> str | None:
    """Which writers gave no document for the handoff that is under way, and why."""
    failed = "; ".join(agent.progress.details.writers_failed)
    return safe_line(f"no handoff document by {failed}", 300) if failed else None

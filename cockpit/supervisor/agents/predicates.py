"""Predicates about an agent, for the handoff rules and for the rows of the screen. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.safetext import safe_line
from cockpit.core.timestamps import clock_time
from cockpit.supervisor.agents.agent import Agent


def awaits_first_prompt(agent: Agent) -> bool:
    """Return whether the job has a first prompt that the CLI has not accepted yet.

    Always False if the process was already running when the supervisor started, because then
    cockpit does not know.
    """
    session_state = agent.session_state
    prompted = agent.job is not None and bool(agent.job.prompt)
    return prompted and session_state.activity.prompts == 0 and session_state.began_at is not None


def is_job_done(agent: Agent) -> bool:
    """Return whether the job is done.

    A job is done if a line of the last turn's final message starts or ends with the completion
    marker, or if `cockpit done` marked the job as done and no prompt came since.
    """
    if agent.marked_done_at is not None:
        later = (at for at, _ in agent.session_state.user_prompts if at > agent.marked_done_at)
        if next(later, None) is None:
            return True
    settings, reply = agent.settings, agent.session_state.activity.last_reply
    markers = [settings.handoff.completion_marker]
    markers += [settings.loop.completion_marker] if settings.loop.enabled else []
    return any(has_marker(reply, marker) for marker in markers)


def has_marker(reply: str, marker: str) -> bool:
    """Return whether a line starts or ends with the marker. Ignores a marker within a line."""
    lines = (line.strip().strip("*`_#> ") for line in reply.splitlines())
    return bool(marker) and any(line.startswith(marker) or line.endswith(marker) for line in lines)


def next_runtime(order: Sequence[str], current: str) -> str:
    """Return the CLI after `current` in a rotation; the first one if `current` is not in it."""
    if current not in order:
        return order[0]
    return order[(order.index(current) + 1) % len(order)]


def configured_successor(agent: Agent) -> str | None:
    """Return the runtime in which a handoff continues the job, by the setting `successor`.

    None without the setting, or if the next runtime is the current one. Does not check whether the
    runtime can start.
    """
    order, current = agent.settings.handoff.successor, agent.runtime.name
    if not order or next_runtime(order, current) == current:
        return None
    return next_runtime(order, current)


def chain_cost(agent: Agent) -> float | None:
    """Return the known cost of the job's sessions, in US dollars; None if none is known."""
    before = [session for session in agent.chain if session.id != agent.record.session]
    known = [session.cost_usd for session in before]
    known += [agent.copy_costs.get(session.id) for session in before]
    known.append(agent.cost_usd)
    costs = [cost for cost in known if cost is not None]
    return round(sum(costs), 6) if costs else None


def is_over_budget(agent: Agent) -> bool:
    """Return whether the job's known cost has reached its budget; False without a budget."""
    budget, cost = agent.settings.limits.cost, chain_cost(agent)
    return bool(budget) and cost is not None and cost >= budget


def reopen_hint(agent: Agent) -> str | None:
    """Return a sentence with the command to reopen an interrupted session; else None."""
    if agent.troubles.interrupted is None or not agent.record.wanted:
        return None
    if agent.alive or agent.start.hooks_run or agent.handoff is not None or agent.start.setup:
        return None
    return f"{agent.troubles.interrupted}; reopen it: cockpit start {agent.name} --resume"


def start_again(agent: Agent) -> str:
    """Return a sentence with the command that continues after the agent's process has ended."""
    name, session = agent.name, agent.record.session
    if not agent.runtime.capabilities.reopening or session is None:
        return f"Start it again: cockpit start {name}"
    return f"Continue in its session: cockpit start {name} --resume {session}"


@dataclass(frozen=True, slots=True)
class UsageLimit:
    """A usage limit that the account has reached."""

    words: str
    resets: float | None
    """When the limit resets, in unix seconds; None if unknown."""


def usage_limited(agent: Agent) -> UsageLimit | None:
    """Return the usage limit that ended the agent's last turn; None after the next prompt."""
    broken = agent.session_state.activity.broken
    if broken is None or broken.error not in {"rate_limit", "billing_error"}:
        return None
    resets = broken.resets_at or agent.session_state.limit_resets
    text = broken.detail or "the account has reached its usage limit"
    if resets is not None:
        text = f"{text}; it resets at {clock_time(resets)}"
    return UsageLimit(text, resets)


def writers_failed(agent: Agent) -> str | None:
    """Return which writers failed in the handoff in progress, and why; None if none did."""
    failed = "; ".join(agent.progress.details.writers_failed)
    return safe_line(f"no handoff document from {failed}", 300) if failed else None

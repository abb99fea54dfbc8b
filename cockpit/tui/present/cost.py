"""The costs, budgets and usage limits that the screen shows."""

from __future__ import annotations

from datetime import datetime

from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.span import Span
from cockpit.tui.state.model import Day
from cockpit.wire.course import Course
from cockpit.wire.status import AgentStatus, RateLimitStatus

NEAR = 0.9
"""Share of a usage limit or of the day's budget from which a warning is shown."""
LEAST_TIME = 600.0
"""Minimum seconds between a session's first and last reply to show a cost per hour."""
_LIMITS = {"five_hour": "5h", "seven_day": "7d", "spend_limit": "spend"}


def shown_cost(agent: AgentStatus) -> float | None:
    """Return the job's cost over all sessions in US dollars; if unknown, the current session's
    cost.

    None if both are unknown.
    """
    return agent.cost_usd if agent.chain_cost_usd is None else agent.chain_cost_usd


def over_budget(agent: AgentStatus) -> str | None:
    """Return a phrase with the job's cost and budget; None unless the budget is reached."""
    cost = agent.chain_cost_usd
    if not agent.over_budget or cost is None or agent.budget_usd is None:
        return None
    return f"cost {words.money(cost)} of a budget of {words.money(agent.budget_usd)}"


def per_hour(agent: AgentStatus, course: Course | None) -> str | None:
    """Return the current session's cost per hour, such as `$0.62/h`; None if unknown.

    The time is measured from the session's first reply to the session's last reply, so that later
    idle time does not count. None for less than `LEAST_TIME`, because one reply would change the
    result too much.
    """
    stretch = course.stretches[-1] if course is not None and course.stretches else None
    if stretch is None or stretch.session != agent.session_id or not agent.cost_usd:
        return None
    times = [point.at for point in stretch.points if point.at is not None]
    seconds = max(times) - min(times) if times else 0.0
    if seconds < LEAST_TIME:
        return None
    return f"{words.money(agent.cost_usd * 3600 / seconds)}/h"


def rate_spans(agent: AgentStatus, now: datetime) -> list[Span]:
    """Return the account's usage limits, such as `5h 62% 7d 31%`; empty if the CLI reports none.

    A limit that was reset after the CLI's report is left out, because its use is unknown.
    """
    spans: list[Span] = []
    for limit in agent.rate_limits:
        if not _is_reset(limit, now):
            name = _LIMITS.get(limit.name) or safe_line(limit.name, 12)
            text = f"{name} {words.percent(limit.used)}"
            spans.append(
                Span(f" {text}" if spans else text, "warning" if limit.used >= NEAR else "muted")
            )
    return spans


def is_near(day: Day) -> bool:
    """Return whether at least the share `NEAR` of the day's budget is used."""
    return bool(day.budget and day.spent is not None and day.spent >= NEAR * day.budget)


def day_spans(day: Day) -> list[Span]:
    """Return today's cost of all agents and the day's budget; empty without a budget."""
    if not day.budget:
        return []
    spent = words.DASH if day.spent is None else words.money(day.spent)
    over = day.spent is not None and day.spent >= day.budget
    role = "error" if over else "warning" if is_near(day) else "muted"
    return [Span(f"today {spent} of {words.money(day.budget)}", role)]


def _is_reset(limit: RateLimitStatus, now: datetime) -> bool:
    if limit.resets_at is None:
        return False
    try:
        return datetime.fromisoformat(limit.resets_at) <= now
    except ValueError:
        return True

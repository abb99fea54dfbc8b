"""An agent's row as text: untrusted text made safe, numbers formatted."""

from __future__ import annotations

from datetime import datetime

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.cost import over_budget, shown_cost
from cockpit.tui.present.states import Look, group_of, last_known, look_of
from cockpit.tui.present.trend import trend
from cockpit.wire.status import AgentStatus, ContextStatus, Needs

STALE_AFTER = 120.0
"""Seconds after which a working agent's token count is shown as stale."""

USING = frozenset({"working", "needs_you", "handing_off"})
"""States in which an agent fills its context, so that the number of turns left can change."""
ENDED = frozenset({"done", "stopped", "exited"})
"""States of agents that do nothing any more; the row does not show their last activity."""


@dataclass(frozen=True, slots=True)
class Row:
    """The contents of an agent's row. Equal rows look the same and are not redrawn."""

    name: str
    look: Look
    context: ContextStatus
    stale: bool
    absent: bool
    """Whether the agent is stopped and has no token count; the row then shows no context."""
    tokens: str
    percent: str
    band: str
    """The band's name; empty for the band `calm`."""
    trend: str
    """A sparkline of the session's token counts; empty for fewer than two counts."""
    turns: str
    """The turns left, such as `6 left`, or the age of a stale token count; may be empty."""
    chain: str
    state: str
    """The state's word; empty if the group's heading has the same word."""
    activity: str
    age: str
    cost: str
    over_budget: bool = False
    """Whether the cost has reached the job's budget."""
    lost: bool = False
    """Whether the agent's host does not answer, so that all values are old."""


def row_of(agent: AgentStatus, *, heard_seconds: float, now: datetime, lost: bool = False) -> Row:
    """Return the row of an agent whose status arrived `heard_seconds` ago; `now` is UTC.

    `lost`: the agent's host does not answer, so all values are marked as stale.
    """
    context = agent.context
    known = context.age_seconds
    age = None if known is None else known + heard_seconds
    busy = agent.state in {"working", "handing_off"}
    stale = lost or (busy and age is not None and age > STALE_AFTER)
    absent = agent.state == "stopped" and context.tokens is None
    return Row(
        name=safe_line(agent.name, LONGEST_NAME),
        look=last_known(look_of(agent)) if lost else look_of(agent),
        # The age would change the row all the time; `stale` and `turns` show it.
        context=context.model_copy(update={"age_seconds": None}),
        stale=stale,
        absent=absent,
        tokens="" if absent else _tokens(context),
        percent="" if absent else _percent(context),
        band="" if absent else _band(context),
        trend=trend(context.trend, context.window),
        turns=_old(heard_seconds if age is None else age) if stale else _turns(agent),
        chain=_chain(agent),
        state=_state(agent),
        activity=_doing(agent, now),
        age=age_of(agent, now),
        cost=cost_of(agent),
        over_budget=agent.over_budget,
        lost=lost,
    )


def age_of(agent: AgentStatus, now: datetime) -> str:
    """Return the time since the agent's last activity; empty if unknown."""
    seconds = words.seconds_since(agent.last_activity_at, now)
    return "" if seconds is None else words.age(seconds)


def cost_of(agent: AgentStatus) -> str:
    """Return the formatted cost of the job, else of the session; empty if unknown."""
    cost = shown_cost(agent)
    return "" if cost is None else words.money(cost)


def _state(agent: AgentStatus) -> str:
    word = look_of(agent).word
    return "" if word == group_of(agent).title else word


def _doing(agent: AgentStatus, now: datetime) -> str:
    """Return the text of the activity column.

    An agent's need comes first. Otherwise, if the agent is snoozed, over budget or active, these
    facts are joined with the warning. Else returns the note, or the warning if there is no note.
    """
    if agent.needs:
        return safe_line(" ".join(_waits_for(agent, agent.needs, now).split()), 200)
    activity = None if agent.state in ENDED else agent.activity
    known = (words.snoozed(agent.handoff), over_budget(agent), agent.warning, activity)
    if activity or known[0] or known[1]:
        return safe_line("; ".join(filter(None, known)), 200)
    text = safe_line(agent.note or agent.warning or "", 200)
    # The state's word is already shown before this text.
    return text.removeprefix(f"{_state(agent)} ") if _state(agent) else text


def _waits_for(agent: AgentStatus, needs: Needs, now: datetime) -> str:
    """Return a short text for a need. The kind is left out: the state column shows it."""
    if needs.tool:
        return f"{needs.tool} {needs.command or ''}"
    if needs.kind == "usage_limit" and needs.resets_at:
        return f"until {words.until(needs.resets_at, now)}"
    if needs.kind == "review":
        not_found = agent.handoff.not_found if agent.handoff else None
        return f"✗ {not_found}" if not_found else "document ready"
    return needs.due or needs.detail


def _old(seconds: float) -> str:
    age = words.age(seconds)
    return "old" if age == "now" else f"{age} old"


def _tokens(context: ContextStatus) -> str:
    if context.tokens is None:
        return f"{context.tool_calls} calls" if context.tool_calls is not None else words.DASH
    guess = "~" if context.confidence == "assumed" else ""
    return f"{words.tokens(context.tokens)}/{guess}{words.tokens(context.window)}"


def _percent(context: ContextStatus) -> str:
    if context.tokens is None or not context.window:
        return words.DASH
    guess = "~" if context.confidence == "assumed" else ""
    return guess + words.percent(context.tokens / context.window)


def _band(context: ContextStatus) -> str:
    return "" if context.band == "calm" else context.band


def _turns(agent: AgentStatus) -> str:
    """Return the turns until the act threshold or, above it, until the CLI compacts.

    Empty if unknown, and for an agent that is not filling its context.
    """
    left = agent.context.turns_left
    return f"{left} left" if left is not None and agent.state in USING else ""


def session_words(chain: str) -> str:
    """Expand a row's `2/4` to `session 2 (max 4)`, because 4 is a maximum, not a plan."""
    number, _, most = chain.partition("/")
    return f"session {number}" if most == "…" else f"session {number} (max {most})"


def _chain(agent: AgentStatus) -> str:
    """Return `2/4` for the second of at most four sessions.

    Returns `5/…` for a session beyond the maximum: cockpit asks before each further handoff. With
    `max_per_job = 0` it asks before every handoff, so the first session is `1/1`. Empty without a
    session.
    """
    if agent.session_number is None:
        return ""
    most = agent.max_handoffs + 1
    return f"{agent.session_number}/{most if agent.session_number <= most else '…'}"

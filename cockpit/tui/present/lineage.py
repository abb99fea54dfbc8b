"""The chain of a job as lines: each session's tokens, document, cost and outcome.

Built from `cockpit history --json`, and from the agent's row for the live session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len

from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.span import Span, fit, merged
from cockpit.wire.status import AgentStatus

GAP = "  "
_WRITERS = {"agent": "agent wrote it", "sdk": "a fork wrote it", "facts": "from facts"}
_OUTCOMES = {
    "handed_off": ("completed", "state-done"),
    "undone": ("undone", "muted"),
    "undoing": ("being undone", "muted"),
    "ended": ("ended", "muted"),
    "live": ("now", "state-working"),
}
_NOT_REPLACED = {
    "refused": ("refused", "muted"),
    "cancelled": ("cancelled", "muted"),
    "revived": ("reopened", "state-failed"),
    "failed": ("failed", "state-failed"),
}
"""The outcome of a handoff that did not end its session."""


@dataclass(frozen=True, slots=True)
class Link:
    """One session of the chain, as text."""

    session: str
    number: str
    tokens: str
    """Its tokens at the end, and those of its successor at the start."""
    writer: str
    cost: str
    lasted: str
    outcome: str
    role: str
    handoff: str | None
    """The handoff whose document it left; None if it left none."""


def chain_of(
    history: Sequence[Mapping[str, Any]], agent: AgentStatus | None
) -> list[Mapping[str, Any]]:
    """The sessions of the agent's job, in order; empty if the job is unknown."""
    for chain in reversed(history):
        if agent is not None and chain.get("job") == agent.job:
            return list(chain.get("sessions") or ())
    return []


def links(sessions: Sequence[Mapping[str, Any]], agent: AgentStatus | None) -> list[Link]:
    """One line per session; the live one is updated from the agent's row."""
    return [_link(each, then, agent) for each, then in zip_longest(sessions, sessions[1:])]


def _link(
    session: Mapping[str, Any], then: Mapping[str, Any] | None, agent: AgentStatus | None
) -> Link:
    ident = str(session.get("id"))
    live = agent if agent is not None and agent.session_id == ident else None
    held = live.context.tokens if live else session.get("tokens")
    cost = live.cost_usd if live else session.get("cost_usd")
    state = "live" if live else str(session.get("state"))
    handoff_outcome = session.get("outcome")
    outcome, role = _OUTCOMES.get(state, (safe_line(state, 16), "muted"))
    if state in {"live", "ended"} and handoff_outcome in _NOT_REPLACED:
        text, _ = _NOT_REPLACED[handoff_outcome]
        outcome = f"{outcome}, handoff {text}"
    start = _tokens_at_start(session, then) if then else None
    compacted = session.get("compactions") if live is None else live.compactions
    handoff = session.get("handoff")
    return Link(
        session=ident,
        number=f"#{session.get('number', '?')}",
        tokens=words.tokens(held)
        if then is None
        else f"{words.tokens(held)} → {words.tokens(start)}",
        writer=_WRITERS.get(str(session.get("writer")), "") if handoff else "",
        cost=words.money(cost),
        lasted=_lasted(session),
        outcome=", ".join(
            [outcome, *([counted(int(compacted), "compaction")] if compacted else [])]
        ),
        role=role,
        handoff=str(handoff) if handoff else None,
    )


def _tokens_at_start(session: Mapping[str, Any], then: Mapping[str, Any]) -> Any:
    """The successor's tokens at its start, from its record or from the confirmed handoff."""
    if then.get("tokens_at_start") is not None:
        return then["tokens_at_start"]
    after = [each.get("tokens_after") for each in session.get("handoffs") or ()]
    return next((tokens for tokens in reversed(after) if tokens is not None), None)


def _lasted(session: Mapping[str, Any]) -> str:
    """The session's duration; empty while it runs, so that an idle screen is not redrawn."""
    try:
        began = datetime.fromisoformat(str(session.get("started_at")))
        ended = datetime.fromisoformat(str(session.get("ended_at")))
    except ValueError:
        return ""
    return duration((ended - began).total_seconds())


def duration(seconds: float) -> str:
    """`40s`, `12m`, `1h12`, `3d4h`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    minutes = whole // 60
    if minutes < 60:
        return f"{minutes}m"
    hours = minutes // 60
    return f"{hours}h{minutes % 60:02}" if hours < 48 else f"{hours // 24}d{hours % 24}h"


_COLUMNS = ("number", "tokens", "writer", "cost", "lasted", "outcome")
_RIGHT = {"cost", "lasted"}
_DROP_ORDER = ("writer", "lasted", "cost")
"""In the order in which columns are dropped."""


def link_spans(link: Link, every: Sequence[Link], width: int) -> list[Span]:
    """One line of the chain, with column widths shared by all its lines."""
    widths = {key: max(cell_len(getattr(each, key)) for each in every) for key in _COLUMNS}
    for key in _DROP_ORDER:
        if _total(widths) > width:
            widths[key] = 0
    spans: list[Span] = []
    for key in _COLUMNS:
        if not widths[key]:
            continue
        role = {"number": "name", "outcome": link.role, "tokens": ""}.get(key, "muted")
        spans.append(Span(fit(getattr(link, key), widths[key], right=key in _RIGHT), role))
        spans.append(Span(GAP))
    used = sum(cell_len(span.text) for span in spans)
    return merged([*spans, Span(" " * max(0, width - used))])


def _total(widths: Mapping[str, int]) -> int:
    shown = [cells for cells in widths.values() if cells]
    return sum(shown) + len(GAP) * (len(shown) - 1)

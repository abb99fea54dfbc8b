"""The chain of a job as lines: each session's tokens, document, cost and outcome.

Built from the history, and for the live session from the agent's status.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import zip_longest

from rich.cells import cell_len

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.span import Span, fit, merged
from cockpit.wire.history import HistoryChain, HistorySession
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
"""The word and role for each outcome of a handoff that did not end the session."""


@dataclass(frozen=True, slots=True)
class Link:
    """One session of the chain, as text."""

    session: str
    number: str
    tokens: str
    """Tokens at the end of the session, and at the start of the next session."""
    writer: str
    cost: str
    lasted: str
    outcome: str
    role: str
    handoff: str | None
    """The handoff that wrote the session's document; None if there is no document."""


def chain_of(history: Sequence[HistoryChain], agent: AgentStatus | None) -> list[HistorySession]:
    """Return the sessions of the agent's job, in order; empty if the history does not have the
    job."""
    for chain in reversed(history):
        if agent is not None and chain.job == agent.job:
            return chain.sessions
    return []


def links(sessions: Sequence[HistorySession], agent: AgentStatus | None) -> list[Link]:
    """Return one `Link` per session; the live session's values come from the agent's status."""
    return [_link(session, then, agent) for session, then in zip_longest(sessions, sessions[1:])]


def _link(session: HistorySession, then: HistorySession | None, agent: AgentStatus | None) -> Link:
    live = agent if agent is not None and agent.session_id == session.id else None
    held = live.context.tokens if live else session.tokens
    cost = live.cost_usd if live else session.cost_usd
    state = "live" if live else session.state
    outcome, role = _OUTCOMES.get(state, (safe_line(state, 16), "muted"))
    if state in {"live", "ended"} and session.outcome in _NOT_REPLACED:
        text, _ = _NOT_REPLACED[session.outcome]
        outcome = f"{outcome}, handoff {text}"
    start = _tokens_at_start(session, then) if then else None
    compacted = session.compactions if live is None else live.compactions
    return Link(
        session=session.id,
        number=f"#{session.number}",
        tokens=words.tokens(held)
        if then is None
        else f"{words.tokens(held)} → {words.tokens(start)}",
        writer=_WRITERS.get(session.writer or "", "") if session.handoff else "",
        cost=words.money(cost),
        lasted=_session_duration(session),
        outcome=", ".join([outcome, *([counted(compacted, "compaction")] if compacted else [])]),
        role=role,
        handoff=session.handoff,
    )


def _tokens_at_start(session: HistorySession, then: HistorySession) -> int | None:
    """Return the tokens at the start of `then`, the session after `session`.

    The count comes from the record of `then`, else from a handoff of `session`.
    """
    if then.tokens_at_start is not None:
        return then.tokens_at_start
    after = [handoff.tokens_after for handoff in session.handoffs]
    return next((tokens for tokens in reversed(after) if tokens is not None), None)


def _session_duration(session: HistorySession) -> str:
    """Return the session's duration; empty if unknown.

    Also empty while the session runs, so that an idle screen is not redrawn.
    """
    try:
        began = datetime.fromisoformat(str(session.started_at))
        ended = datetime.fromisoformat(str(session.ended_at))
        return duration((ended - began).total_seconds())
    except (ValueError, TypeError):  # a time is missing, or only one has a time zone
        return ""


def duration(seconds: float) -> str:
    """Format a duration: `40s`, `12m`, `1h12`, `3d4h`."""
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
"""Columns that can be dropped from a narrow line, in this order."""


def link_spans(link: Link, every: Sequence[Link], width: int) -> list[Span]:
    """Return the line of a link. `every` is the whole chain, whose lines share column widths."""
    widths = {key: max(cell_len(getattr(other, key)) for other in every) for key in _COLUMNS}
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

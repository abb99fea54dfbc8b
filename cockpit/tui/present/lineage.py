"""The chain of a job as lines: what each session held, what it left, what became of it.

Made of what `cockpit history --json` says of the sessions, and of the agent's row for the one that
is live. Nothing is added up here that nobody counted.
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
_LEFT = {
    "refused": ("refused", "muted"),
    "cancelled": ("called off", "muted"),
    "revived": ("reopened", "state-failed"),
    "failed": ("failed", "state-failed"),
}
"""What became of a handoff that did not end its session."""


@dataclass(frozen=True, slots=True)
class Link:
    """One session of the chain, in words."""

    session: str
    number: str
    tokens: str
    """What it held at the end, and what its successor began with."""
    writer: str
    cost: str
    lasted: str
    outcome: str
    role: str
    handoff: str | None
    """Whose document it left; None if it left none."""


def chain_of(
    history: Sequence[Mapping[str, Any]], agent: AgentStatus | None
) -> list[Mapping[str, Any]]:
    """The sessions of the agent's job, in order; empty if nothing is known of it."""
    for chain in reversed(history):
        if agent is not None and chain.get("job") == agent.job:
            return list(chain.get("sessions") or ())
    return []


def links(sessions: Sequence[Mapping[str, Any]], agent: AgentStatus | None) -> list[Link]:
    """A line for each session; the one that is live has what the agent's row says now."""
    return [_link(each, then, agent) for each, then in zip_longest(sessions, sessions[1:])]


def _link(
    session: Mapping[str, Any], then: Mapping[str, Any] | None, agent: AgentStatus | None
) -> Link:
    ident = str(session.get("id"))
    live = agent if agent is not None and agent.session_id == ident else None
    held = live.context.tokens if live else session.get("tokens")
    cost = live.cost_usd if live else session.get("cost_usd")
    state = "live" if live else str(session.get("state"))
    left = session.get("outcome")
    outcome, role = _OUTCOMES.get(state, (safe_line(state, 16), "muted"))
    if state in {"live", "ended"} and left in _LEFT:
        said, _ = _LEFT[left]
        outcome = f"{outcome}, handoff {said}"
    begun = _begun(session, then) if then else None
    compacted = session.get("compactions") if live is None else live.compactions
    handoff = session.get("handoff")
    return Link(
        session=ident,
        number=f"#{session.get('number', '?')}",
        tokens=words.tokens(held)
        if then is None
        else f"{words.tokens(held)} → {words.tokens(begun)}",
        writer=_WRITERS.get(str(session.get("writer")), "") if handoff else "",
        cost=words.money(cost),
        lasted=_lasted(session),
        outcome=", ".join(
            [outcome, *([counted(int(compacted), "compaction")] if compacted else [])]
        ),
        role=role,
        handoff=str(handoff) if handoff else None,
    )


def _begun(session: Mapping[str, Any], then: Mapping[str, Any]) -> Any:
    """What the successor began with, by its own word or that of the handoff that was confirmed."""
    if then.get("tokens_at_start") is not None:
        return then["tokens_at_start"]
    told = [each.get("tokens_after") for each in session.get("handoffs") or ()]
    return next((tokens for tokens in reversed(told) if tokens is not None), None)


def _lasted(session: Mapping[str, Any]) -> str:
    """How long it was; nothing while it goes on, so that an idle screen need not be drawn."""
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
_GIVES_WAY = ("writer", "lasted", "cost")
"""First to go first."""


def link_spans(link: Link, every: Sequence[Link], width: int) -> list[Span]:
    """One line of the chain, in columns that all of its lines share."""
    widths = {key: max(cell_len(getattr(each, key)) for each in every) for key in _COLUMNS}
    for key in _GIVES_WAY:
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

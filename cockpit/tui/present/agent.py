"""The title line and tabs of the screen of one agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from rich.cells import cell_len

from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.safetext import safe_line
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.present.bar import context_bar
from cockpit.tui.present.cost import rate_spans
from cockpit.tui.present.keys import KeyHint, shown_key
from cockpit.tui.present.row import row_of, session_words
from cockpit.tui.present.span import Span, fit, merged
from cockpit.tui.present.states import last_known, look_of
from cockpit.wire.status import AgentStatus


class Section(NamedTuple):
    key: str
    title: str


SECTIONS = (
    Section("pane", "pane"),
    Section("course", "context"),
    Section("facts", "facts"),
    Section("diff", "diff"),
    Section("events", "events"),
)
"""The sections in the order of their number keys. The action `agent.pane` shows the section
`pane`."""

BAR = 20
MOST_LIMITS = 20
WRITING = ("Edit", "MultiEdit", "Write", "NotebookEdit", "Bash", "git")
"""The first words of activities after which files may have changed."""


def head(
    name: str,
    agent: AgentStatus | None,
    width: int,
    *,
    live: bool,
    lost: list[Span] | None = None,
    per_hour: str | None = None,
) -> list[Span]:
    """Return the title line in exactly `width` cells: name and state, then the values that fit.

    `per_hour` is the session's cost per hour; None if unknown. `lost` is the message that the
    agent's host does not answer. Empty or None if the host answers or if the screen shows only one
    host.
    """
    who = [Span(f" {safe_line(name, LONGEST_NAME)} ", "brand")]
    if agent is None:
        return _filled([*who, Span(" is no longer listed", "muted")], width)
    look = last_known(look_of(agent)) if lost else look_of(agent)
    who.append(Span(f" {look.glyph} {look.word} ", f"state-{look.role}"))
    if lost:
        who += lost[:1]
    elif not live:
        who.append(Span(" supervisor unreachable ", "error"))
    parts = [[Span(" "), *part] for part in _parts(agent, per_hour) if part]
    for part in parts:
        if _length(who) + _length(part) > width:
            break
        who += part
    return _filled(who, width)


def _parts(agent: AgentStatus, per_hour: str | None) -> list[list[Span]]:
    row = row_of(agent, heard_seconds=0.0, now=datetime.now(UTC))
    context = agent.context
    bar = context_bar(context, BAR) if not row.absent else []
    number = [Span(f" {row.tokens} ", "tokens"), Span(row.percent, f"band-{context.band}")]
    band = [Span(context.band, f"band-{context.band}")] if row.band else []
    return [
        [*bar, *number] if bar else [],
        band,
        [Span(f"{row.turns} ", "turns")] if row.turns else [],
        [Span(f"{session_words(row.chain)} ", "chain")] if row.chain else [],
        [Span(f"{row.cost} ", "warning" if row.over_budget else "cost")] if row.cost else [],
        [Span(f"{per_hour} ", "cost")] if per_hour else [],
        [*rates, Span(" ")] if (rates := rate_spans(agent, datetime.now(UTC))) else [],
        [Span(f"{safe_line(agent.model or agent.runtime, 40)} ", "muted")],
        [Span(f"{agent.mode} ", "muted")],
        [Span(f"{safe_line(agent.branch, 60)} ", "muted")] if agent.branch else [],
    ]


def tabs(here: str, keymap: Mapping[str, str], width: int) -> tuple[list[Span], list[KeyHint]]:
    """Return the line of sections with their keys, and the clickable columns of each section."""
    spans, hints, column = [Span(" ")], [], 1
    for section in SECTIONS:
        action = BY_ID[f"agent.{section.key}"]
        key = shown_key(action, keymap)
        cells = cell_len(key) + 1 + cell_len(section.title)
        if column + cells > width:
            break
        chosen = section.key == here
        spans += [
            Span(key, "key"),
            Span(f" {section.title}", "tab-here" if chosen else "muted"),
            Span("   "),
        ]
        hints.append(KeyHint(action.id, column, column + cells))
        column += cells + 3
    used = _length(spans)
    return merged([*spans, Span(" " * max(0, width - used))]), hints


def limit_spans(limits: Sequence[str], runtime: str) -> list[Span]:
    """Return a line with `limits`, the features that the agent's CLI does not support.

    Empty if there are no limits.
    """
    if not limits:
        return []
    text = "; ".join(safe_line(limit, 200) for limit in limits[:MOST_LIMITS])
    return [
        Span(" "),
        Span(f"Not possible with {safe_line(runtime, 40)}:", "title"),
        Span(text, "muted"),
    ]


def after(here: str, steps: int) -> str:
    """Return the key of the section `steps` after `here`, cyclically."""
    keys = [section.key for section in SECTIONS]
    return keys[(keys.index(here) + steps) % len(keys)]


def files_may_differ(before: AgentStatus | None, now: AgentStatus | None) -> bool:
    """Return whether files may have changed: a writing tool ran, or a turn or session ended.

    Also True if the agent was added or removed. The activity of a tool can appear before the tool
    has finished, so the end of the activity counts too.
    """
    if before is None or now is None:
        return before is not now
    if before.session_id != now.session_id:
        return True
    if before.activity == now.activity and before.state == now.state:
        return False
    activities = (before.activity or "", now.activity or "")
    wrote = any(activity.split(" ", 1)[0] in WRITING for activity in activities)
    return wrote or (before.state == "working" and now.state != "working")


def _filled(spans: Sequence[Span], width: int) -> list[Span]:
    used = _length(spans)
    if used > width:
        return [Span(fit("".join(span.text for span in spans), width), "brand")]
    return merged([*spans, Span(" " * (width - used))])


def _length(spans: Sequence[Span]) -> int:
    return sum(cell_len(span.text) for span in spans)

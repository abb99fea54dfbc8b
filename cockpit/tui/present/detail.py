"""The selected agent in a line or two: who it is, and what it wants with the keys for it."""

from __future__ import annotations

from rich.cells import cell_len

from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.paths import short_path
from cockpit.tui.present.span import Span, fit, merged
from cockpit.tui.present.states import look_of
from cockpit.wire.status import AgentStatus


def rule(agent: AgentStatus | None, width: int, home: str = "") -> list[Span]:
    """A line across, with what does not change from minute to minute; no part of it is cut."""
    if agent is None:
        return [Span("─" * width, "rule")]
    name = f" {safe_line(agent.name, LONGEST_NAME)} "
    parts, room = _about(agent, home), width - 3 - cell_len(name)
    while parts and cell_len("  ".join(parts)) >= room:
        parts.pop()
    about = f"{'  '.join(parts)} " if parts else ""
    spans = [Span("──", "rule"), Span(name, "name"), Span(about, "muted")]
    used = sum(cell_len(span.text) for span in spans)
    if used > width:
        return [Span(fit(name.strip(), width), "name")]
    return merged([*spans, Span("─" * max(0, width - used), "rule")])


def _about(agent: AgentStatus, home: str) -> list[str]:
    place = short_path(agent.worktree or agent.directory, home)
    said = (agent.model or agent.runtime, agent.mode, agent.branch, place)
    return [safe_line(part, 120) for part in said if part]


def reason(agent: AgentStatus | None, *, named: bool = True) -> list[Span]:
    """What stands between the agent and its work; empty when nothing does.

    Without `named` only the sentence, for where its state stands just above.
    """
    if agent is None:
        return []
    look = look_of(agent)
    if agent.needs:
        said = safe_line(agent.needs.detail, 400).removeprefix(f"{look.word} ")
    elif agent.handoff:
        said = safe_line(agent.handoff.detail or _phase(agent), 400)
    else:
        said = safe_line(agent.note or "", 400)
        return [Span(" "), Span(said, "muted")] if said else []
    state = Span(f" {look.glyph} {look.word}  ", f"state-{look.role}")
    return [state if named else Span(" "), Span(said)]


def _phase(agent: AgentStatus) -> str:
    handoff = agent.handoff
    assert handoff is not None  # only asked where there is one
    return {
        "asked": "Hand off?",
        "waiting": "Waits for the end of the step in hand.",
        "documenting": "The document is being written.",
        "review": "The document waits for you.",
        "stopping": "The old session is being ended.",
        "starting": "The new session is being started.",
        "confirming": "Waits until the new session has read the document.",
    }[handoff.phase]


def reading(agent: AgentStatus) -> str:
    """Where the number comes from, in words: for the screen reader and the help."""
    context = agent.context
    if context.tokens is None:
        return "No reading yet."
    source = {"statusline": "the status line", "transcript": "the transcript"}
    parts = [
        f"{context.tokens:,} of {context.window:,} tokens" if context.window else "",
        f"from {source[context.source]}" if context.source else "",
        f"window {context.confidence}",
        f"compacts at {words.tokens(context.compacts_at)}" if context.compacts_at else "",
    ]
    return ", ".join(part for part in parts if part) + "."

"""The line above the pane that names the agent, and why the selected agent waits."""

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
    """Return a line with the agent's name, model, mode, branch and path; no part is cut."""
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
    """Return why the agent waits; empty if the agent does not wait.

    Without `named`, returns only the sentence, for use below a line that shows the state.
    """
    if agent is None:
        return []
    look = look_of(agent)
    if agent.needs:
        said = safe_line(agent.needs.detail, 400).removeprefix(f"{look.word} ")
    elif snoozed := words.snoozed(agent.handoff):
        said = f"{_phase(agent).rstrip('.')} ({snoozed})."
    elif agent.handoff:
        said = safe_line(agent.handoff.detail or _phase(agent), 400)
    else:
        said = safe_line(agent.note or "", 400)
        return [Span(" "), Span(said, "muted")] if said else []
    state = Span(f" {look.glyph} {look.word}  ", f"state-{look.role}")
    return [state if named else Span(" "), Span(said)]


def _phase(agent: AgentStatus) -> str:
    handoff = agent.handoff
    assert handoff is not None  # only called during a handoff
    return {
        "asked": "Hand off?",
        "waiting": "Waiting for the current step to finish.",
        "documenting": "Writing the document.",
        "review": "The document is ready for review.",
        "stopping": "Ending the old session.",
        "starting": "Starting the new session.",
        "confirming": "Waiting for the new session to read the document.",
    }[handoff.phase]

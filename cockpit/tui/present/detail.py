"""The line above the pane that names the agent, and the reason why the agent waits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.cells import cell_len

from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.cost import rate_spans
from cockpit.tui.present.paths import short_path
from cockpit.tui.present.row import row_of, session_words
from cockpit.tui.present.span import Span, fit, merged
from cockpit.tui.present.states import look_of
from cockpit.wire.status import AgentStatus


def rule(
    agent: AgentStatus | None, width: int, home: str = "", *, framed: bool = False
) -> list[Span]:
    """Return a rule with the agent's name, context, session, model, mode, branch and path.

    Parts that do not fit are left out. Without an agent, returns the rule without text. With
    `framed`, the rule is the top of a frame.
    """
    left, right = ("╭─", "╮") if framed else ("──", "─")
    if agent is None:
        return [Span(left + "─" * (width - 3) + right if width > 3 else "─" * width, "rule")]
    spans = [Span(left, "rule"), Span(f" {safe_line(agent.name, LONGEST_NAME)} ", "name")]
    room = width - 1
    if _length(spans) > width:
        return [Span(fit(spans[1].text.strip(), width), "name")]
    for part in _about(agent, home):
        if _length(spans) + _length(part) + 1 > room:
            break
        spans += [*part[:-1], part[-1]._replace(text=f"{part[-1].text}  ")]
    if spans[-1].text.endswith("  "):
        spans[-1] = spans[-1]._replace(text=spans[-1].text[:-1])
    used = _length(spans)
    return merged([*spans, Span("─" * max(0, width - used - 1) + right[: width - used], "rule")])


def _length(spans: Sequence[Span]) -> int:
    return sum(cell_len(span.text) for span in spans)


def _about(agent: AgentStatus, home: str) -> list[list[Span]]:
    row = row_of(agent, heard_seconds=0.0, now=datetime.now(UTC))
    band = f"band-{agent.context.band}"
    tokens = row.tokens.replace(" calls", " tool calls")
    reading = [Span(tokens, "tokens" if agent.context.tokens is not None else "muted")]
    if row.band and row.band != "unknown":
        reading.append(Span(f" {row.band}", band))
    place = short_path(agent.worktree or agent.directory, home)
    facts = (agent.model or agent.runtime, agent.mode, agent.branch, place)
    numbers = [
        reading if row.tokens else [],
        [Span(row.trend, "trend")] if row.trend else [],
        [Span(_turns_left(row.turns))] if row.turns and not row.stale else [],
        rate_spans(agent, datetime.now(UTC)),
        [Span(session_words(row.chain), "muted")] if row.chain else [],
    ]
    return [part for part in numbers if part] + [
        [Span(safe_line(part, 120), "muted")] for part in facts if part
    ]


def _turns_left(turns: str) -> str:
    """Expand a row's turns for the title: `6 left` becomes `6 turns left`."""
    return turns.replace("left", "turn left" if turns.startswith("1 ") else "turns left")


def reason(agent: AgentStatus | None, *, named: bool = True) -> list[Span]:
    """Return why the agent waits, else the state of its handoff, else its note; may be empty.

    With `named`, the agent's state comes before the reason; not needed below a line that shows the
    state.
    """
    if agent is None:
        return []
    look = look_of(agent)
    if agent.needs:
        text = safe_line(agent.needs.detail, 400).removeprefix(f"{look.word} ")
    elif snoozed := words.snoozed(agent.handoff):
        text = f"{_phase(agent).rstrip('.')} ({snoozed})."
    elif agent.handoff:
        text = safe_line(agent.handoff.detail or _phase(agent), 400)
    else:
        text = safe_line(agent.note or "", 400)
        return [Span(" "), Span(text, "muted")] if text else []
    state = Span(f" {look.glyph} {look.word}  ", f"state-{look.role}")
    return [state if named else Span(" "), Span(text)]


def _phase(agent: AgentStatus) -> str:
    handoff = agent.handoff
    assert handoff is not None  # only called during a handoff
    return {
        "asked": "Hand off?",
        "waiting": "Waiting for the current step to finish.",
        "documenting": "Writing the document.",
        "review": "The document is ready for review.",
        "moving": "Moving the job to another machine.",
        "stopping": "Ending the old session.",
        "starting": "Starting the new session.",
        "confirming": "Waiting for the new session to read the document.",
    }[handoff.phase]

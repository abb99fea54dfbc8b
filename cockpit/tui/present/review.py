"""The lines above a document: agent, verified facts and question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len

from cockpit.core.checked_claims import CheckedDocument
from cockpit.core.errors import CockpitError
from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.front_matter import FrontMatter
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.span import Span, fit
from cockpit.wire.status import AgentStatus

_REASONS = {
    "threshold": "its context is filling",
    "limit": "its session reached its limit",
    "manual": "you requested it",
    "agent": "the agent requested it",
    "compaction": "no more compactions are allowed",
    "loop": "its session ended",
}
WRITERS = {"agent": "the agent", "sdk": "a fork of the session", "facts": "cockpit, from facts"}


def title_spans(agent: AgentStatus | None, width: int, waiting: Sequence[str] = ()) -> list[Span]:
    """Return the title: agent, reason of the handoff, and position among the waiting handoffs."""
    if agent is None or agent.handoff is None:
        return [Span(" " * width)]
    title = " Hand off? " if agent.handoff.phase == "asked" else " Handoff "
    text = f"because {_REASONS[agent.handoff.reason]}"
    place = ""
    if len(waiting) > 1 and agent.name in waiting:
        place = f"{waiting.index(agent.name) + 1} of {len(waiting)} "
    room = width - len(title) - len(place)
    who = safe_line(agent.name, min(LONGEST_NAME, max(32, room)))
    room -= len(who)
    return [
        Span(title, "brand"),
        Span(who, "name"),
        Span(fit(f"  {text}", max(0, room)), "muted"),
        Span(place, "group-needs"),
    ]


def facts_line(
    front: FrontMatter | None,
    width: int,
    checked: CheckedDocument | None = None,
    missing: str = "",
) -> list[Span]:
    """Return the result of checking the agent's claims, and the facts from the front matter.

    Wrong claims come first, then `missing`, the count of missing points; both in the error colour.
    """
    if front is None:
        return [Span(fit(" not verified: no front matter yet", width), "muted")]
    wrong = ", ".join(filter(None, (checked.problems if checked else "", missing)))
    problems = f" {wrong}" if wrong else ""
    parts = [
        checked.others if checked else "",
        f"by {WRITERS.get(front.writer, front.writer)}",
        f"{words.tokens(front.tokens)} of {words.tokens(front.window)} tokens"
        if front.tokens is not None
        else "",
        f"on {front.branch}" if front.branch else "",
        f"at {front.head_commit[:8]}" if front.head_commit else "",
        f"{counted(front.redactions, 'secret')} redacted" if front.redactions else "",
        f"session {front.number}",
    ]
    text = " · ".join(safe_line(part, 120) for part in parts if part)
    room = max(0, width - cell_len(problems))
    return [
        *([Span(fit(problems, min(width, cell_len(problems))), "error")] if problems else []),
        Span(fit(f" · {text}" if problems else f" {text}", room), "muted"),
    ]


def question_spans(agent: AgentStatus | None) -> list[Span]:
    """Return the question and the effect of approving; without a question, the handoff's state."""
    if agent is None or agent.handoff is None:
        return []
    phase = agent.handoff.phase
    snoozed = words.snoozed(agent.handoff)
    until = f"{snoozed.capitalize()}. " if snoozed else ""
    if phase == "asked":
        return [
            Span(" ◆ ", "state-needs"),
            Span(until, "muted"),
            Span(
                "The agent has not been asked yet. The draft below has only facts from cockpit. "
                "Approving asks the agent to write the document; you review it before anything "
                "ends."
            ),
        ]
    if phase == "review":
        other = agent.handoff.to
        new = f"a session of {safe_line(other, 32)}" if other else "a new one"
        host = agent.handoff.host
        where = f"on {safe_line(host, 32)}" if host else "in the same worktree"
        return [
            Span(" ◆ ", "state-needs"),
            Span(until, "muted"),
            Span(
                f"Approving ends this session and starts {new} {where}, which reads this document "
                "first."
            ),
        ]
    return [Span(" » ", "state-handing"), Span(safe_line(agent.handoff.detail or phase, 400))]


def without_title(body: str) -> str:
    """Return the document without the leading `# Handoff`: the screen already has a title."""
    return re.sub(r"\A\s*# +Handoff *\n", "\n", body)


def refusal_spans(error: CockpitError, edit: str, refuse: str) -> list[Span]:
    """Return why the document was refused, and the keys to continue."""
    reasons = safe_line(" ".join(error.detail.splitlines()), 1000)
    return [
        Span(" ✗ ", "error"),
        Span(f"{safe_line(error.title, 200)}.", "error"),
        Span(reasons),
        Span(f"Press {edit} to edit the document, or {refuse} to refuse.", "warning"),
    ]


def with_continuation(body: str, continuation: str) -> str:
    """Return the document followed by the quoted continuation, if there is one.

    The new session starts with both the document and the continuation.
    """
    if not continuation:
        return body
    quoted = "\n".join(f"> {line}".rstrip() for line in continuation.splitlines())
    title = "## Prompt of the New Session"
    return f"{body.rstrip()}\n\n---\n\n{title}\n\n{quoted}\n"

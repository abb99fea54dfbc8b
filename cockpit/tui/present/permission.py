"""The lines of an open dialog: the agent, the request, and the choices."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.cells import cell_len

from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.bar import context_bar
from cockpit.tui.present.fold import folded, worded
from cockpit.tui.present.span import Span, fit
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.status import AgentStatus

BAR = 16
"""Cells of the context bar."""
PIECE = 1000
"""Maximum characters passed to `folded` at once. With expanded tabs, a longer piece could exceed
the limit of `folded` and be cut."""
_DIFF_ROLES = {"+": "added", "-": "removed"}


def title_spans(
    agent: AgentStatus | None, width: int, waiting: Sequence[str], kind: str
) -> list[Span]:
    """Return the agent with its context bar, and its position among the waiting agents.

    `kind` is `question` or `permission`.
    """
    if agent is None:
        return [Span(" " * width)]
    used = agent.context.used
    percent = f" {used:.0%}" if used is not None else f" {words.DASH}"
    place = ""
    if len(waiting) > 1 and agent.name in waiting:
        place = f"{waiting.index(agent.name) + 1} of {len(waiting)} "
    head = " Question " if kind == "question" else " Permission "
    room = width - cell_len(head) - BAR - cell_len(percent) - cell_len(place)
    who = f"{safe_line(agent.name, min(LONGEST_NAME, max(32, room - 2)))}  "
    room -= cell_len(who)
    if room < 0:
        return [Span(head, "brand"), Span(fit(who, max(0, width - cell_len(head))), "name")]
    return [
        Span(head, "brand"),
        Span(who, "name"),
        *context_bar(agent.context, BAR),
        Span(percent, "muted"),
        Span(" " * room),
        Span(place, "group-needs"),
    ]


def request_lines(shown: DialogStatus, width: int) -> list[list[Span]]:
    """Return the dialog's request, wrapped: title, text, notice and question."""
    head = " ".join(filter(None, (shown.title or shown.tool, shown.subject)))
    asked_lines = shown.text.split("\n") if shown.text else []
    if shown.kind == "question" and not shown.subject:
        # The screen's title says "Question", and the options are shown as the choices.
        options = {f"- {choice.label}" for choice in shown.choices}
        head = ""
        asked_lines = [line for line in asked_lines if line.strip() not in options]
    title = [Span(f" {fit(safe_line(head, 300), max(0, width - 1)).rstrip()}", "name")]
    lines = [title, []] if head else [[]]
    for line in asked_lines:
        role = _role(line, is_file=shown.tool in {"Edit", "Write"})
        for start in range(0, max(1, len(line)), PIECE):
            piece = line[start : start + PIECE]
            lines += [[Span(f"  {part}", role)] for part in folded(piece, max(1, width - 3))]
    if shown.text:
        lines.append([])
    asked = "" if shown.text.startswith(shown.question) else shown.question
    for remark, role in ((shown.notice, "warning"), (asked, "")):
        if remark:
            lines += [[Span(f" {part}", role)] for part in worded(remark, max(1, width - 2))]
    return lines


def _role(line: str, *, is_file: bool) -> str:
    """Return the role of a line; in a file's diff, the sign may follow a line number."""
    if not is_file:
        return ""
    return _DIFF_ROLES.get(line.lstrip(" 0123456789")[:1], "")


def choice_lines(
    shown: DialogStatus,
    selected: int,
    checked: Collection[int],
    width: int,
    *,
    ready: bool,
    text_key: str,
) -> list[list[Span]]:
    """Return the dialog's choices, in the CLI's order. `ready`: whether a key may answer now.

    `text_key` is the key that adds the user's text to an answer; empty without a key.
    """
    adds = f"  · {text_key} adds text" if text_key else "  · takes text"
    lines: list[list[Span]] = []
    for place, choice in enumerate(shown.choices):
        mark = "❯" if place == selected else " "
        box = "" if choice.checked is None else "[✓] " if place in checked else "[ ] "
        takes = {"may": adds, "must": "  · needs text"}.get(choice.text, "")
        begin = f" {mark} {place + 1}. {box}"
        role = ("key" if place == selected else "") if ready else "muted"
        parts = worded(choice.label, max(1, width - cell_len(begin) - 1))
        for number, part in enumerate(parts):
            lead = begin if number == 0 else " " * cell_len(begin)
            lines.append([Span(f"{lead}{part}", role)])
        if cell_len(begin + parts[-1] + takes) < width and takes:
            lines[-1].append(Span(takes, "muted"))
        notes = worded(choice.note, max(1, width - 7)) if choice.note else ()
        lines += [[Span(f"      {part}", "muted")] for part in notes]
    return lines


def refusal_lines(agent: AgentStatus | None, why: str, width: int, key: str) -> list[list[Span]]:
    """Return why the dialog cannot be answered here, the next step, and the agent's request."""
    text = f"This dialog cannot be answered from here: {why.rstrip('.')}."
    lines = [[Span(f" {part}", "warning")] for part in worded(text, max(1, width - 2))]
    lines.append([Span(f" Press {key} to answer in the agent's pane.")])
    needs = agent.needs if agent else None
    if needs is not None:
        known = needs.command or needs.detail
        lines += [[], [Span(f" {safe_line(needs.tool or 'The agent asks', 60)}", "name")]]
        for line in known.split("\n"):
            lines += [[Span(f"  {part}")] for part in folded(line, max(1, width - 3))]
    return lines

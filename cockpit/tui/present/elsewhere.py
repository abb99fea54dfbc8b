"""Describe sessions that cockpit did not start, and the effects of adopting a session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from cockpit.core.safetext import safe_line
from cockpit.core.short_ids import short_session_id
from cockpit.tui.present import words
from cockpit.tui.present.bar import context_bar
from cockpit.tui.present.paths import short_path
from cockpit.tui.present.span import Span, broken, fit, fit_words, merged
from cockpit.tui.present.states import Look
from cockpit.wire.status import ElsewhereSession

Spans = list[Span]

BAR = 20
LEAST_BAR = 4
LABEL = 11
"""Width of a label together with the gap after the label."""
NARROW = 40
"""Width below which a label gets its own line."""
LONGEST = 600
_PROGRAMS = {"claude": "Claude Code"}
_LOOKS = {
    "busy": Look("●", "working", "working"),
    "idle": Look("○", "idle", "idle"),
    "waiting": Look("◆", "waiting for you", "needs"),
    "unknown": Look("?", "unknown", "muted"),
}
WATCHED = "you are notified once when the context passes the act threshold"
NOTHING_LOST = "the conversation, the directory and all files"
ABOUT = (
    "Sessions that you started outside cockpit: in another terminal, an editor or another tmux.",
    "cockpit only reads them. Open the list to see how full each context is, or to adopt a session "
    "as an agent.",
)


def about_elsewhere(width: int) -> list[Spans]:
    """Return an explanation of the sessions that cockpit did not start, to show while their line in
    the list of agents is selected."""
    lines: list[Spans] = []
    for paragraph in ABOUT:
        lines += [[Span(f"  {piece}")] for piece in broken(paragraph, max(1, width - 4))]
        lines.append([])
    return lines


def short_id(session: ElsewhereSession) -> str:
    """Return the first characters of the session's own id, without its host."""
    return safe_line(short_session_id(session.session_id.rpartition("/")[2]))


def drawn(
    session: ElsewhereSession, now: datetime, width: int, progress: str = "", home: str = ""
) -> list[Spans]:
    """Return a session's entry in the list: three lines, more for a wrapped path or for `progress`.

    `progress` describes a running request about the session; empty without one. `now` is UTC.
    """
    lines = [[Span(f" {piece}", "name")] for piece in broken(_place(session, home), _room(width))]
    lines.append(_state_line(session, width))
    brief = f"{'watched: ' if session.watched else ''}{_brief(session, now)}"
    lines.append([Span(f"   {fit_words(brief, max(1, width - 3))}", "muted")])
    if progress:
        lines += [[Span(f"   {piece}", "accent")] for piece in broken(progress, max(1, width - 3))]
    return [_cut(line, width) for line in lines]


def detail(
    session: ElsewhereSession,
    now: datetime,
    width: int,
    home: str = "",
    progress: Sequence[Span] = (),
    key: str = "a",
) -> list[Spans]:
    """Return all facts about a session, and the effects of adopting the session.

    `progress` is the progress or the refusal of a request; `key` is the key that adopts the
    session. `now` is UTC.
    """
    goal = safe_line(session.goal or "", LONGEST)
    lines: list[Spans] = [
        [Span(f" {piece}", "name" if goal else "muted")]
        for piece in broken(goal or "No prompt found in its transcript.", _room(width))
    ]
    lines.append([])
    for label, text in _known(session, now, home):
        lines += _labelled(label, [Span(safe_line(text, LONGEST))], width)
    look = _LOOKS[session.status]
    state = Span(f"{look.glyph} {look.word}", f"state-{look.role}")
    since = words.seconds_since(session.changed_at, now)
    about = safe_line(session.waiting_for or "", 80) if session.status == "waiting" else ""
    after = ", ".join(filter(None, (about, _lasting(since))))
    before = ": " if about else " "
    lines += _labelled("state", [state, Span(f"{before}{after}" if after else "")], width)
    lines += _context_lines(session, now, width)
    if session.watched:
        lines += _labelled("watched", [Span(WATCHED)], width)
    lines.append([])
    if progress:
        lines += [[Span(f" {piece}", span.role)] for span in progress
                  for piece in broken(safe_line(span.text, LONGEST), _room(width))]  # fmt: skip
    elif session.refusal:
        lines.append([Span(" This session cannot be adopted now:", "name")])
        lines += [[Span(f" {piece}", "")] for piece in broken(safe_line(session.refusal, LONGEST),
                                                              _room(width))]  # fmt: skip
    else:
        lines.append([Span(f" {key} ", "key"), Span("adopts this session:", "title")])
        for label, text in what_adopting_does(session):
            lines += _labelled(label, [Span(text)], width)
    return [_cut(line, width) for line in lines]


def what_adopting_does(session: ElsewhereSession) -> list[tuple[str, str]]:
    """Return the effects of adopting a session, each with a label."""
    lost = "its environment variables and command-line options, such as --model"
    rows = [
        ("ends", f"process {session.pid}.{_interrupted(session)}"),
        ("keeps", f"{NOTHING_LOST}."),
        ("starts", "a new agent in a pane of cockpit, in the same directory, with this session."),
        ("drops", f"{lost}."),
    ]
    where = _terminal(session)
    if where:
        rows.append(("notice", f"{where} shows where the session went."))
    return [(label, safe_line(text, LONGEST)) for label, text in rows]


def question(session: ElsewhereSession) -> str:
    """Return the confirmation text for adopting a session, with the effects."""
    where = _terminal(session)
    there = f" in {where}" if where else ""
    after = " The terminal then shows where the session went." if where else ""
    return safe_line(
        f"This ends process {session.pid}{there}.{_interrupted(session)} The "
        "session reopens as a new agent in a pane of cockpit, in the same directory, with its "
        f"whole conversation. Files are not touched.{after}",
        400,
    )


def document_question(session: ElsewhereSession) -> str:
    """Return the confirmation text for writing a handoff document, with the cost."""
    context = session.context
    known = f" ({words.tokens(context.tokens)} tokens)" if context.tokens is not None else ""
    return safe_line(
        "A copy of the session writes its handoff document. This costs one request with the whole "
        f"context{known}. The session itself is only read and continues. The document is saved in "
        "the session's directory.",
        400,
    )


def refused(title: str, more: str, hint: str) -> list[Span]:
    """Format the error of a request about a session."""
    lines = [title, *more.splitlines(), hint]
    return [Span(line, "error" if not at else "") for at, line in enumerate(lines) if line]


def _interrupted(session: ElsewhereSession) -> str:
    return {
        "busy": " The session is working: its turn is interrupted.",
        "waiting": " The session is waiting for you: its question will not be answered.",
        "unknown": " The session may be busy: a turn in progress is interrupted.",
    }.get(session.status, "")


def _terminal(session: ElsewhereSession) -> str:
    """Return where the session runs: its tmux pane, else its terminal; empty if unknown."""
    if session.pane:
        return f"tmux pane {safe_line(session.pane, 40)}"
    return f"terminal {safe_line(session.terminal, 40)}" if session.terminal else ""


def _runs_in(session: ElsewhereSession) -> str:
    if not session.pane:
        return _terminal(session) or "no terminal"
    return (
        f"{_terminal(session)} of {session.tmux_socket}, terminal {session.terminal or 'unknown'}"
    )


def _place(session: ElsewhereSession, home: str) -> str:
    there = f"{safe_line(session.host, 32)}:" if session.host else ""
    return f"{there}{short_path(session.directory, '' if session.host else home)}"


def _brief(session: ElsewhereSession, now: datetime) -> str:
    """Return the session's goal; if the goal is unknown, facts that identify the session."""
    if session.goal:
        return safe_line(session.goal, 200)
    started = words.seconds_since(session.started_at, now)
    parts = (
        f"session {short_id(session)}",
        f"process {session.pid}",
        f"started {_ago(started)}" if started is not None else "",
    )
    return ", ".join(filter(None, parts))


def _known(session: ElsewhereSession, now: datetime, home: str) -> list[tuple[str, str]]:
    program = _PROGRAMS.get(session.runtime, session.runtime)
    kind = session.kind if session.kind not in (None, "interactive") else None
    started = words.seconds_since(session.started_at, now)
    process = f"{session.pid}, started {_ago(started)}" if started is not None else ""
    about = filter(None, (" ".join(filter(None, (program, session.version))), session.model, kind))
    return [
        ("CLI", ", ".join(about)),
        ("directory", _place(session, home)),
        ("runs in", _runs_in(session)),
        ("process", process or str(session.pid)),
        ("session", session.session_id.rpartition("/")[2]),
    ]


def _context_lines(session: ElsewhereSession, now: datetime, width: int) -> list[Spans]:
    context = session.context
    if context.tokens is None or not context.window:
        bar = context_bar(context, BAR)
        return _labelled("context", [*bar, Span(" unknown", "muted")], width) + _labelled(
            "", [Span("No reply found in its transcript.", "muted")], width
        )
    guess = "~" if context.confidence == "assumed" else ""
    numbers = f"{words.tokens(context.tokens)} of {guess}{words.tokens(context.window)}"
    spans = [
        *context_bar(context, max(0, min(BAR, width - LABEL - 8))),
        Span(f" {guess}{words.percent(context.used)}", f"band-{context.band}"),
    ]
    facts = [f"{numbers} tokens, {context.band}"]
    if guess:
        facts.append("the window is assumed")
    if context.age_seconds is not None:
        facts.append(f"last reply {_ago(context.age_seconds)}")
    if context.compacts_at is not None:
        estimate = " (estimate)" if context.compacts_at_source == "formula" else ""
        facts.append(f"compacts at {words.tokens(context.compacts_at)}{estimate}")
    return _labelled("context", spans, width) + _labelled(
        "", [Span("; ".join(facts), "muted")], width
    )


def _ago(seconds: float) -> str:
    age = words.age(seconds)
    return "just now" if age == "now" else f"{age} ago"


def _lasting(seconds: float | None) -> str:
    """Format a duration as `for 5m`; empty for less than a minute."""
    age = words.age(seconds)
    return "" if seconds is None or age == "now" else f"for {age}"


def _state_line(session: ElsewhereSession, width: int) -> Spans:
    look, context = _LOOKS[session.status], session.context
    guess = "~" if context.confidence == "assumed" else ""
    known = context.tokens is not None
    reading = f" {guess}{words.percent(context.used)}" if known else " context unknown"
    state = f"   {look.glyph} {look.word}  "
    room = min(BAR, width - cell_len(state) - cell_len(reading))
    bar = context_bar(context, room) if room >= LEAST_BAR else []
    return merged(
        [
            Span(state, f"state-{look.role}"),
            *bar,
            Span(reading, f"band-{context.band}" if known else "muted"),
        ]
    )


def _labelled(label: str, spans: Sequence[Span], width: int) -> list[Spans]:
    """Return the lines of a label and its text.

    A single span is wrapped between words. Several spans, such as a bar and a number, stay on one
    line.
    """
    if width < NARROW:
        head: list[Spans] = [[Span(f" {label}", "muted")]] if label else []
        return head + [[Span("  "), *line] for line in _wrapped(spans, max(1, width - 2))]
    lines = _wrapped(spans, width - LABEL - 1)
    blank = " " * LABEL
    return [
        [Span(f" {fit(label, LABEL) if not at else blank}", "muted"), *line]
        for at, line in enumerate(lines)
    ]


def _wrapped(spans: Sequence[Span], width: int) -> list[Spans]:
    if len(spans) != 1:
        return [list(spans)]
    return [[Span(piece, spans[0].role)] for piece in broken(spans[0].text, width)]


def _room(width: int) -> int:
    return max(1, width - 1)


def _cut(line: Spans, width: int) -> Spans:
    """Cut the line to the width."""
    kept: Spans = []
    left = width
    for span in line:
        size = cell_len(span.text)
        if size > left:
            kept.append(Span(fit(span.text, left), span.role))
            break
        kept.append(span)
        left -= size
    return kept

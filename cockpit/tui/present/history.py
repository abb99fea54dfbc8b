"""The history of handoffs as lines: agent, time, tokens before and after, outcome.

Text from documents is untrusted and made safe here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from rich.cells import cell_len

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.far_names import LONGEST_NAME, host_and_name
from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line
from cockpit.core.search import excerpt
from cockpit.tui.present import words
from cockpit.tui.present.lineage import duration
from cockpit.tui.present.paths import short_path
from cockpit.tui.present.review import WRITERS
from cockpit.tui.present.span import Span, broken, fit, fit_path, merged
from cockpit.wire.history import HistoryChain, HistoryHandoff, HistorySession

_OUTCOMES = {
    "done": ("✓", "done", "state-done"),
    "refused": ("·", "refused", "muted"),
    "cancelled": ("·", "cancelled", "muted"),
    "revived": ("×", "reopened", "warning"),
    "moved": ("✓", "moved", "state-done"),
    "failed": ("×", "failed", "state-failed"),
    None: ("»", "under way", "state-handing"),
}
_CONFIRMED = ("done", "moved")
"""The outcomes after which another session continued the job."""
_UNDONE = ("«", "undone", "muted")
_WRITTEN = {"agent": "by the agent", "sdk": "by a fork", "facts": "from facts"}
_MARKED, _UNMARKED = "*", " "


@dataclass(frozen=True, slots=True)
class Entry:
    """A handoff, or a run of cancelled handoffs. The texts are untrusted."""

    id: str
    agent: str
    goal: str
    number: int
    """The number of the session that was handed off, in its chain."""
    new_number: int | None
    """The number of the session that continued the job; None if there is none."""
    created: str
    outcome: str | None
    writer: str | None
    document: str | None
    copy: str | None
    tokens: int | None
    """Tokens in context when the handoff ended; while it is in progress, the newest count."""
    tokens_after: int | None
    cost_usd: float | None
    """Cost of the session; None if the session continued after the handoff."""
    why: str | None
    found: str
    """The document's line that matches the search; empty without a search."""
    undone: bool = False
    times: int = 1
    """Number of handoffs in this entry; more than 1 for a run of cancelled handoffs."""
    quality: str = ""
    """How the new session used the document, as a short text; empty if unknown."""
    answered_by: str = ""
    """Who approved or refused the handoff last; empty without an answer."""
    since: str = ""
    """When the first of the combined handoffs began; empty for a single handoff."""

    @property
    def can_open(self) -> bool:
        """Whether the handoff has a document, or is under way and may have a draft."""
        return self.document is not None or self.outcome is None


def entries(chains: Iterable[HistoryChain], agent: str | None = None) -> list[Entry]:
    """Return the handoffs of the chains, newest first; only those of `agent` if given."""
    all_entries = [
        _entry(chain, session, handoff)
        for chain in chains
        if agent in (None, chain.agent)
        for session in chain.sessions
        for handoff in session.handoffs
    ]
    return sorted(all_entries, key=lambda entry: (entry.created, entry.id), reverse=True)


def folded(found: Iterable[Entry]) -> list[Entry]:
    """Combine a session's consecutive cancelled handoffs that have no document into one entry.

    An agent that compacts automatically cancels its handoff each time. The combined handoffs may
    have entries of other agents between them; otherwise, two such agents would fill the list. The
    combined entry has the position of the newest handoff, and the id of the oldest handoff, which
    stays the same as the run grows.
    """
    lines: list[Entry] = []
    runs: dict[tuple[str, int, str], int] = {}
    for entry in found:
        session = entry.agent, entry.number, entry.goal
        if entry.outcome != "cancelled" or entry.document is not None:
            runs.pop(session, None)
        elif (place := runs.get(session)) is not None:
            newest = lines[place]
            lines[place] = replace(newest, id=entry.id, times=newest.times + 1, since=entry.created)
            continue
        else:
            runs[session] = len(lines)
        lines.append(entry)
    return lines


def _entry(chain: HistoryChain, session: HistorySession, handoff: HistoryHandoff) -> Entry:
    last, over = session.handoff in (None, handoff.id), handoff.outcome in _CONFIRMED
    # The session's own values: they change as long as the session continues.
    final = last and (handoff.outcome is None or (over and not handoff.undone))
    new_number = handoff.new_session_number
    if new_number is None and over:
        new_number = session.number + 1
    tokens = handoff.tokens if handoff.tokens is not None else handoff.tokens_before
    return Entry(
        id=handoff.id,
        agent=chain.agent,
        goal=chain.goal or "",
        number=session.number,
        new_number=new_number,
        created=handoff.created,
        outcome=handoff.outcome,
        writer=handoff.writer,
        document=handoff.document,
        copy=handoff.own_copy,
        tokens=session.tokens if tokens is None and final else tokens,
        tokens_after=handoff.tokens_after,
        cost_usd=session.cost_usd if final else None,
        why=handoff.why,
        found=handoff.found or "",
        undone=handoff.undone,
        quality=_quality(handoff),
        answered_by=handoff.answered_by or "",
    )


def _quality(handoff: HistoryHandoff) -> str:
    """Return how the new session used the document. Empty if unknown.

    Says whether the session read the document, the time until the session's first edit or commit,
    and the numbers of repeated steps, broken standing orders and questions asked again.
    """
    if handoff.document_read is None:
        return ""
    change, size = handoff.first_change_seconds, handoff.document_bytes
    repeats, broken, again = handoff.repeats, handoff.broken_orders, handoff.asked_again
    parts = [
        f"document of {size / 1024:.1f} KiB: " if size is not None else "document: ",
        "read" if handoff.document_read else "not read",
        " by the new session",
        f" · first edit or commit after {duration(change)}"
        if change is not None
        else " · no edit or commit yet",
        f" · {counted(len(repeats), 'step')} repeated" if repeats else "",
        f" · {counted(len(broken), 'standing order')} broken: {broken[0]}" if broken else "",
        f" · {counted(len(again), 'question')} asked again" if again else "",
    ]
    return safe_line("".join(parts), 400)


def outcome_of(entry: Entry) -> tuple[str, str, str]:
    """Return the glyph, the word and the role for the outcome of a handoff."""
    if entry.undone:
        return _UNDONE
    plain = str(entry.outcome).replace("_", " ")
    return _OUTCOMES.get(entry.outcome, ("·", safe_line(plain, 12), "muted"))


def line(
    entry: Entry,
    width: int,
    now: datetime,
    widest: int,
    *,
    marked: bool,
    terms: Sequence[str] = (),
) -> list[Span]:
    """Return the line of a handoff; narrow lines leave out values that `detail` shows.

    With the `terms` of a search, the excerpt is cut around the first of them.
    """
    glyph, word, role = outcome_of(entry)
    age = words.age(words.seconds_since(entry.created, now))
    spans = [
        Span(_MARKED if marked else _UNMARKED, "key"),
        Span(fit(age, 5, right=True), "age"),
        Span(f"  {fit(safe_line(entry.agent, LONGEST_NAME), widest)}", "name"),
        Span(fit(f"  {_sessions(entry)}", 8), "chain"),
    ]
    if width >= 74:
        spans.append(Span(fit(_fill(entry), 14), "tokens"))
    spans.append(Span(fit(f"{glyph} {word}", 12), role))
    if width >= 110:
        spans.append(Span(fit(_written(entry), 14), "muted"))
    room = width - sum(cell_len(span.text) for span in spans)
    text = entry.found or _many(entry) or entry.goal.strip().partition("\n")[0]
    text = safe_line(text, 300)
    if cell_len(text) >= room:
        text = excerpt(text, terms, max(1, room - 3)) or text
    spans.append(Span(fit(f" {text}", max(0, room))))
    return merged(spans)


def title(entry: Entry) -> str:
    """Return the agent of a handoff, and the sessions before and after the handoff."""
    return f"{safe_line(entry.agent, LONGEST_NAME)} {_sessions(entry)}"


def _sessions(entry: Entry) -> str:
    """Return the number of the session, and of the session that continued the job, if any."""
    return f"{entry.number}" + (f"→{entry.new_number}" if entry.new_number is not None else "")


def _many(entry: Entry) -> str:
    return f"{entry.times} cancelled, no document" if entry.times > 1 else ""


def _fill(entry: Entry) -> str:
    """Return the tokens before the handoff, and at the start of the next session."""
    if entry.tokens is None:
        return "  "
    held = words.tokens(entry.tokens)
    if entry.outcome != "done" or entry.tokens_after is None:
        return f"  {held}"
    return f"  {held} → {words.tokens(entry.tokens_after)}"


def _written(entry: Entry) -> str:
    if entry.document is None:
        return "none yet" if entry.outcome is None else "no document"
    return _WRITTEN.get(entry.writer or "", safe_line(entry.writer or "", 12))


def _writer(entry: Entry) -> str:
    if entry.document is None:
        return "no document yet" if entry.outcome is None else "no document"
    return f"by {WRITERS.get(entry.writer or '', safe_line(entry.writer or 'unknown writer', 20))}"


def widest_name(found: Iterable[Entry], width: int) -> int:
    """Return the width of the name column in cells: that of the longest name, with a maximum.

    The maximum is a fifth of `width`, but not less than 8 cells.
    """
    longest = max((cell_len(safe_line(entry.agent, LONGEST_NAME)) for entry in found), default=4)
    return min(longest, max(8, width // 5))


def heading(
    found: Sequence[Entry] | None,
    width: int,
    *,
    agent: str | None,
    searched: str,
    marked: int,
    without: Mapping[str, str] | None = None,
    total: int | None = None,
) -> list[Span]:
    """Return the line at the top: count, agent, search, marks and missing hosts.

    `found` is None before the first load; then no count is shown. `total` is the full count if
    not all handoffs are loaded. `without` has the reason for each missing host. If the reasons of
    several hosts do not fit, only the hosts are named.
    """
    number = total if total is not None else sum(entry.times for entry in found or ())
    parts = [] if found is None else [counted(number, "handoff")]
    if agent is not None:
        parts.append(f"of {safe_line(agent, LONGEST_NAME)}")
    if searched:
        parts.append(f"with “{safe_line(searched, 60)}”")
    if marked:
        parts.append(f"{marked} marked")
    room = max(0, width - 9)
    if without:
        begun = " · ".join([*parts, "without "])
        parts.append(f"without {_missing(without, room - cell_len(begun) - 1)}")
    text = " · ".join(parts)
    return [Span(" History ", "brand"), Span(fit(f" {text}", room), "muted")]


def _missing(hosts: Mapping[str, str], width: int) -> str:
    """Return the hosts with their reasons; only the hosts if several reasons do not fit."""
    reasons = (f"{host}: {safe_line(why, 160)}" if why else host for host, why in hosts.items())
    full = "; ".join(reasons)
    return full if len(hosts) == 1 or cell_len(full) <= width else ", ".join(hosts)


def detail(entry: Entry | None, width: int, height: int, home: str = "") -> list[list[Span]]:
    """Return the selected handoff in at most `height` lines: goal, outcome and document."""
    if entry is None:
        return []
    _, word, role = outcome_of(entry)
    cost = words.money(entry.cost_usd) if entry.cost_usd is not None else ""
    begun = words.stamp(entry.created)
    if entry.times > 1:
        begun = f"{words.stamp(entry.since)} to {begun}"
    how = [_many(entry)] if entry.times > 1 else [word, _writer(entry)]
    if entry.answered_by:
        answer = "refused" if entry.outcome == "refused" else "approved"
        how.append(safe_line(f"{answer} by {entry.answered_by}", 120))
    ended = [begun, *how, _fill(entry).strip(), cost]
    lines = [
        [Span(fit(f" {safe_line(entry.goal or 'no prompt', 400)}", width))],
        [Span(fit(f" {' · '.join(part for part in ended if part)}", width), role)],
    ]
    if entry.found and entry.found != entry.goal:
        lines.insert(0, [Span(fit(f" {safe_line(entry.found, 400)}", width), "name")])
    room = height - len(lines) - bool(entry.quality)
    lines += [[Span(line, "muted")] for line in _place(entry, width, room, home)]
    if entry.quality:
        lines.append([Span(fit(f" {entry.quality}", width), "muted")])
    return lines[:height]


def _place(entry: Entry, width: int, room: int, home: str) -> list[str]:
    """Return the handoff's id and the path of its document in at most `room` lines.

    A path that does not fit is cut so that the file's name stays.
    """
    start = f" {host_and_name(entry.id)[1][:8]}  "
    if not entry.document:
        return [fit(f"{start}{safe_line(entry.why or '', 400)}", width)]
    path = short_path(entry.document, home)
    beside = max(0, width - cell_len(start))
    if cell_len(path) > beside and room > 1:
        return [start.rstrip(), *broken(f" {path}", width)][:room]
    return [start + fit_path(path, beside)]

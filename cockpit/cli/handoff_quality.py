"""The table of `cockpit history --quality`: how well each handoff went, and the medians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from cockpit.core.plurals import counted
from cockpit.core.safetext import safe_line

if TYPE_CHECKING:
    from cockpit.wire.history import HistoryChain, HistoryHandoff

UNKNOWN = "-"
HEADINGS = (
    "AGENT", "SESSION", "BEFORE", "AFTER", "DOCUMENT", "READ", "FIRST CHANGE", "REPEATS", "BROKEN",
    "ASKED AGAIN", "UNDONE",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One confirmed handoff, for a line of the table."""

    agent: str
    number: int
    """Number of the handed-off session in its job, from 1."""
    before: int | None
    """Tokens in the old session's context at the handoff; None if unknown. Older versions of
    cockpit did not record this number; for their handoffs, this is the last known number of tokens
    in the old session's context."""
    handoff: HistoryHandoff


def rows(chains: Sequence[HistoryChain]) -> list[Row]:
    """Return the confirmed handoffs of all chains, oldest first in each chain.

    Handoffs to another machine (outcome `moved`) are left out.
    """
    result = []
    for chain in chains:
        for session in chain.sessions:
            for handoff in session.handoffs:
                if handoff.outcome != "done":
                    continue
                last = session.handoff in (None, handoff.id)
                before = handoff.tokens_before
                if before is None and last:
                    before = session.tokens
                result.append(Row(chain.agent, session.number, before, handoff))
    return result


def quality_lines(chains: Sequence[HistoryChain]) -> list[str]:
    """Return the lines of the table; an unknown value is a dash, never 0."""
    handoffs = rows(chains)
    if not handoffs:
        return ["No handoff has been completed yet."]
    cells = [list(HEADINGS), *map(_cells, handoffs)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(HEADINGS))]
    lines = [
        "  ".join(
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
    return [*lines, "", _summary(handoffs)]


def _cells(row: Row) -> list[str]:
    handoff = row.handoff
    read = handoff.document_read
    return [
        safe_line(row.agent, 40),
        f"{row.number} -> {handoff.new_session_number or row.number + 1}",
        _thousands(row.before),
        _thousands(handoff.tokens_after),
        _size(handoff.document_bytes),
        UNKNOWN if read is None else "yes" if read else "no",
        _duration(handoff.first_change_seconds),
        _count(handoff.repeats),
        _count(handoff.broken_orders),
        _count(handoff.asked_again),
        "yes" if handoff.undone else "no",
    ]


def _summary(handoffs: Sequence[Row]) -> str:
    def middle(value: Callable[[Row], float | None], show: Callable[[float | None], str]) -> str:
        known = [number for row in handoffs if (number := value(row)) is not None]
        return show(median(known)) if known else UNKNOWN

    before = middle(lambda row: row.before, _thousands)
    after = middle(lambda row: row.handoff.tokens_after, _thousands)
    size = middle(lambda row: row.handoff.document_bytes, _size)
    change = middle(lambda row: row.handoff.first_change_seconds, _duration)
    return (
        f"Median of {counted(len(handoffs), 'handoff')}: {before} -> {after} tokens, "
        f"document {size}, first change after {change}"
    )


def _thousands(tokens: float | None) -> str:
    if tokens is None:
        return UNKNOWN
    return str(round(tokens)) if tokens < 1000 else f"{round(tokens) // 1000}k"


def _size(size: float | None) -> str:
    return UNKNOWN if size is None else f"{size / 1024:.1f} KiB"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return UNKNOWN
    total = round(seconds)
    return f"{total} s" if total < 120 else f"{total // 60} min"


def _count(lines: Sequence[str] | None) -> str:
    return UNKNOWN if lines is None else str(len(lines))

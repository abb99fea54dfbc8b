"""Describe a session that cockpit did not start, for `cockpit status --elsewhere` and `adopt`.

Standard library only, because `status` uses it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from cockpit.cli.status_table import Row
from cockpit.core.safetext import safe_line
from cockpit.core.short_ids import short_session_id

Session = dict[str, Any]
"""A `wire.status.ElsewhereSession` as plain JSON, because importing its model would be slow."""

WATCHED = ", watched"


def session_row(session: Session, now: datetime) -> Row:
    """Return one session as a row of a table."""
    word, _, reason = state(session).partition(": ")
    return Row(
        f"{safe_line(short_session_id(session['session_id']))} {safe_line(runtime(session), 8)}",
        word,
        session["context"],
        safe_line(
            f"{session['directory']}  pid {session['pid']}{_clause(', ', _age(session, now))}"
            f"{_clause(', ', reason)}{WATCHED if session.get('watched') else ''}",
            400,
        ),
    )


def session_sentence(session: Session, now: datetime) -> str:
    """Describe one session in a sentence, for a screen reader."""
    used = session["context"].get("used")
    full = f"{used:.0%} of its context used" if used is not None else "context use unknown"
    age = _clause(", started ", _age(session, now), " ago")
    return safe_line(
        f"Session {short_session_id(session['session_id'])} elsewhere, {runtime(session)}, "
        f"{state(session)}, {full}, in {session['directory']}, process {session['pid']}{age}"
        f"{WATCHED if session.get('watched') else ''}.",
        600,
    )


def runtime(session: Session) -> str:
    """Return the session's runtime. Older supervisors list only Claude Code, and name no
    runtime."""
    return str(session.get("runtime") or "claude")


def state(session: Session) -> str:
    """Return the session's state from the CLI's status file, worded like an agent's state."""
    status = str(session.get("status"))
    if status == "waiting":
        return safe_line(f"waiting: {session.get('waiting_for') or 'for you'}", 60)
    return {"busy": "working", "idle": "idle"}.get(status, "unknown")


def _age(session: Session, now: datetime) -> str:
    """Return how long the session's process has been running; empty if unknown."""
    try:
        began = datetime.fromisoformat(str(session.get("started_at")))
    except ValueError:
        return ""
    seconds = max(0, int((now - began).total_seconds()))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _clause(before: str, text: str, after: str = "") -> str:
    return f"{before}{text}{after}" if text else ""

"""Shorten a session's id for lists and messages. Imports nothing, because quick commands use it."""

from __future__ import annotations

USUAL = 8
OPENCODE, OPENCODE_LENGTH = "ses_", 16
"""opencode's ids begin with the time, so sessions of one day differ only after some characters."""


def short_session_id(ident: str) -> str:
    """Return the first characters of an id. `cockpit adopt` accepts them if they are unique."""
    return ident[: OPENCODE_LENGTH if ident.startswith(OPENCODE) else USUAL]

"""Shorten a session's id for lists and messages. Imports nothing, because quick commands use it."""

from __future__ import annotations

USUAL = 8
OPENCODE, OPENCODE_LENGTH = "ses_", 16
"""How opencode's ids begin, and how many of their characters are shown. After `ses_`, the ids begin
with the time, so fewer characters would be the same for sessions of one day."""


def short_session_id(ident: str) -> str:
    """Return the first characters of an id. `cockpit adopt` accepts them if they are unique."""
    return ident[: OPENCODE_LENGTH if ident.startswith(OPENCODE) else USUAL]

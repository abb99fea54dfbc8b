"""`GET /v1/history` and `cockpit history --json`: jobs with their sessions and handoffs.

An unknown value is null. Some fields can be left out; `to_json` omits the fields that were not set.
Fields may be added; none is renamed.
"""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from cockpit.wire.status import Wire


class HistoryDocument(Wire):
    """A handoff document of a session."""

    id: str
    """The id of the document's handoff."""
    path: str | None = None
    outcome: str | None = None
    writer: str | None = None
    answered_by: str | None = None
    """The user who last approved or refused the handoff, such as `ana@laptop`, or an agent; null
    without an answer."""


class HistoryHandoff(Wire):
    """One handoff, with or without a document."""

    model_config = ConfigDict(populate_by_name=True)

    id: str
    reason: str | None = None
    created: str = ""
    ended: str | None = None
    outcome: str | None = None
    """Null while the handoff is in progress."""
    answered_by: str | None = None
    """The user who last approved or refused the handoff, such as `ana@laptop`, or an agent; null
    without an answer."""
    undone: bool = False
    """True if the user went back to the previous session after the handoff."""
    new_session_number: int | None = None
    """Number of the session that continued the job; null if there is none on this machine, and for
    the supervisors of earlier versions."""
    why: str | None = None
    document: str | None = None
    own_copy: str | None = Field(default=None, validation_alias="copy", serialization_alias="copy")
    writer: str | None = None
    tokens: int | None = None
    """Tokens in the old session's context when the handoff ended, also without a new session; null
    if unknown, or while the handoff is in progress."""
    tokens_before: int | None = None
    """Tokens in the old session's context when cockpit ended the session."""
    tokens_after: int | None = None
    """Tokens in the new session's context at its first reply."""
    document_bytes: int | None = None
    document_read: bool | None = None
    """Whether the new session read the document. `document_read` and the fields from
    `first_change_seconds` to `asked_again` are null until cockpit has checked the first turns of
    the new session, and for handoffs of earlier versions."""
    first_change_seconds: float | None = None
    """Seconds from the start of the new session to its first edit or commit."""
    repeats: list[str] | None = None
    """Finished steps that the new session repeated in its first turns."""
    broken_orders: list[str] | None = None
    """Standing orders that the new session broke in its first turns."""
    asked_again: list[str] | None = None
    """Questions of the old session that the new session asked again in its first turns."""
    found: str | None = None
    """The document's line with the most words of the search, cut to 160 characters; left out
    without a search."""


class HistorySession(Wire):
    id: str
    cli_id: str | None = None
    """The CLI's id of the session; null if that is the same as `id`, or unknown."""
    number: int = 1
    runtime: str = ""
    """The CLI that the session ran in; empty in records of earlier versions."""
    state: str = ""
    """The session's state: `live`, `handed_off`, `ended`, `undoing`, `undone` or `failed`."""
    document: str | None = None
    """The session's newest document. `handoff`, `writer`, `outcome` and `answered_by` are those of
    the document's handoff."""
    documents: list[HistoryDocument] = Field(default_factory=list)
    handoffs: list[HistoryHandoff] = Field(default_factory=list)
    handoff: str | None = None
    writer: str | None = None
    outcome: str | None = None
    answered_by: str | None = None
    cost_usd: float | None = None
    tokens: int | None = None
    compactions: int = 0
    began_with: str | None = None
    """Path of the document with which the session was started; null without one."""
    started_at: str | None = None
    ended_at: str | None = None
    transcript: str | None = None
    machine: str | None = None
    """The machine on which the session ran, if the job was moved from there; null for this machine.
    """
    tokens_at_start: int | None = None
    """Tokens in the session's context at its first reply. Left out if only some handoffs of the job
    are listed."""
    rebuilt: bool = False


class HistoryStatement(Wire):
    """A decision or a constraint of a chain."""

    section: str
    """The section of the documents that contains the statement."""
    text: str
    since: str
    """The first session whose document contains the statement, such as `session 2`, or
    `session 2 of api` for an earlier job."""
    last: str
    """The last session whose document contains the statement."""
    revoked_in: str | None = None
    """The session whose document revoked the statement; null if the statement is still valid."""


class HistoryChain(Wire):
    """A job with its sessions in order."""

    agent: str
    job: str = ""
    goal: str | None = None
    started_at: str | None = None
    handoffs: int = 0
    """Number of the job's confirmed handoffs. Left out if only some handoffs are listed."""
    rebuilt: bool = False
    """True if the job was restored from its documents after the database was lost. Left out if only
    some handoffs are listed."""
    sessions: list[HistorySession] = Field(default_factory=list)
    statements: list[HistoryStatement] = Field(default_factory=list)
    """The decisions and constraints that match the search, from all documents of the chain; left
    out without a search."""
    host: str | None = None
    """The host of the job; left out in the response of that host itself."""


class HistoryPage(Wire):
    """The response to `/v1/history?handoffs=N` and to `/v1/history?limit=N`."""

    chains: list[HistoryChain]
    """The jobs; with `handoffs=N`, each job has only the handoffs of this page."""
    next: str | None = None
    """The value of `before` for the next page, with older handoffs or jobs; null on the last
    page."""
    total: int = 0
    """Number of handoffs on all pages."""


def to_json(part: HistoryChain | HistorySession, *, without: str = "") -> dict[str, Any]:
    """Return JSON data with the fields that were set, except the field named `without`."""
    return part.model_dump(
        by_alias=True, exclude_unset=True, exclude={without} if without else None
    )

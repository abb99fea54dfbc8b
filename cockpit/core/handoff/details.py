"""Details stored beside a handoff's state: values that the state machine does not use.

Stored names never change: to rename an attribute, add its stored name to `_STORED`. Reading accepts
data of earlier versions, ignores unknown names, and raises `ValueError` for invalid data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Literal

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.first_turns import Before, FirstTurns


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Why the user is asked before a handoff, although the agent's mode does not require it."""

    kind: Literal["breaker", "handoff"]
    words: str


@dataclass(frozen=True, slots=True)
class Leaving:
    """The session's state when a handoff ended without a new session."""

    tokens: int | None = None
    """Tokens in context when the handoff ended; None if unknown."""
    forced: bool = False
    """Whether the context was in the force band when the handoff ended."""
    turns: int = 0
    at: float | None = None
    """When the handoff ended, in monotonic seconds of the boot that the handoff's record names;
    None if unknown."""


@dataclass(frozen=True, slots=True)
class HandoffDetails:
    """One handoff's details. None and empty values are not known yet, or do not apply."""

    draft: str | None = None
    """The path of the draft that the agent was asked to write."""
    began: float | None = None
    """When the handoff began, in seconds of `Clock.steady`."""
    phase_since: str | None = None
    """When the current phase began; RFC 3339."""
    filling: bool = True
    """The handoff is due because the context is filling up; the request to the agent gives this
    reason."""
    due: str = ""
    """Why the handoff is due, as text; empty for a manual handoff."""
    because: HeldBack | None = None
    """Why the user is asked; None if the agent's mode is the reason, or the user is not asked."""
    draft_facts: str | None = None
    """Path of a document made from facts, which is shown when the user is asked to approve."""
    typing: bool = False
    """The request was pasted, but Enter was not sent yet."""
    sealed_calls: int | None = None
    """Number of model calls of the session when the document was sealed."""
    permission_mode: str | None = None
    """The old session's permission mode when the session was ended."""
    has_git: bool = True
    """The agent's directory was in a git repository when the document was sealed. Also True if git
    failed then."""
    not_found: str = ""
    """The claims in the sealed document that cockpit did not find, in words; empty without any."""
    edited: bool = False
    """The user changed the document after it was sealed."""
    writers_failed: tuple[str, ...] = ()
    """The writers that failed, each with the reason."""
    writer_cost_usd: float = 0.0
    """Cost of the session's copies that were asked to write the document, in US dollars."""
    tokens_before: int | None = None
    """Tokens in the old session's context when the session was ended."""
    tokens_after: int | None = None
    """Tokens in the successor's context at its first reply."""
    document_bytes: int | None = None
    """Size of the document that the successor got."""
    before: Before | None = None
    """Facts of the old session, to compare with the successor's first turns."""
    first_turns: FirstTurns | None = None
    """The result of checking the successor's first turns; None before the check."""
    left: Leaving | None = None
    compacted: bool = False
    """The handoff was cancelled because the context was compacted."""
    answered_by: str = ""
    """The user who last approved or refused, such as `ana@laptop`; empty if unknown."""
    closed: float | None = None
    """When the handoff ended, in seconds of `Clock.steady`."""
    rebuilt: bool = False
    """The handoff was restored from its document after the database was lost."""
    moved_from: str = ""
    """The machine from which the job was moved; empty if the old session ran on this machine."""


_STORED: dict[str, str] = {"before": "left_to_successor"}
"""Stored names by attribute, if the names differ."""

_BEFORE_STORED = {
    "commits": "commit_subjects",
    "failures": "failed_commands",
    "questions": "questions",
    "orders": "orders",
}
_FIRST_TURNS_STORED = {
    "read": "document_read",
    "repeats": "repeats",
    "broken": "broken_orders",
    "asked_again": "asked_again",
    "first_change": "first_change_seconds",
}
"""Stored names by attribute, for the fields of `before` and `first_turns`."""


def details_to_record(details: HandoffDetails) -> dict[str, Any]:
    """Convert details to JSON data; values equal to their default are left out."""
    empty = HandoffDetails()
    stored = {
        _STORED.get(name, name): value
        for name, value in asdict(details).items()
        if value != getattr(empty, name)
    }
    if details.before is not None:
        stored[_STORED["before"]] = _stored(details.before, _BEFORE_STORED)
    if details.first_turns is not None:
        stored["first_turns"] = _stored(details.first_turns, _FIRST_TURNS_STORED)
    return stored


def _stored(held: Before | FirstTurns, names: Mapping[str, str]) -> dict[str, Any]:
    return {stored: _plain(getattr(held, name)) for name, stored in names.items()}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _held(stored: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """Return stored values by attribute; unknown names, from a newer version, are ignored."""
    if not isinstance(stored, dict):
        raise TypeError(f"{type(stored).__name__} instead of an object")
    values = {name: stored[key] for name, key in names.items() if key in stored}
    return {
        name: tuple(map(str, value)) if isinstance(value, list) else value
        for name, value in values.items()
    }


def details_from_record(record: dict[str, Any]) -> HandoffDetails:
    """Read stored details. Unknown names, from a newer version, are ignored.

    Raises `ValueError` for invalid data.
    """
    known = {_STORED.get(field.name, field.name): field.name for field in fields(HandoffDetails)}
    values = {known[name]: value for name, value in record.items() if name in known}
    values = {name: value for name, value in values.items() if value is not None}
    try:
        if "because" in values:
            values["because"] = HeldBack(**values["because"])
        if "left" in values:
            values["left"] = Leaving(**values["left"])
        if "before" in values:
            values["before"] = Before(**_held(values["before"], _BEFORE_STORED))
        if "first_turns" in values:
            values["first_turns"] = FirstTurns(**_held(values["first_turns"], _FIRST_TURNS_STORED))
        if "writers_failed" in values:
            values["writers_failed"] = tuple(map(str, values["writers_failed"]))
        return HandoffDetails(**values)
    except TypeError as wrong:
        raise ValueError(f"not a handoff's details: {wrong}") from wrong

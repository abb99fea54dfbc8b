"""What is kept beside a handoff's state: measurements, places and reasons that no rule decides by.

Stored names are spelled out here and never change; renaming an attribute is a change of `_STORED`
only. Reading takes what earlier versions wrote, and raises `ValueError` for anything else.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Why an automatic handoff asks the user first."""

    kind: Literal["breaker", "handoff"]
    words: str


@dataclass(frozen=True, slots=True)
class Leaving:
    """The session as it was when a handoff ended without a swap."""

    tokens: int | None = None
    """In context."""
    forced: bool = False
    """It was in the force band."""
    turns: int = 0
    at: float | None = None
    """Monotonic seconds of the boot in the handoff's row."""


@dataclass(frozen=True, slots=True)
class HandoffDetails:
    """One handoff's details; a default stands for what was not seen or not written yet."""

    draft: str | None = None
    """Path that the agent was asked to write to."""
    began: float | None = None
    """Steady seconds."""
    phase_since: str | None = None
    """RFC 3339."""
    filling: bool = True
    """The context was filling up when it began, so the request says so."""
    due: str = ""
    """Why it is due, in words; empty for one by hand."""
    because: HeldBack | None = None
    """What the user is asked for, if not for the mode."""
    draft_facts: str | None = None
    """Path of the document of facts that is shown with the question."""
    typing: bool = False
    """A paste was made and its Enter was not sent yet."""
    sealed_calls: int | None = None
    """Model calls of the session when the document was sealed."""
    permission_mode: str | None = None
    """The predecessor's when it was ended."""
    has_git: bool = True
    """The worktree was a git repository when the document was sealed."""
    edited: bool = False
    """The user changed the document after it was sealed."""
    writers_failed: tuple[str, ...] = ()
    """Which writers gave no document, and why."""
    writer_cost_usd: float = 0.0
    """Of copies of the session that wrote its document."""
    tokens_after: int | None = None
    """In the successor's context at its first reply."""
    left: Leaving | None = None
    closed: float | None = None
    """Steady seconds at which the outcome was written."""
    rebuilt: bool = False
    """Read back from its document after the database was lost."""


_STORED: dict[str, str] = {}
"""Attribute -> stored name, for attributes that were renamed since they were first stored."""


def details_to_record(details: HandoffDetails) -> dict[str, Any]:
    """Plain JSON data, without what has its default."""
    empty = HandoffDetails()
    return {
        _STORED.get(name, name): value
        for name, value in asdict(details).items()
        if value != getattr(empty, name)
    }


def details_from_record(record: dict[str, Any]) -> HandoffDetails:
    """The details that were written. Names of a newer version are left out."""
    known = {_STORED.get(each.name, each.name): each.name for each in fields(HandoffDetails)}
    held = {known[name]: value for name, value in record.items() if name in known}
    held = {name: value for name, value in held.items() if value is not None}
    try:
        if "because" in held:
            held["because"] = HeldBack(**held["because"])
        if "left" in held:
            held["left"] = Leaving(**held["left"])
        if "writers_failed" in held:
            held["writers_failed"] = tuple(map(str, held["writers_failed"]))
        return HandoffDetails(**held)
    except TypeError as wrong:
        raise ValueError(f"not a handoff's details: {wrong}") from wrong

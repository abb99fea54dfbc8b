"""A handoff as plain data, to be written down before anything is done, and read back.

Reading is strict: what cannot be understood raises `ValueError`, and the caller puts the record
aside instead of guessing where a handoff stood.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from cockpit.core.handoff.states import (
    Asked,
    Confirming,
    Document,
    Documenting,
    Ended,
    Handoff,
    Outcome,
    Plan,
    Reviewing,
    Reviving,
    Settling,
    Starting,
    State,
    Stopping,
    Successor,
    Waiting,
)

TAGS: dict[str, type] = {
    "Asked": Asked,
    "Waiting": Waiting,
    "Documenting": Documenting,
    "Reviewing": Reviewing,
    "Settling": Settling,
    "Stopping": Stopping,
    "Starting": Starting,
    "Confirming": Confirming,
    "Reviving": Reviving,
    "Ended": Ended,
}
"""What each state is called on disk, whatever its class is called. A tag never changes."""

STORED: dict[tuple[type, str], str] = {}
"""(class, attribute) -> stored name, for attributes renamed since they were first stored."""

_TAG_OF = {kind: tag for tag, kind in TAGS.items()}


def to_record(handoff: Handoff) -> dict[str, Any]:
    """Plain JSON data; `from_record` gives the same handoff back."""
    return {
        "plan": _plain(handoff.plan),
        "state": {"is": _TAG_OF[type(handoff.state)], **_plain(handoff.state)},
    }


def from_record(record: dict[str, Any]) -> Handoff:
    """The handoff that was written down. Raises `ValueError` for anything else."""
    try:
        plan = _attributes(Plan, record["plan"])
        plan["successors"] = tuple(
            Successor(**_attributes(Successor, each)) for each in plan["successors"]
        )
        plan["writers"] = tuple(plan["writers"])
        state = dict(record["state"])
        return Handoff(Plan(**plan), _state(TAGS[state.pop("is")], state))
    except (KeyError, TypeError, AttributeError) as wrong:
        raise ValueError(f"not a handoff: {wrong!r}") from wrong


def _state(kind: type, stored: dict[str, Any]) -> State:
    held = _attributes(kind, stored)
    if isinstance(held.get("document"), dict):
        held["document"] = Document(**_attributes(Document, held["document"]))
    if "outcome" in held:
        held["outcome"] = Outcome(held["outcome"])
    state: State = kind(**held)
    return state


def _attributes(kind: type, stored: dict[str, Any]) -> dict[str, Any]:
    """Stored values under the names of the attributes that hold them now."""
    names = {STORED.get((kind, each.name), each.name): each.name for each in fields(kind)}
    return {names.get(name, name): value for name, value in stored.items()}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        return {
            STORED.get((kind, each.name), each.name): _plain(getattr(value, each.name))
            for each in fields(value)
        }
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value

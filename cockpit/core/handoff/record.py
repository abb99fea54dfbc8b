"""Convert a handoff to JSON data and back, so that each state is saved before its commands run.

States are stored by the tags of `TAGS`, never by class names, so that a class can be renamed while
handoffs are open.

Reading is strict: unknown data raises `ValueError`, and the caller keeps the record apart instead
of guessing the state.
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
    Moving,
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
    "Moving": Moving,
    "Stopping": Stopping,
    "Starting": Starting,
    "Confirming": Confirming,
    "Reviving": Reviving,
    "Ended": Ended,
}
"""Maps each stored tag to the class of a state. A tag never changes, even if the class is
renamed."""

STORED: dict[tuple[type, str], str] = {}
"""Stored names by class and attribute, for attributes renamed since they were first stored."""

_TAG_OF = {kind: tag for tag, kind in TAGS.items()}


def to_record(handoff: Handoff) -> dict[str, Any]:
    """Convert a handoff to JSON data; `from_record` returns the same handoff."""
    return {
        "plan": _plain(handoff.plan),
        "state": {"is": _TAG_OF[type(handoff.state)], **_plain(handoff.state)},
    }


def from_record(record: dict[str, Any]) -> Handoff:
    """Read a stored handoff. Raises `ValueError` for anything else."""
    try:
        plan = _attributes(Plan, record["plan"])
        plan["successors"] = tuple(
            Successor(**_attributes(Successor, stored)) for stored in plan["successors"]
        )
        plan["writers"] = tuple(plan["writers"])
        state = dict(record["state"])
        return Handoff(Plan(**plan), _state(TAGS[state.pop("is")], state))
    except (KeyError, TypeError, AttributeError) as wrong:
        raise ValueError(f"not a handoff: {wrong!r}") from wrong


def _state(kind: type, stored: dict[str, Any]) -> State:
    values = _attributes(kind, stored)
    if isinstance(values.get("document"), dict):
        values["document"] = Document(**_attributes(Document, values["document"]))
    if "outcome" in values:
        values["outcome"] = Outcome(values["outcome"])
    state: State = kind(**values)
    return state


def _attributes(kind: type, stored: dict[str, Any]) -> dict[str, Any]:
    names = {STORED.get((kind, field.name), field.name): field.name for field in fields(kind)}
    return {names.get(name, name): value for name, value in stored.items()}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        return {
            STORED.get((kind, field.name), field.name): _plain(getattr(value, field.name))
            for field in fields(value)
        }
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value

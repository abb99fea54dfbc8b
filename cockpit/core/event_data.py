"""Convert the supervisor's events to JSON data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, get_args

from cockpit.core.events import (
    Event,
    HandoffAt,
    HandoffOver,
    HookEnded,
    HookEndKind,
    HookSent,
    HookSentKind,
    Need,
    OutcomeKind,
    PhaseKind,
    Plain,
    PlainKind,
    PublishedKind,
    Unknown,
    VerbAsked,
    VerbKind,
    WorktreePublished,
)

TYPES: dict[str, type[Any]] = {
    **{event.kind: event for event in get_args(Event) if isinstance(event.kind, str)},
    **dict.fromkeys(get_args(PlainKind), Plain),
    **dict.fromkeys(get_args(PhaseKind), HandoffAt),
    **dict.fromkeys(get_args(OutcomeKind), HandoffOver),
    **dict.fromkeys(get_args(HookEndKind), HookEnded),
    **dict.fromkeys(get_args(HookSentKind), HookSent),
    **dict.fromkeys(get_args(VerbKind), VerbAsked),
    **dict.fromkeys(get_args(PublishedKind), WorktreePublished),
}
"""Maps each event kind that this version records to the type of the event. A type of several kinds
has the kind as a field."""


def to_data(event: Event) -> dict[str, Any]:
    """Return the data of an event, to be stored as JSON."""
    if isinstance(event, Unknown):
        return dict(event.data)
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(event).items()
        if name != "kind"
    }


def from_data(kind: str, data: Mapping[str, Any]) -> Event:
    """Read a stored event, including an event of another version.

    A missing value becomes the unknown value of its type: empty, 0, False or None. Keys that this
    version does not know are ignored.
    """
    event = TYPES.get(kind)
    if event is None:
        return Unknown(kind, data)
    values = {
        field.name: kind if field.name == "kind" else _read(str(field.type), data.get(field.name))
        for field in fields(event)
    }
    read: Event = event(**values)
    return read


def _read(annotation: str, stored: Any) -> Any:
    """Convert a stored value to a field's type.

    A missing value, or a value of another type, becomes the unknown value: empty, 0, False or None.
    """
    match annotation:
        case "str":
            return stored if isinstance(stored, str) else ""
        case "int":
            return stored if isinstance(stored, int) else 0
        case "bool":
            return stored is True
        case "str | None":
            return stored if isinstance(stored, str) else None
        case "int | None":
            return stored if isinstance(stored, int) else None
        case "float | None":
            return stored if isinstance(stored, int | float) else None
        case "tuple[int, ...]" | "tuple[str, ...]":
            return tuple(stored) if isinstance(stored, list) else ()
        case "Mapping[str, str | int]":
            return stored if isinstance(stored, dict) else {}
        case "Need | None" if isinstance(stored, dict):
            return Need(str(stored.get("kind", "")), str(stored.get("detail", "")))
        case _:
            return None

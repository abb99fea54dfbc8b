"""Convert database rows to the records of `ports.records`, and mark unreadable values."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.handoff.details import details_from_record
from cockpit.ports.records import AgentRecord, HandoffRecord, JobRecord, SessionRecord

Record = TypeVar("Record", AgentRecord, JobRecord, SessionRecord, HandoffRecord)

TABLES: dict[type, tuple[str, str]] = {
    AgentRecord: ("seats", "name"),
    JobRecord: ("jobs", "id"),
    SessionRecord: ("sessions", "id"),
    HandoffRecord: ("handoffs", "id"),
}
"""The table of each kind of record, and the column that identifies a row."""
AS_JSON = {"settings", "record", "details", "data", "chosen_modes"}
"""Columns that contain JSON objects."""


@dataclass(frozen=True, slots=True)
class DamagedRow:
    """A database row with unreadable values, which were saved in the table `damaged`."""

    table: str
    id: str
    agent: str
    """Name of the agent in the database row; empty if it cannot be read."""
    why: str


class DamagedValue(ValueError):
    """A stored value that cannot be read."""


class Unreadable(str):
    """A stored text that is not UTF-8, shown with escapes."""

    raw: bytes


def text_of(raw: bytes) -> str:
    """Decode a text column; text that is not UTF-8 becomes `Unreadable`."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        text = Unreadable(raw.decode("utf-8", "backslashreplace"))
        text.raw = raw
        return text


def decoded_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a database row, with JSON decoded. Raises `DamagedValue`."""
    decoded = {}
    for name, value in row.items():
        if isinstance(value, Unreadable):
            raise DamagedValue(f"unreadable: {name}")
        if name in AS_JSON:
            try:
                value = json.loads(value)
            except ValueError:
                raise DamagedValue(f"unreadable: {name}") from None
            if not isinstance(value, dict):
                raise DamagedValue(f"unreadable: {name}")
        decoded[name] = value
    if "details" in decoded:
        try:
            decoded["details"] = details_from_record(decoded["details"])
        except ValueError as wrong:
            raise DamagedValue(str(wrong)) from None
    if "wanted" in decoded:
        decoded["wanted"] = bool(decoded["wanted"])
    return decoded

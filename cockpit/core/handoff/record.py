"""A handoff as plain data, to be written down before anything is done, and read back.

Reading is strict: what cannot be understood raises `ValueError`, and the caller puts the record
aside instead of guessing where a handoff stood.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, get_args

from cockpit.core.handoff.states import (
    Document,
    Handoff,
    Outcome,
    Plan,
    State,
    Successor,
)

STATES: dict[str, type] = {kind.__name__: kind for kind in get_args(State)}


def to_record(handoff: Handoff) -> dict[str, Any]:
    """Plain JSON data; `from_record` gives the same handoff back."""
    return {
        "plan": _plain(handoff.plan),
        "state": {"is": type(handoff.state).__name__, **_plain(handoff.state)},
    }


def from_record(record: dict[str, Any]) -> Handoff:
    """The handoff that was written down. Raises `ValueError` for anything else."""
    try:
        plan = dict(record["plan"])
        plan["successors"] = tuple(Successor(**each) for each in plan["successors"])
        plan["writers"] = tuple(plan["writers"])
        state = dict(record["state"])
        return Handoff(Plan(**plan), _state(STATES[state.pop("is")], state))
    except (KeyError, TypeError, AttributeError) as wrong:
        raise ValueError(f"not a handoff: {wrong!r}") from wrong


def _state(kind: type, held: dict[str, Any]) -> State:
    if isinstance(held.get("document"), dict):
        held["document"] = Document(**held["document"])
    if "outcome" in held:
        held["outcome"] = Outcome(held["outcome"])
    state: State = kind(**held)
    return state


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value

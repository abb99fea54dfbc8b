"""Requests on the wire: each comes back as it was, within its bounds, under a name of its own."""

from __future__ import annotations

import json
import re
import types
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cockpit.wire.history import HistoryChain, HistorySession
from cockpit.wire.verbs import VERBS, Approve, Handoff, Plan, RemoveWorktree, Snooze, Start, Verb

BOUNDED: dict[str, st.SearchStrategy[Any]] = {
    "seconds": st.floats(min_value=0, allow_infinity=False),
    "percent": st.floats(min_value=0, max_value=100, exclude_min=True),
}
REQUIRED: dict[type[Verb], set[str]] = {
    kind: {name for name, field in kind.model_fields.items() if field.is_required()}
    for kind in VERBS
}


def least_of(kind: type[Verb]) -> dict[str, Any]:
    """A request with nothing but what is required."""
    fields = kind.model_fields
    return {name: [1] if fields[name].annotation == list[int] else "x" for name in REQUIRED[kind]}


def values(annotation: Any) -> st.SearchStrategy[Any]:
    """Everything that a field with this annotation can have."""
    origin, of = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(values, of))
    if origin is Literal:
        return st.sampled_from(of)
    if origin is list:
        return st.lists(values(of[0]), min_size=1, max_size=4)
    simple: dict[Any, st.SearchStrategy[Any]] = {
        str: st.text(),
        bool: st.booleans(),
        int: st.integers(),
        type(None): st.none(),
        HistoryChain: st.builds(
            HistoryChain,
            agent=st.text(),
            sessions=st.lists(st.builds(HistorySession, id=st.text()), max_size=2),
            statements=st.just([]),
        ),
    }
    return simple[annotation]


def requests(kind: type[Verb]) -> st.SearchStrategy[Verb]:
    fields = {
        name: BOUNDED[name] if name in BOUNDED else values(field.annotation)
        for name, field in kind.model_fields.items()
    }
    return st.builds(kind, **fields)


@given(st.one_of(*map(requests, VERBS)))
def test_every_request_comes_back_as_it_was(asked: Verb) -> None:
    """As `HttpClient.ask` writes it and the supervisor reads it."""
    sent = asked.model_dump_json(exclude_none=True).encode()
    assert type(asked).model_validate(json.loads(sent)) == asked


@pytest.mark.parametrize("kind", VERBS, ids=lambda kind: kind.verb)
def test_a_request_is_read_without_what_has_a_default_and_with_what_is_unknown(
    kind: type[Verb],
) -> None:
    least = least_of(kind)
    assert kind.model_validate({**least, "newer": [1], "verb": "other"}) == kind(**least)
    for name in least:
        with pytest.raises(ValidationError, match=name):
            kind.model_validate({key: value for key, value in least.items() if key != name})


@pytest.mark.parametrize("kind", VERBS, ids=lambda kind: kind.verb)
def test_a_field_of_another_type_is_refused(kind: type[Verb]) -> None:
    least = least_of(kind)
    for name in kind.model_fields:
        with pytest.raises(ValidationError, match=name):
            kind.model_validate({**least, name: {"an": "object"}})


def test_what_must_be_said_stays_as_it_is() -> None:
    """A new field that is required would refuse every older client."""
    assert {kind.verb: REQUIRED[kind] for kind in VERBS} == {
        "start": {"name"}, "resume": set(), "plan": {"name"}, "stop": {"name"},
        "send": {"name", "text"}, "answer": {"name", "dialog", "choices"},
        "handoff": {"name"}, "approve": {"name"}, "refuse": {"name"},
        "snooze": {"name"}, "done": {"name"}, "undo": {"name"}, "continue": {"document"},
        "down": set(), "load": set(), "attach": {"name"}, "remove_worktree": {"tree"},
        "adopt": {"session"}, "watch_session": {"session"}, "document_session": {"session"},
        "forget": {"name"}, "rename": {"name", "to"},
        "moved": {"name", "handoff"},
    }  # fmt: skip


def test_names_of_verbs_are_unique_and_fit_an_address() -> None:
    names = [kind.verb for kind in VERBS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z_]+", name) for name in names)


@pytest.mark.parametrize("seconds", [0, 0.001, 600, 1e12])
def test_a_snooze_lasts_for_any_time(seconds: float) -> None:
    assert Snooze(name="api", seconds=seconds).seconds == seconds


@pytest.mark.parametrize(
    ("field", "value"),
    [("seconds", -1), ("seconds", float("nan")), ("seconds", float("inf")),
     ("percent", 0), ("percent", 100.1), ("percent", float("nan"))],
)  # fmt: skip
def test_a_snooze_out_of_bounds_is_refused(field: str, value: float) -> None:
    with pytest.raises(ValidationError, match=field):
        Snooze.model_validate({"name": "api", field: value})
    assert Snooze(name="api", percent=100).percent == 100


def test_a_plan_takes_whatever_a_start_takes() -> None:
    assert Plan.model_fields.keys() == Start.model_fields.keys()


OLDER: dict[str, tuple[str, Verb]] = {
    "start": (
        '{"name": "api", "prompt": "Go.", "directory": "/w", "worktree": true, "named": true}',
        Start(name="api", prompt="Go.", directory="/w", worktree=True, named=True),
    ),
    "handoff": (
        '{"name": "api", "now": true, "by_agent": false, "dry_run": false}',
        Handoff(name="api", now=True),
    ),
    "approve": ('{"name": "api", "straight": true}', Approve(name="api", straight=True)),
    "snooze": ('{"name": "api", "seconds": 90}', Snooze(name="api", seconds=90)),
    "remove_worktree": (
        '{"tree": "/w", "cwd": null, "salvage": true}',
        RemoveWorktree(tree="/w", salvage=True),
    ),
}


@pytest.mark.parametrize("verb", OLDER)
def test_a_request_of_an_older_client_is_read(verb: str) -> None:
    written, asked = OLDER[verb]
    assert type(asked).model_validate_json(written) == asked

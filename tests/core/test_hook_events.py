"""Which hook hears what, and what an answer means."""

from __future__ import annotations

import json

import pytest

from cockpit.core.hook_events import (
    EVENTS,
    Decision,
    Verdict,
    at_path,
    decision,
    passed_over,
    setting_of,
)
from cockpit.core.hook_payload import SCHEMA, payload, sample


def test_every_event_has_its_setting() -> None:
    from cockpit.config.hooks import Hooks

    assert [setting_of(event) for event in EVENTS] == list(Hooks.model_fields)


def test_who_hears_it() -> None:
    told = sample("after_run", "api", "/r")
    assert passed_over("after_run", told, (), "") is None
    for name in ("after_run", "completed"):
        assert passed_over("after_run", told, (name, "x"), "") is None
    assert passed_over("after_run", told, ("failed",), "")
    assert passed_over("needs_you", told, ("on_needs_you",), "") is None
    assert passed_over("error", {"a": {"b": True}}, (), "a.b") is None
    for path in ("a", "a.c", "a.b.c", "x.y"):
        assert passed_over("error", {"a": {"b": True}}, (), path)
    assert passed_over("error", {"a": "true"}, (), "a")


def test_a_path_that_leads_nowhere() -> None:
    assert at_path({"a": {"b": 1}}, "a.b") == 1
    assert at_path({"a": [1]}, "a.0") is None


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("", None),
        ("words", None),
        ("{}", None),
        ('{"decision": "continue"}', Decision(Verdict.CONTINUE)),
        (
            'thinking…\n{"decision": "abort", "document": "/d.md"}\n',
            Decision(Verdict.ABORT, "/d.md"),
        ),
        ('{\n "decision":\n "handoff"\n}', Decision(Verdict.HANDOFF)),
        ('{"decision": "handoff"}\nbye', Decision(Verdict.HANDOFF)),
        ("[" * 100_000, None),
        ('{"a":' * 100_000, None),
    ],
)
def test_answers(output: str, expected: Decision | None) -> None:
    assert decision(output) == expected


@pytest.mark.parametrize(
    "output",
    ['{"decision": "maybe"}', '{"decision": null}', '{"decision": "abort", "document": 3}'],
)
def test_answers_that_make_no_sense(output: str) -> None:
    with pytest.raises(ValueError, match="the d"):
        decision(output)


@pytest.mark.parametrize("event", EVENTS)
def test_the_schema_is_what_is_told(event: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    told = json.loads(json.dumps(sample(event, "api", "/r")))
    jsonschema.Draft202012Validator(SCHEMA).validate(told)
    assert set(told) == set(SCHEMA["required"]) == set(SCHEMA["properties"])


def test_free_text_is_cleaned() -> None:
    from dataclasses import replace

    from cockpit.core.hook_payload import EventFields, SessionFields, context_fields

    session = SessionFields(None, "api", None, "/r", None, None, False, None, 0)
    context = context_fields(None, 1, None, "act", "x")
    told = EventFields("error", "i", "t", "secret", context, session,
                None, None, "/r", "a secret", needs={"kind": "k", "detail": "secret"})  # fmt: skip
    clean = payload(told, lambda text: text.replace("secret", "***"))
    assert "secret" not in json.dumps(clean)
    assert payload(replace(told, original_prompt=None))["original_prompt"] is None
    assert clean["context"]["usage_percent"] is None

"""Each kind of event: the keys of its data, written and read, also by other versions."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, get_args

import pytest

from cockpit.core.event_data import TYPES, from_data, to_data
from cockpit.core.event_kinds import MEANINGS
from cockpit.core.events import (
    AgentExited,
    AgentNeedsYou,
    AgentStarted,
    BandCrossed,
    Event,
    Need,
    Plain,
    RunCompleted,
    Unknown,
    VerbAsked,
    WorktreePublished,
)

HOOK = "hook type success duration_ms exit_code error event output"
SENT = "hook type event success attempts error message"
OVER = "why handoff old_session new_session number document"

KEYS = {
    "agent.adopting": "session pid directory",
    "agent.arrived": "",
    "agent.compacted": "compactions tokens document",
    "agent.company": "",
    "agent.ended": "killed stragglers",
    "agent.exited": "status signal completed told",
    "agent.forgotten": "",
    "agent.found": "",
    "agent.needs_you": "session needs",
    "agent.not_started": "",
    "agent.not_understood": "",
    "agent.prompt_not_read": "",
    "agent.regained": "session pid",
    "agent.renamed": "before",
    "agent.started": "session directory branch",
    "agent.stopped": "told",
    "agent.stragglers": "stragglers",
    "agent.unowned": "pid",
    "agent.warned": "",
    "band.crossed": "band reached tokens window confidence",
    "budget.crossed": "cost_usd budget_usd",
    "budget.day_crossed": "day cost_usd budget_usd",
    "compaction.kept": "document",
    "compaction.not_kept": "",
    "elsewhere.crossed": "session pid directory band tokens window confidence",
    "elsewhere.document": "session pid directory document",
    "facts.dropped": "",
    "facts.given": "occasion token",
    "handoff.asked": "phase",
    "handoff.begun": "tokens window reason",
    "handoff.cancelled": OVER,
    "handoff.confirmed": OVER,
    "handoff.confirming": "phase",
    "handoff.document": "document writer",
    "handoff.documenting": "phase",
    "handoff.edited": "",
    "handoff.failed": OVER,
    "handoff.held_back": "",
    "handoff.interrupted": "",
    "handoff.moved": OVER,
    "handoff.moving": "phase",
    "handoff.not_understood": "",
    "handoff.put_back": "document",
    "handoff.refused": OVER,
    "handoff.request_failed": "",
    "handoff.review": "phase",
    "handoff.revived": OVER,
    "handoff.stalled": "",
    "handoff.starting": "phase",
    "handoff.stopping": "phase",
    "handoff.template_failed": "",
    "handoff.undone": "old_session new_session",
    "handoff.waiting": "phase",
    "handoff.writer_failed": "writer",
    "history.rebuilt": "left_aside",
    "hook.decided": "hook decision document",
    "hook.delivered": SENT,
    "hook.failed": HOOK,
    "hook.ran": HOOK,
    "hook.undelivered": SENT,
    "loop.exhausted": "",
    "run.completed": "session needs",
    "session.cleared": "old_session new_session",
    "socket.bound_again": "",
    "socket.unreachable": "",
    "store.put_aside": "",
    "store.row_put_aside": "",
    "verb.asked": "verb by",
    "verb.refused": "verb by",
    "worktree.back": "",
    "worktree.lost": "directory",
    "worktree.not_copied": "",
    "worktree.not_published": "detail",
    "worktree.published": "detail",
    "worktree.ready": "directory branch created new_branch",
    "worktree.removed": "directory branch salvage",
    "worktree.set_up": "output",
    "worktree.setup": "",
}
"""Kind -> the keys of its data, in order. Scripts and hooks match them: add, never change."""

VALUES: dict[str, Any] = {
    "str": "text",
    "str | None": "text",
    "int": 7,
    "int | None": 7,
    "float | None": 7.5,
    "bool": True,
    "tuple[int, ...]": (1, 2),
    "tuple[str, ...]": ("warn", "act"),
    "Mapping[str, str | int]": {"kind": "user", "pid": 7},
    "Need | None": Need("question", "May I?"),
    "None": None,
}


def of_kind(kind: str) -> Event:
    """An event with a value in each field."""
    values = {field.name: VALUES.get(str(field.type), kind) for field in fields(TYPES[kind])}
    event: Event = TYPES[kind](**values)
    return event


def test_every_kind_has_a_type_and_every_type_is_an_event() -> None:
    assert set(TYPES) == set(MEANINGS) == set(KEYS)
    assert {*TYPES.values(), Unknown} == set(get_args(Event))


@pytest.mark.parametrize("kind", KEYS)
def test_a_kind_keeps_its_keys_and_comes_back_from_json(kind: str) -> None:
    event = of_kind(kind)
    data = json.loads(json.dumps(to_data(event)))
    assert event.kind == kind
    assert list(data) == KEYS[kind].split()
    assert from_data(kind, data) == event


@pytest.mark.parametrize("kind", KEYS)
def test_missing_and_strange_values_are_unknown(kind: str) -> None:
    empty = from_data(kind, {})
    assert empty.kind == kind
    strange = ["much"] if kind.startswith("budget.") else 1.5  # some fields are numbers
    assert from_data(kind, dict.fromkeys(KEYS[kind].split(), strange)) == empty
    assert not any(value for key, value in to_data(empty).items())


def test_a_key_of_a_newer_version_is_left_out() -> None:
    known = {"session": "s", "directory": "/w", "branch": None}
    assert from_data("agent.started", {**known, "mood": "good"}) == AgentStarted("s", "/w", None)


@pytest.mark.parametrize(
    ("kind", "data", "event"),
    [
        ("band.crossed", {"band": "warn", "reached": ["warn"], "tokens": None},
         BandCrossed("warn", ("warn",), None, None, None)),
        ("agent.exited", {}, AgentExited(None, None, completed=False, told=False)),
        ("agent.needs_you", {"session": "s", "needs": {"kind": "question", "detail": "?"}},
         AgentNeedsYou("s", Need("question", "?"))),
        ("run.completed", {"session": "s", "needs": None}, RunCompleted("s")),
        ("agent.found", {}, Plain("agent.found")),
        ("verb.refused", {"verb": "stop", "by": {"kind": "agent", "pid": 5}},
         VerbAsked("verb.refused", "stop", {"kind": "agent", "pid": 5})),
        ("worktree.published", {"detail": "d"}, WorktreePublished("worktree.published", "d")),
    ],
)  # fmt: skip
def test_what_earlier_versions_wrote_is_read(kind: str, data: dict[str, Any], event: Event) -> None:
    assert from_data(kind, data) == event


def test_an_unknown_kind_keeps_its_data() -> None:
    event = from_data("agent.levitated", {"height": 3, "over": ["desk"]})
    assert event == Unknown("agent.levitated", {"height": 3, "over": ["desk"]})
    assert event.kind == "agent.levitated"
    assert to_data(event) == {"height": 3, "over": ["desk"]}

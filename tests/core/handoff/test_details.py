"""What is kept beside the state of a handoff: stored by name, and read back whole."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from cockpit.core.first_turns import Before, FirstTurns
from cockpit.core.handoff.details import (
    HandoffDetails,
    HeldBack,
    Leaving,
    details_from_record,
    details_to_record,
)

FULL = HandoffDetails(
    draft="/w/draft-1.md",
    began=1.5,
    phase_since="2026-11-22T00:00:00Z",
    filling=False,
    due="its session is at 82 %",
    because=HeldBack("breaker", "5 handoffs in a quarter of an hour"),
    draft_facts="/w/facts.md",
    typing=True,
    sealed_calls=7,
    permission_mode="plan",
    has_git=False,
    not_found="1 file not found: src/a.py",
    edited=True,
    writers_failed=("agent: too late", "sdk: no session"),
    writer_cost_usd=0.25,
    tokens_before=162_000,
    tokens_after=12_000,
    document_bytes=9_000,
    before=Before(("c",), ("f", "g"), ("q",), ("Never push",)),
    first_turns=FirstTurns(
        read=True,
        repeats=("committed again: x",),
        broken=("Never push",),
        asked_again=("Which port?",),
        first_change=12.5,
    ),
    left=Leaving(tokens=9, forced=True, turns=3, at=2.5),
    closed=4.0,
    compacted=True,
    rebuilt=True,
    moved_from="laptop",
    answered_by="ana@laptop",
)


def test_everything_comes_back_from_json() -> None:
    for details in (FULL, HandoffDetails()):
        written = json.loads(json.dumps(details_to_record(details)))
        assert details_from_record(written) == details
    assert len(details_to_record(FULL)) == len(fields(HandoffDetails))
    assert details_to_record(HandoffDetails()) == {}


def test_names_on_disk_stay_what_they_were() -> None:
    assert set(details_to_record(FULL)) == {
        "draft", "began", "phase_since", "filling", "due", "because", "draft_facts", "typing",
        "sealed_calls", "permission_mode", "has_git", "edited", "writers_failed",
        "writer_cost_usd", "tokens_after", "left", "compacted", "closed", "rebuilt",
        "tokens_before", "document_bytes", "left_to_successor", "first_turns",
        "moved_from", "answered_by", "not_found",
    }  # fmt: skip
    assert details_to_record(FULL)["left_to_successor"] == {
        "commit_subjects": ["c"],
        "failed_commands": ["f", "g"],
        "questions": ["q"],
        "orders": ["Never push"],
    }
    assert details_to_record(FULL)["first_turns"] == {
        "document_read": True,
        "repeats": ["committed again: x"],
        "broken_orders": ["Never push"],
        "asked_again": ["Which port?"],
        "first_change_seconds": 12.5,
    }


def test_a_newer_versions_names_are_left_out() -> None:
    assert details_from_record({"due": "x", "colour": "red"}) == HandoffDetails(due="x")
    later = {"document_read": True, "mood": "good"}
    read = HandoffDetails(first_turns=FirstTurns(read=True))
    assert details_from_record({"first_turns": later}) == read


@pytest.mark.parametrize(
    "broken",
    [{"because": {"words": 1, "who": 2}}, {"left": 3}, {"first_turns": 3}],
)
def test_what_is_none_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not a handoff's details"):
        details_from_record(broken)

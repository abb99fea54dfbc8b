"""What a hook may answer, in the shape that the CLI reads."""

from __future__ import annotations

import pytest

from cockpit.adapters.agents.hook_answers import (
    INJECTED_CHARACTERS,
    additional_context,
    block,
)
from cockpit.core.errors import Failed


def test_context_names_its_event() -> None:
    assert additional_context("PostToolUse", "write it") == {
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "write it"}
    }


def test_a_refusal_carries_its_reason() -> None:
    assert block("Stop", "write it") == {"decision": "block", "reason": "write it"}


def test_only_events_that_listen_are_answered() -> None:
    with pytest.raises(Failed):
        additional_context("SessionEnd", "too late")
    with pytest.raises(Failed):
        block("Notification", "no")
    with pytest.raises(Failed):
        block("PreCompact", "the CLI could not go on")


def test_what_the_cli_would_cut_is_refused() -> None:
    block("Stop", "x" * INJECTED_CHARACTERS)
    with pytest.raises(Failed, match="10,001"):
        block("Stop", "x" * (INJECTED_CHARACTERS + 1))

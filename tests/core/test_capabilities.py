"""What a CLI can do, as users read it."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from cockpit.adapters.agents import RUNTIMES, runtime
from cockpit.core.capabilities import (
    LABELS,
    Answer,
    Capabilities,
    No,
    SessionIds,
    Source,
    Yes,
    limits,
    text_of,
)
from cockpit.ports.panes import Screen


def test_users_see_every_capability_but_keys_and_signals() -> None:
    """In the order of the page."""
    names = [field.name for field in fields(Capabilities)]
    internal = ["escapes", "end_signal", "end_keys", "pastes_at", "may_lose_enter"]
    internal += ["compacts_before_prompts", "restart_status", "commits"]
    assert [*LABELS, *internal] == names


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Yes(), "yes"),
        (Yes("per reply"), "yes, per reply"),
        (No("nobody knows"), "no: nobody knows"),
        (SessionIds.GIVEN, "chosen by cockpit"),
        ((Source.HOOKS, Source.TITLE), "hooks, title of the pane"),
        ((), "nothing"),
    ],
)
def test_a_value_is_a_few_words(value: Answer | SessionIds | tuple[Source, ...], text: str) -> None:
    assert text_of(value) == text


def test_limits_are_grouped_by_their_reason() -> None:
    codex = runtime("codex", Path()).capabilities
    (held,) = [line for line in limits(codex) if line.startswith("Compaction delayed")]
    assert held == "Compaction delayed to save facts: a hook could only end the turn"
    assert "Cost, Background tasks listed: not reported by Codex" in limits(codex)
    assert not any("`" in line for line in limits(codex))
    assert limits(runtime("claude", Path()).capabilities) == []
    assert len(limits(runtime("command", Path()).capabilities)) == 1


def test_only_a_cli_whose_dialogs_are_read_gets_answers() -> None:
    screen = Screen(("Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel"))
    able = [name for name in RUNTIMES if runtime(name, Path()).capabilities.answers]
    assert able == ["claude"]
    for name in set(RUNTIMES) - set(able):
        assert runtime(name, Path()).open_dialog(screen) is None


def test_an_answer_is_a_condition() -> None:
    assert Yes()
    assert not No("nobody knows")

"""The CLI of the next session, and its permission mode."""

from __future__ import annotations

import pytest

from cockpit.supervisor.agents.predicates import next_runtime


@pytest.mark.parametrize(
    ("order", "current", "then"),
    [
        (["codex"], "claude", "codex"),
        (["codex"], "codex", "codex"),
        (["claude", "codex"], "claude", "codex"),
        (["claude", "codex"], "codex", "claude"),
        (["codex", "gemini"], "claude", "codex"),
    ],
)
def test_the_list_goes_round(order: list[str], current: str, then: str) -> None:
    assert next_runtime(order, current) == then

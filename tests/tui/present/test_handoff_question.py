"""The question before a handoff: what it says depends on the agent."""

from __future__ import annotations

from typing import Any

import pytest

from cockpit.tui.present.handoff_question import explanation, title
from cockpit.wire.status import BackgroundStatus
from tests.tui.scene import agent, context

SERVER = BackgroundStatus(id="b1", type="shell", command="npm run dev")


@pytest.mark.parametrize(
    ("changes", "said", "unsaid"),
    [
        ({"mode": "prompt"}, "You review the document.", "is working now"),
        ({"mode": "auto"}, "Then the agent's session ends", "You review the document."),
        ({"state": "working"}, "its session ends only after the current turn", "background"),
        ({"background": [SERVER]}, "also ends 1 background task", "working"),
        ({"background": [SERVER, SERVER]}, "2 background tasks", "working"),
        ({"context": context(tokens=None)}, "The handoff costs a turn of this session", "tokens"),
        ({"context": context(tokens=142_000)}, "a turn at 142k tokens", "of this session"),
        ({"runtime": "command"}, "cockpit writes a handoff document", "The agent writes"),
        ({"configured_successor": "codex"}, "in codex (setting `successor`) if", "None"),
    ],
)
def test_only_what_is_known_is_said(changes: dict[str, Any], said: str, unsaid: str) -> None:
    words = explanation(agent("api", **{"state": "idle", **changes}))
    assert said in words
    assert unsaid not in words


def test_a_finished_job_is_named() -> None:
    assert title(agent("api", state="done")) == "api has finished its job. Hand off anyway?"
    assert title(agent("api", state="idle")) == "Hand off api to a new session?"
    there = agent("api", state="idle", configured_successor="codex")
    assert title(there) == "Hand off api to a new session in codex?"

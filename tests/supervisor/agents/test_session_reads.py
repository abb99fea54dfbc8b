"""What proves that a session has read a file: a call that names it, unless its result denies it."""

from __future__ import annotations

import pytest

from cockpit.core.reading import Confidence, Window
from cockpit.core.session import AssistantReplied, ToolFinished, ToolUse, Usage
from cockpit.supervisor.agents.session_state import SessionState

DOCUMENT = "/w/.cockpit/handoffs/h.md"


def session(*results: ToolFinished) -> SessionState:
    """A session that called `cat` as `a`, then the tool for files as `b`; with these results."""
    calls = (
        ToolUse("a", "Bash", {"command": f"cat {DOCUMENT}"}),
        ToolUse("b", "Read", {"file_path": DOCUMENT}),
    )
    state = SessionState(
        directory="/w", window_of=lambda _model: Window(200_000, Confidence.ASSUMED)
    )
    for call in calls[: max(1, len(results))]:
        state.read([AssistantReplied("m" + call.id, "", None, Usage(), tools=(call,))], 1.0)
    state.read(results, 2.0)
    return state


def has_read(state: SessionState) -> bool:
    return any(DOCUMENT in path for path in state.read_paths)


def test_a_call_without_a_result_counts() -> None:
    assert has_read(session())
    assert has_read(session(ToolFinished("a", text="# Handoff")))


@pytest.mark.parametrize(
    "nothing",
    [
        ToolFinished("a", failed=True),
        ToolFinished("a", refused=True),
        ToolFinished("a", interrupted=True),
        ToolFinished("a", empty=True),
    ],
    ids=["failed", "refused", "interrupted", "empty"],
)
def test_a_call_that_showed_nothing_is_no_proof(nothing: ToolFinished) -> None:
    assert not has_read(session(nothing))
    assert has_read(session(nothing, ToolFinished("b", text="# Handoff")))

"""What a transcript tells of a turn that an earlier process of the session did not end."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cockpit.core.handoff.events import Turn
from cockpit.core.reading import Confidence, Window
from cockpit.core.session import TurnRecorded
from cockpit.supervisor.agents.session_state import SessionState

OPENED = 1_000.0


@pytest.mark.parametrize(
    ("opened_at", "recorded_at", "turn"),
    [
        (OPENED, 999.0, Turn.IDLE),
        (OPENED, 1_001.0, Turn.WORKING),
        (OPENED, None, Turn.WORKING),
        (None, 999.0, Turn.WORKING),
    ],
    ids=["before", "after", "undated", "unknown start"],
)
def test_a_turn_ends_with_its_process(
    opened_at: float | None, recorded_at: float | None, turn: Turn
) -> None:
    state = SessionState(
        directory="/w", window_of=lambda _model: Window(200_000, Confidence.ASSUMED)
    )
    state.opened_at = opened_at
    at = None if recorded_at is None else datetime.fromtimestamp(recorded_at, UTC)
    state.read([TurnRecorded(working=True, at=at)], 2_000.0)
    assert state.activity.turn is turn

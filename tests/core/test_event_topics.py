"""What an event means to hooks and notifications, also one of another version."""

from __future__ import annotations

import pytest

from cockpit.core.event_data import from_data
from cockpit.core.event_topics import happened, topic


@pytest.mark.parametrize(
    ("kind", "data", "events"),
    [
        ("band.crossed", {"reached": ["notice"]}, ()),
        ("band.crossed", {"reached": ["warn", "act"]}, (("context_warning", None),)),
        ("agent.exited", {}, (("after_run", "failed"), ("error", None))),
        ("agent.exited", {"status": 0, "completed": True}, (("after_run", "completed"),)),
        ("agent.exited", {"status": 0, "completed": True, "told": True}, ()),
        ("agent.exited", {"status": 0}, (("after_run", "stopped"),)),
        ("agent.stopped", {}, (("after_run", "stopped"),)),
        ("agent.stopped", {"told": True}, ()),
        ("handoff.revived", {}, (("error", None),)),
        ("session.cleared", {}, (("session_start", None),)),
        ("hook.failed", {}, ()),
        ("handoff.invented", {"reached": ["warn"]}, ()),
        ("band.crossed", {"reached": 5}, ()),
    ],
)
def test_what_an_event_means(kind: str, data: dict[str, object], events: object) -> None:
    assert happened(from_data(kind, data)) == events


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        ("agent.needs_you", {}, "needs_you"),
        ("handoff.confirmed", {}, "handed_off"),
        ("handoff.failed", {}, "failed"),
        ("agent.exited", {"status": 1}, "failed"),
        ("agent.exited", {"signal": 9, "status": None}, "failed"),
        ("agent.exited", {"status": 0, "completed": True}, "done"),
        ("agent.exited", {"status": 0, "completed": False}, None),
        ("run.completed", {}, "done"),
        ("agent.stopped", {}, None),
        ("band.crossed", {"reached": ["warn"]}, None),
        ("hook.failed", {}, None),
        ("budget.crossed", {"cost_usd": 5.2, "budget_usd": 5.0}, "needs_you"),
        (
            "budget.day_crossed",
            {"day": "2026-01-31", "cost_usd": 20.1, "budget_usd": 20.0},
            "needs_you",
        ),
    ],
)
def test_topics(kind: str, data: dict[str, object], expected: str | None) -> None:
    assert topic(from_data(kind, data)) == expected

"""No number in another program's file makes a time that cockpit cannot show."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cockpit.adapters.agents.claude.other_sessions import _seconds
from cockpit.adapters.agents.claude.record import parse as claude
from cockpit.adapters.agents.claude.runtime import status_report
from cockpit.adapters.agents.codex.record import parse as codex
from cockpit.adapters.agents.copilot.record import parse as copilot
from cockpit.adapters.agents.gemini.record import parse as gemini
from cockpit.adapters.agents.opencode.record import parse as opencode
from cockpit.core.own_record import parse as own
from cockpit.core.session import ApiFailed, SessionEvent, Skipped, TurnFailed
from cockpit.core.timestamps import (
    LATEST,
    clock_time,
    moment,
    rfc3339,
    unix_milliseconds,
    unix_time,
)
from cockpit.supervisor.agents.session_state import stamp

NUMBERS = st.one_of(st.floats(), st.integers())
ABSURD = [
    float("nan"), float("inf"), float("-inf"), 1e300, -1.0, -62135596801.0, 253402300800.0,
    2**53 - 1, 10**400, 1.0000001e10, 1e13,
]  # fmt: skip
WRITTEN = [
    "0001-01-01T00:00:00+23:59", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59",
    "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z", "2286-12-01T00:00:00Z",
]  # fmt: skip


@pytest.mark.parametrize("absurd", ABSURD)
def test_what_can_be_no_time_is_unknown(absurd: float) -> None:
    assert unix_time(absurd) is None
    assert unix_milliseconds(absurd * 1000) is None


@pytest.mark.parametrize("value", [None, True, "1700000000", [1], {}])
def test_only_a_number_is_unix_seconds(value: object) -> None:
    assert unix_time(value) is None
    assert unix_milliseconds(value) is None


def test_a_time_of_today_is_kept() -> None:
    assert unix_time(1_789_000_000) == 1_789_000_000.0
    assert unix_milliseconds(1_789_000_000_500) == 1_789_000_000.5
    assert moment("2026-11-23T10:00:00+02:00") == datetime(2026, 11, 23, 8, tzinfo=UTC)
    assert rfc3339(1_789_000_000) == "2026-09-10T00:26:40Z"
    assert clock_time(1_789_000_000) == "10 Sep 2026 00:26 UTC"


@pytest.mark.parametrize("written", [*WRITTEN, "2026-11-23T10:00:00", "soon", 7, None])
def test_a_text_that_is_no_known_time_is_unknown(written: object) -> None:
    assert moment(written) is None


@given(NUMBERS)
def test_every_number_can_be_formatted(seconds: float) -> None:
    shown = datetime.fromisoformat(rfc3339(seconds))
    assert 0 <= shown.timestamp() <= LATEST
    assert clock_time(seconds).endswith(" UTC")


for each in ABSURD:
    test_every_number_can_be_formatted = example(each)(test_every_number_can_be_formatted)


@given(st.one_of(NUMBERS, st.sampled_from(ABSURD)))
def test_a_number_is_unknown_or_a_time_to_calculate_with(value: float) -> None:
    for read in (unix_time, unix_milliseconds, _seconds):
        seconds = read(value)
        assert seconds is None or datetime.fromtimestamp(seconds, UTC) + timedelta(days=365)


# Each CLI's reader


def _line(record: object) -> bytes:
    return json.dumps(record).encode()


def _events(parse: Callable[[bytes], Sequence[SessionEvent] | Skipped], record: object) -> object:
    found = parse(_line(record))
    return () if isinstance(found, Skipped) else found


def _resets(events: object) -> list[float | None]:
    assert isinstance(events, Sequence)
    failures = [each.error if isinstance(each, TurnFailed) else each for each in events]
    return [each.resets_at for each in failures if isinstance(each, ApiFailed)]


def _own(line: bytes) -> Sequence[SessionEvent] | Skipped:
    return own(line, "1")


@given(st.one_of(NUMBERS, st.sampled_from(ABSURD)))
def test_the_reset_of_a_usage_limit_is_unknown_or_a_time(value: float) -> None:
    limits = {"five_hour": {"used_percentage": 100, "resets_at": value}}
    noticed = {"role": "assistant", "content": [{"type": "text", "text": f"Limit|{value}"}]}
    found = [
        *_resets(_events(_own, {"failed": {"status": 429, "resets_at": value}})),
        *_resets(_events(opencode, {"type": "failed", "message": "limit", "resets": value})),
        *_resets(
            _events(claude, {"type": "assistant", "isApiErrorMessage": True, "message": noticed})
        ),
        status_report({"rate_limits": limits}).limit_resets,
    ]
    for seconds in found:
        assert seconds is None or 0 <= seconds <= LATEST


def test_an_absurd_reset_leaves_the_failure_known() -> None:
    failed = {"failed": {"message": "limit", "status": 429, "resets_at": 2**53 - 1}}
    assert _resets(_events(_own, failed)) == [None]
    line = {"type": "failed", "message": "limit", "status": 429, "resets": 1e300}
    assert _resets(_events(opencode, line)) == [None]


def _timed(at: object) -> list[tuple[Callable[[bytes], Sequence[SessionEvent] | Skipped], object]]:
    """A line of each CLI that is written at this time."""
    completed = {"type": "item_completed", "item": {"type": "UserMessage", "content": "go"}}
    return [
        (
            claude,
            {"type": "user", "timestamp": at, "message": {"role": "user", "content": "Go on."}},
        ),
        (codex, {"timestamp": at, "type": "event_msg", "payload": completed}),
        (gemini, {"type": "user", "timestamp": at, "content": "Go on."}),
        (copilot, {"type": "user.message", "timestamp": at, "data": {"content": "Go on."}}),
        (opencode, {"type": "prompt", "at": at, "text": "Go on."}),
        (_own, {"prompt": "Go on.", "at": at}),
    ]


@given(st.one_of(NUMBERS, st.sampled_from(ABSURD), st.sampled_from(WRITTEN)))
def test_the_time_of_a_line_is_unknown_or_a_time(at: object) -> None:
    for parse, record in _timed(at):
        events = _events(parse, record)
        assert isinstance(events, Sequence)
        for event in events:
            assert 0 <= stamp(event, 1.0) <= 1.0
            written = getattr(event, "at", None)
            assert written is None or 0 <= written.timestamp() <= LATEST


def test_the_lines_above_are_read() -> None:
    for parse, record in _timed("2026-11-23T10:00:00Z")[:4]:
        assert any(getattr(each, "at", None) for each in parse(_line(record))), record  # type: ignore[union-attr]
    for parse, record in _timed(1_789_000_000)[4:]:
        assert any(getattr(each, "at", None) for each in parse(_line(record))), record  # type: ignore[union-attr]


@pytest.mark.parametrize("cost", [float("nan"), float("inf"), -1, 1e300, 10**400, True])
def test_an_absurd_cost_of_opencode_is_not_counted(cost: float) -> None:
    assert _events(opencode, {"type": "cost", "usd": cost}) == ()

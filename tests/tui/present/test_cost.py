"""Money and usage limits on the screen: told where they were told, and never a guess."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from cockpit.tui.present.agent import head
from cockpit.tui.present.cost import LEAST_TIME, over_budget, per_hour, rate_spans
from cockpit.tui.present.detail import rule
from cockpit.tui.present.fleet import AgentLine, row_spans
from cockpit.tui.present.inbox import heading, items
from cockpit.tui.present.row import row_of
from cockpit.tui.present.span import plain
from cockpit.wire.course import Course, CoursePoint, Stretch
from cockpit.wire.status import RateLimitStatus
from tests.tui.present.listed import layout_of
from tests.tui.scene import agent

NOW = datetime(2026, 11, 21, 21, 0, tzinfo=UTC)
OVER = agent("api", chain_cost_usd=5.2, budget_usd=5.0, over_budget=True, activity="Edit a.py")
LATER = "2099-11-21T22:00:00Z"
LIMITS = [
    RateLimitStatus(name="five_hour", used=0.625, resets_at=LATER),
    RateLimitStatus(name="seven_day", used=0.93, resets_at=LATER),
]


def test_a_job_over_its_budget_says_so_on_its_row() -> None:
    row = row_of(OVER, heard_seconds=0.0, now=NOW)
    assert row.activity == "cost $5.20 of a budget of $5.00; Edit a.py"
    spans = row_spans(row, AgentLine("api", 1), layout_of([row], 120), selected=False)
    assert [span.role for span in spans if "$5.20" in span.text and "budget" not in span.text] == [
        "warning"
    ]
    assert over_budget(agent("api", chain_cost_usd=5.2)) is None
    assert "budget" not in row_of(agent("api", chain_cost_usd=4.0, budget_usd=5.0),
                                  heard_seconds=0.0, now=NOW).activity  # fmt: skip


def test_it_is_in_the_inbox_without_being_counted_as_waiting() -> None:
    (item,) = items([OVER])
    assert (item.kind, item.who) == ("budget", "api")
    assert item.what == "The job has cost $5.20 of a budget of $5.00."
    assert "does not stop the agent" in item.says[1]
    assert "1 budget" in plain(heading([item], "local", 80))
    assert [span.role for span in heading([item], "local", 80)][2] == "muted"
    higher = OVER.model_copy(update={"budget_usd": 9.0, "over_budget": False})
    assert items([higher]) == []


def test_usage_limits_are_those_that_were_told() -> None:
    assert rate_spans(agent("api"), NOW) == []
    told = agent("api", rate_limits=LIMITS)
    spans = rate_spans(told, NOW)
    assert plain(spans) == "5h 62% 7d 93%"
    assert [span.role for span in spans] == ["muted", "warning"]
    assert "5h 62% 7d 93%" in plain(rule(told, 160))
    assert "5h 62% 7d 93%" in plain(head("api", told, 200, live=True))


def test_a_limit_that_was_reset_since_or_has_no_valid_time_is_not_shown() -> None:
    limits = [
        LIMITS[0].model_copy(update={"resets_at": "2026-11-21T20:59:00Z"}),
        LIMITS[1].model_copy(update={"resets_at": "soon"}),
        RateLimitStatus(name="spend_limit\x1b[2J", used=0.1),
    ]
    said = plain(rate_spans(agent("api", rate_limits=limits), NOW))
    assert "5h" not in said
    assert "7d" not in said
    assert "\x1b" not in said
    assert said.endswith("10%")


def spent_over(seconds: float, **fields: Any) -> str | None:
    """What an agent is said to cost an hour, if that much time is between its replies."""
    spending = agent("api", **{"cost_usd": 1.5, "session_id": "s", **fields})
    points = [CoursePoint(1, 10, "reply", 1000.0), CoursePoint(2, 20, "reply", 1000.0 + seconds)]
    before = Stretch(session="before", number=1, state="handed_off")
    now = Stretch(session="s", number=2, state="live", points=points)
    return per_hour(spending, Course(agent="api", stretches=[before, now]))


def test_the_cost_an_hour_is_that_of_the_session_over_its_time() -> None:
    assert spent_over(3600) == "$1.50/h"
    assert spent_over(7200) == "$0.75/h"
    assert spent_over(900) == "$6.00/h"


def test_without_enough_facts_there_is_no_cost_an_hour() -> None:
    assert spent_over(LEAST_TIME - 1) is None
    assert spent_over(3600, cost_usd=None) is None
    assert spent_over(3600, session_id="another") is None
    spending = agent("api", cost_usd=1.5, session_id="s")
    assert per_hour(spending, None) is None
    untimed = Stretch(session="s", number=1, state="live", points=[CoursePoint(1, 10)])
    assert per_hour(spending, Course(agent="api", stretches=[untimed])) is None


def test_the_title_has_the_cost_an_hour_where_there_is_room() -> None:
    spending = agent("api", cost_usd=1.5)
    said = plain(head("api", spending, 140, live=True, per_hour="$0.62/h"))
    assert "$1.50  $0.62/h" in said
    assert "/h" not in plain(head("api", spending, 40, live=True, per_hour="$0.62/h"))

"""The line at the top, the detail of the selected agent, and the line of keys."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from cockpit.tui.keys.actions import ACTIONS
from cockpit.tui.present.detail import reason, rule
from cockpit.tui.present.keys import key_line, possible
from cockpit.tui.present.span import plain
from cockpit.tui.present.states import look_of
from cockpit.tui.present.summary import joined_summary, summary, title
from cockpit.tui.present.trend import trend
from cockpit.tui.state.model import Connection, Day, Model
from cockpit.wire.status import ContextStatus, Status
from cockpit.wire.stream import Snapshot
from tests.tui.scene import agent, fleet

LIVE = Connection(live=True)


def test_counts_and_the_total_cost_are_at_the_top() -> None:
    line = plain(summary(fleet(), "local", LIVE, 110, 0))
    assert line.startswith(" cockpit  2 need you · 1 handing off · 3 working · 1 idle · 1 stopped")
    assert line.rstrip().endswith("$5.32  local")


def test_a_total_without_the_cost_of_some_session_is_marked() -> None:
    counted = agent("a", cost_usd=3.1)
    unknown = agent("b", cost_usd=None, context=ContextStatus(tokens=9000))
    unused = agent("c", cost_usd=None, context=ContextStatus())
    for other, total in ((unknown, "$3.10+"), (unused, "$3.10")):
        line = plain(summary([counted, other], "local", LIVE, 110, 0))
        assert line.rstrip().endswith(f"{total}  local")


def test_the_budget_of_the_day_is_at_the_top_and_stays_longest() -> None:
    few, day = [agent("a", cost_usd=3.1)], Day(12.5, 20.0)
    said = "today $12.50 of $20.00"
    line = plain(summary(few, "local", LIVE, 80, 0, day=day))
    assert line.rstrip().endswith(f"$3.10  {said}  local")
    line = plain(summary(few, "local", LIVE, 50, 0, day=day))
    assert line.rstrip().endswith(said)
    assert "$3.10" not in line
    assert "today" not in plain(summary(few, "local", LIVE, 80, 0, day=Day(12.5, None)))
    unknown = plain(summary(few, "local", LIVE, 80, 0, day=Day(None, 20.0)))
    assert "today – of $20.00" in unknown


def test_a_budget_of_the_day_that_is_nearly_used_stands_out() -> None:
    def role(spent: float) -> str:
        spans = summary([agent("a")], "local", LIVE, 80, 0, day=Day(spent, 20.0))
        return next(span.role for span in spans if "today" in span.text)

    assert [role(spent) for spent in (12.0, 18.0, 20.0)] == ["muted", "warning", "error"]


def test_of_several_hosts_only_a_budget_that_is_nearly_used_is_told() -> None:
    model = Model(others=["gpu1"])
    for part in model.parts.values():
        part.answered()
        part.day = Day(1.0, 20.0)
    model.parts["gpu1"].day = Day(19.0, 20.0)
    line = plain(joined_summary([agent("a")], list(model.parts.values()), 110, 0))
    assert "gpu1 today $19.00 of $20.00" in line
    assert line.count("today") == 1


def test_a_lost_supervisor_is_said_with_the_age_of_the_picture() -> None:
    lost = Connection(live=False, lost_at=100.0, why="gone")
    line = plain(summary(fleet(), "local", lost, 110, 100.0 + 240))
    assert "supervisor unreachable · last seen 4m ago" in line


def test_a_lost_host_is_said_with_the_reason() -> None:
    why = "Host gpu1 is not reached: ssh: \x1b[31mConnection refused"
    lost = Connection(live=False, lost_at=100.0, why=why)
    line = plain(summary(fleet(), "gpu1", lost, 160, 100.0 + 240))
    assert "gpu1 ○ lost 4m ago: Host gpu1 is not reached: ssh: Connection refused" in line
    assert line.rstrip().endswith("to check: cockpit doctor --host gpu1")
    assert "connecting to gpu1…" in plain(summary([], "gpu1", Connection(), 80, 0.0))


@pytest.mark.parametrize("width", [*range(1, 60), 110, 300])
@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("host", ["local", "gpu1"])
def test_it_is_exactly_as_wide_as_the_screen(width: int, live: bool, host: str) -> None:
    connection = LIVE if live else Connection(lost_at=1.0, why="gone")
    assert cell_len(plain(summary(fleet(), host, connection, width, 5.0))) == width


@pytest.mark.parametrize("width", range(24, 120))
def test_the_least_urgent_counts_give_way_whole(width: int) -> None:
    said = plain(summary(fleet(), "local", LIVE, width, 0.0)).split("  ")[1].strip()
    every = ["2 need you", "1 handing off", "3 working", "1 idle", "1 stopped"]
    assert said.split(" · ") == every[: len(said.split(" · "))]


def test_the_title_of_the_terminal_says_who_is_needed() -> None:
    assert title(fleet()) == "2 need you"
    assert title([agent("x", "needs_you")]) == "1 needs you"
    assert title([agent("x")]) == ""


@pytest.mark.parametrize("width", [*range(1, 60), 110, 300])
def test_the_rule_is_exactly_as_wide_as_the_screen(width: int) -> None:
    assert cell_len(plain(rule(agent("api"), width))) == width


@pytest.mark.parametrize("width", range(12, 160))
@pytest.mark.parametrize("framed", [True, False])
def test_no_part_of_the_rule_is_cut(width: int, framed: bool) -> None:
    one = next(agent for agent in fleet() if agent.name == "api")
    said = plain(rule(one, width, framed=framed))
    assert cell_len(said) == width
    said = said.strip("─╭╮ ")
    whole = plain(rule(one, 300)).strip("─ ")
    assert whole.startswith(said)
    assert whole[len(said) :][:2] in {"", "  "} or said == "api"


def test_the_rule_says_what_the_row_leaves_out() -> None:
    one = next(agent for agent in fleet() if agent.name == "api")
    said = plain(rule(one, 160))
    for words in ("142k/200k act", "11 turns left", "session 2 (max 4)", "agent/api/shop-14"):
        assert words in said
    assert "session 5 " in plain(rule(agent("x", session_number=5), 160))


def test_the_rule_says_home_as_a_tilde() -> None:
    one = agent("api", directory="/home/me/shop", worktree=None)
    assert "~/shop" in plain(rule(one, 120, home="/home/me"))
    assert "/home/me/shop" in plain(rule(one, 130, home="/home/you"))


def test_what_an_agent_needs_is_said_in_full() -> None:
    needing = next(one for one in fleet() if one.name == "mailer")
    assert plain(reason(needing)) == " ◆ permission  Bash git push origin agent/mailer"
    assert reason(agent("x")) == []


def test_where_the_state_stands_above_only_the_sentence_is_said() -> None:
    for one in fleet():
        named, alone = plain(reason(one)), plain(reason(one, named=False))
        assert alone.strip() in named
        if one.needs or one.handoff:
            assert look_of(one).glyph in named
            assert look_of(one).glyph not in alone


def with_selected(name: str) -> Model:
    model = Model(selected=name)
    model.main.take(Snapshot(status=Status(agents=fleet())), 0.0)
    model.main.answered()
    return model


def test_the_key_line_shows_only_what_can_be_done_now() -> None:
    answering = {action.id for action in possible(with_selected("api"), "fleet")}
    working = {action.id for action in possible(with_selected("checkout"), "fleet")}
    assert {"approve", "refuse", "document"} <= answering
    assert "approve" not in working
    assert "handoff" in working
    assert "handoff" not in answering


def test_an_action_without_a_key_is_not_on_the_key_line() -> None:
    spans, hints = key_line(possible(with_selected("checkout"), "fleet"), {"attach": ""}, 100)
    assert "attach" not in [hint.action for hint in hints]
    assert "attach" not in plain(spans)


def test_what_an_answer_needs_stays_longest_on_a_narrow_key_line() -> None:
    def offered(width: int) -> list[str]:
        _, hints = key_line(possible(with_selected("api"), "fleet"), {}, width)
        return [hint.action for hint in hints]

    assert offered(60) == ["approve", "refuse", "snooze", "document", "help", "quit"]
    assert offered(70) == ["approve", "refuse", "document", "attach", "help", "quit"]
    assert offered(46) == ["approve", "document", "help", "quit"]


def test_without_a_supervisor_no_key_is_offered_that_asks_it() -> None:
    there = with_selected("checkout")
    there.main.lost(0.0, "gone")
    offered = [action.id for action in possible(there, "fleet")]
    assert offered == ["attach", "open", "help", "quit"]


def test_the_pane_of_a_machine_that_is_lost_is_not_offered() -> None:
    there = with_selected("checkout")
    there.main.host = "build"
    assert "attach" in [action.id for action in possible(there, "fleet")]
    there.main.lost(0.0, "no route")
    assert "attach" not in [action.id for action in possible(there, "fleet")]


@pytest.mark.parametrize("width", range(10, 120))
def test_help_and_the_way_out_stay_on_the_key_line(width: int) -> None:
    spans, hints = key_line(possible(with_selected("api"), "fleet"), {}, width)
    if width >= 20:
        assert [hint.action for hint in hints][-2:] == ["help", "quit"]
    for hint in hints:
        words = next(action.title for action in ACTIONS if action.id == hint.action)
        assert plain(spans)[hint.start : hint.end].endswith(words)
        assert hint.end <= width


def test_a_supervisor_that_is_away_or_strange_comes_with_its_remedy() -> None:
    away = Connection(live=False, lost_at=0.0)
    said = plain(summary(fleet(), "local", away, 100, 30.0))
    assert "supervisor unreachable · last seen just now" in said
    assert said.rstrip().endswith("start it: cockpit up")
    assert "supervisor unreachable" in plain(summary(fleet(), "local", away, 60, 30.0))
    incompatible = Connection(live=False, lost_at=0.0, incompatible=True)
    said = plain(summary(fleet(), "local", incompatible, 100, 30.0))
    assert "the supervisor runs another version" in said
    assert said.rstrip().endswith("cockpit restart")
    said = plain(summary(fleet(), "local", Connection(live=True), 100, 30.0, "0.0.9"))
    assert said.rstrip().endswith("supervisor 0.0.9")


def test_what_waits_for_trust_is_told_at_the_top() -> None:
    assert "2 untrusted settings (inbox)" in plain(summary(fleet(), "local", LIVE, 140, 0, held=2))
    assert "untrusted" not in plain(summary(fleet(), "local", LIVE, 140, 0))


@pytest.mark.parametrize("framed", [False, True])
def test_the_trend_is_in_the_title_at_eighty_columns_too(framed: bool) -> None:
    one = agent("durations-and-mo", tokens=142_000, branch="agent/x")
    shown = trend(one.context.trend, one.context.window)
    assert len(shown) > 1
    assert shown in plain(rule(one, 80, framed=framed))

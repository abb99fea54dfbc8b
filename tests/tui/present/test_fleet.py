"""Groups in the order in which they want the user; rows that say what is known and no more."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cockpit.tui.present.fleet import AgentLine, Gap, Heading, heading_spans, row_spans
from cockpit.tui.present.row import Row, row_of
from cockpit.tui.present.span import plain
from cockpit.tui.present.states import GROUPS, Look, look_of
from cockpit.wire.status import AgentStatus, HandoffStatus, Needs
from tests.tui.present.listed import layout_of, lines_of
from tests.tui.scene import agent, context
from tests.tui.test_pictures import one_time_zone

__all__ = ["one_time_zone"]

NOW = datetime(2026, 11, 21, 20, 0, tzinfo=UTC)


def row(one: AgentStatus, heard: float = 0.0) -> Row:
    return row_of(one, heard_seconds=heard, now=NOW)


def test_who_needs_the_pilot_stands_first_and_stopped_agents_last() -> None:
    agents = [agent("a", "stopped", None), agent("b"), agent("c", "idle"), agent("d", "needs_you")]
    lines = lines_of(agents)
    titles = [line.group.title for line in lines if isinstance(line, Heading)]
    assert titles == ["needs you", "working", "idle", "stopped"]
    assert [line.name for line in lines if isinstance(line, AgentLine)] == ["d", "b", "c", "a"]
    assert [line.number for line in lines if isinstance(line, AgentLine)] == [1, 2, 3, 4]


ASKS = {
    "Bash rm -rf build": Needs(
        kind="permission", detail="Bash rm", tool="Bash", command="rm -rf\n build"
    ),
    "Which colour?": Needs(kind="question", detail="Which colour?"),
    "document ready": Needs(kind="review", detail="the handoff document waits"),
    "act mark at 140k": Needs(
        kind="handoff", detail="hand off? act mark at 140k", due="act mark at 140k"
    ),
    "the API refused: billing": Needs(kind="failed", detail="the API refused: billing"),
    "until 22:00": Needs(kind="usage_limit", detail="-", resets_at="2026-11-21T22:00:00Z"),
    "until 11-24 08:00": Needs(kind="usage_limit", detail="-", resets_at="2026-11-24T08:00:00Z"),
    "You have hit your limit": Needs(kind="usage_limit", detail="You have hit your limit"),
}


@pytest.mark.parametrize("said", ASKS)
def test_a_row_that_waits_says_for_what_and_not_what_was_done_before(said: str) -> None:
    asked = agent("api", "needs_you", needs=ASKS[said], activity="Read x")
    assert row(asked).activity == said


def test_a_review_shows_what_the_check_did_not_find() -> None:
    handoff = {"id": "h", "phase": "review", "since": "", "reason": "threshold"}
    handoff["not_found"] = "1 file not found: tests/test_parse.py"
    needs = Needs(kind="review", detail="the handoff document waits")
    asked = agent("api", "needs_you", needs=needs, handoff=handoff)
    assert row(asked).activity == "✗ 1 file not found: tests/test_parse.py"


def test_every_state_of_the_wire_has_a_group_and_a_look() -> None:
    states = AgentStatus.model_fields["state"].annotation.__args__  # type: ignore[union-attr]
    assert set(states) == {state for group in GROUPS for state in group.states}
    for state in states:
        look = look_of(agent("x", state))
        assert look.glyph
        assert look.word


def test_an_agent_that_ended_well_is_no_failure() -> None:
    assert look_of(agent("x", "exited", exit_code=0)) == Look("·", "ended", "muted")
    assert look_of(agent("x", "exited", exit_code=1)).role == "failed"
    assert look_of(agent("x", "exited")).role == "failed"


@pytest.mark.parametrize(
    ("state", "shown"), [("working", True), ("handing_off", True), ("idle", False), ("done", False)]
)
def test_turns_left_belong_to_agents_that_use_their_context(state: str, shown: bool) -> None:
    row = row_of(agent("x", state, context=context(142_000)), heard_seconds=0.0, now=NOW)
    assert bool(row.turns) is shown


def test_the_word_of_the_state_is_not_repeated_in_the_note() -> None:
    ended = agent("x", "exited", exit_code=0, note="ended with exit code 0.")
    shown = row_of(ended, heard_seconds=0.0, now=NOW)
    assert (shown.state, shown.activity) == ("ended", "with exit code 0.")


@pytest.mark.parametrize("state", ["done", "stopped", "exited"])
def test_an_agent_that_has_ended_does_nothing(state: str) -> None:
    done = agent("x", state, activity="Edit auth.py", note="by you")
    assert row_of(done, heard_seconds=0.0, now=NOW).activity == "by you"


def test_a_filter_wants_all_of_its_words() -> None:
    agents = [agent("api", activity="Edit auth.py"), agent("web", activity="Edit page.tsx")]
    assert [line.name for line in lines_of(agents, "edit API") if isinstance(line, AgentLine)] == [
        "api"
    ]
    assert lines_of(agents, "nothing like it") == []
    found = lines_of([agent("api", "needs_you"), agent("web")], "needs you")
    assert lines_of([agent("api", mode="prompt")], "ro") == []
    assert [line.name for line in found if isinstance(line, AgentLine)] == ["api"]
    asks = agent("web", "needs_you", needs=Needs(kind="review", detail="-"))
    found = lines_of([agent("api", "needs_you"), asks], "review")
    assert [line.name for line in found if isinstance(line, AgentLine)] == ["web"]


def test_the_state_is_said_as_precisely_as_it_is_known() -> None:
    needing = agent("x", "needs_you", needs=Needs(kind="permission", detail="Bash"))
    handing = agent(
        "x",
        "handing_off",
        handoff=HandoffStatus(id="1", reason="manual", phase="confirming", since=""),
    )
    assert look_of(needing).word == "permission"
    assert look_of(handing).word == "confirming"
    assert look_of(agent("x", "needs_you")).word == "needs you"


def test_a_reading_that_got_old_while_working_says_so() -> None:
    young, old = row(agent("x"), heard=60), row(agent("x"), heard=300)
    assert not young.stale
    assert young.turns.endswith("left")
    assert old.stale
    assert old.turns == "5m old"
    assert not row(agent("x", "idle"), heard=300).stale


def test_a_row_stays_equal_while_nothing_but_seconds_pass() -> None:
    one = agent("x", last_activity_at="2026-11-21T19:59:30Z")
    assert row(one, heard=0.0) == row(one, heard=20.0)


def test_a_guess_is_marked_as_one() -> None:
    guessed = row(agent("x", context=context(127_000, confidence="assumed")))
    assert guessed.tokens == "127k/~200k"
    assert guessed.percent == "~64%"


def test_what_is_not_known_is_a_dash_and_what_is_not_there_is_nothing() -> None:
    assert row(agent("x", "working", None)).tokens == "–"
    assert row(agent("x", "stopped", None)).tokens == ""
    assert row(agent("x", chain_cost_usd=None)).cost == ""


def test_tool_calls_stand_in_for_a_reading_that_cannot_be_had() -> None:
    assert row(agent("x", context=context(None, tool_calls=37))).tokens == "37 calls"


def test_the_chain_has_a_limit_only_while_it_holds() -> None:
    assert row(agent("x", session_number=2)).chain == "2/4"
    assert row(agent("x", session_number=5)).chain == "5/…"
    assert row(agent("x", session_number=1, max_handoffs=0)).chain == "1/1"
    assert row(agent("x", session_number=2, max_handoffs=0)).chain == "2/…"


@given(text=st.text())
def test_no_foreign_text_reaches_a_row_with_control_characters(text: str) -> None:
    made = row(agent("x", activity=text))
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in made.activity)


@pytest.mark.parametrize("width", [*range(1, 40), 80, 140])
@pytest.mark.parametrize("frame", ["", "frame"])
def test_a_heading_is_a_rule_of_the_whole_width(width: int, frame: str) -> None:
    first = lines_of([agent("api", "handing_off")])[0]
    assert isinstance(first, Heading)
    line = plain(heading_spans(first, width, "fullest first", frame))
    assert cell_len(line) == width
    if width > 25:
        assert "handing off 1 ─" in line
        assert line[0] == ("╭" if frame else "─")
        assert line[-1] == ("╮" if frame else "─")


def test_a_state_that_the_heading_says_is_not_said_again() -> None:
    assert row(agent("x")).state == ""
    assert row(agent("x", "done")).state == ""
    assert row(agent("x", "starting")).state == "starting"
    asked = agent("x", "needs_you", needs=Needs(kind="permission", detail="Bash"))
    assert row(asked).state == "permission"


def said(one: AgentStatus, heard: float = 0.0, width: int = 100) -> str:
    shown = row(one, heard)
    place = AgentLine(one.name, 1)
    return plain(row_spans(shown, place, layout_of([shown], width), selected=False))


def test_a_row_shows_state_name_bar_percentage_and_what_the_agent_does_in_this_order() -> None:
    asked = agent(
        "api", "needs_you", 100_000, needs=Needs(kind="review", detail="-"), chain_cost_usd=1.5
    )
    parts = said(asked).split()
    assert parts[:3] == ["1", "◆", "api"]
    assert parts[4:] == ["50%", "review", "document", "ready", "$1.50"]


def test_an_old_reading_says_its_age_in_the_row() -> None:
    assert "5m old" in said(agent("x", activity="Bash pytest"), heard=300)
    assert "old" not in said(agent("x", activity="Bash pytest"), heard=60)


def roles(one: AgentStatus) -> set[str]:
    shown = row(one)
    place = AgentLine(one.name, 1)
    return {span.role for span in row_spans(shown, place, layout_of([shown], 100), selected=False)}


def test_the_row_of_an_agent_that_is_done_is_grey() -> None:
    assert "name" not in roles(agent("x", "done"))
    assert "name" in roles(agent("x", "idle"))


def test_groups_stand_apart_where_there_is_room_and_keep_their_numbers() -> None:
    agents = [agent("a"), agent("b", "needs_you"), agent("c", "idle")]
    airy = lines_of(agents, airy=True)
    assert [type(line) for line in airy] == [
        Heading,
        AgentLine,
        Gap,
        Heading,
        AgentLine,
        Gap,
        Heading,
        AgentLine,
    ]
    assert [line for line in airy if not isinstance(line, Gap)] == lines_of(agents)

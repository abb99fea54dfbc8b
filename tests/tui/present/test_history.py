"""Chains as lines: every handoff once, newest first, whatever its document says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from rich.cells import cell_len

from cockpit.tui.present.comparison import compared, drawn
from cockpit.tui.present.history import detail, entries, folded, heading, line, title, widest_name
from cockpit.tui.present.span import plain
from cockpit.wire.history import HistoryHandoff
from tests.tui.scene_history import chain, chains, handoff, session

NOW = datetime(2026, 11, 21, 21, 0, tzinfo=UTC)
AT = "2026-11-21T20:00:00+00:00"


def test_every_handoff_is_there_newest_first_also_one_without_a_document() -> None:
    found = entries(chains())
    assert len(found) == 8
    assert [entry.created for entry in found] == sorted(
        (entry.created for entry in found), reverse=True
    )
    assert [entry.id for entry in found if not entry.can_open] == ["h-docs"]
    assert {entry.agent for entry in entries(chains(), "search")} == {"search"}


def test_a_refused_handoff_keeps_its_own_count_and_leads_to_no_session() -> None:
    refused = handoff("a", AT, "refused", tokens=149_000)
    (entry,) = entries([chain("api", session(1, refused, tokens=159_000, cost_usd=4.0))])
    text = plain(line(entry, 98, NOW, 8, marked=False))
    assert "149k" in text
    assert "→" not in text
    assert title(entry) == "api 1"
    assert "$" not in plain(detail(entry, 98, 4)[1])
    # A supervisor of an earlier version does not send the count.
    (unknown,) = entries([chain("api", session(1, handoff("a", AT, "refused"), tokens=159_000))])
    assert "159k" not in plain(line(unknown, 98, NOW, 8, marked=False))


@pytest.mark.parametrize(
    ("outcome", "fields", "shown"),
    [
        ("done", {}, "api 1→2"),  # of an earlier version
        ("done", {"new_session_number": 4, "undone": True}, "api 1→4"),
        ("moved", {}, "api 1→2"),
        ("revived", {}, "api 1"),
        (None, {}, "api 1"),
    ],
)
def test_an_arrow_leads_to_the_session_that_continued_the_job(
    outcome: str | None, fields: dict[str, Any], shown: str
) -> None:
    (entry,) = entries([chain("api", session(1, handoff("a", AT, outcome, **fields)))])
    assert title(entry) == shown
    assert f"  {shown.removeprefix('api ')}  " in plain(line(entry, 98, NOW, 3, marked=False))


def test_what_the_context_held_is_said_of_the_last_handoff_of_a_session_only() -> None:
    refused = handoff("a", "2026-11-21T19:00:00Z", "refused")
    done = handoff("b", AT, tokens_after=44_800)
    newest, older = entries([chain("api", session(1, refused, done))])
    assert "142k → 45k" in plain(line(newest, 98, NOW, 8, marked=False))
    assert "142k" not in plain(line(older, 98, NOW, 8, marked=False))


@pytest.mark.parametrize("width", [40, 58, 74, 98, 110, 198])
@pytest.mark.parametrize("marked", [True, False])
def test_a_line_has_exactly_the_width_and_says_its_outcome(width: int, marked: bool) -> None:
    hostile = "漢字\x1b]0;x\x07\u202e 👩‍👩‍👧 [b]" * 20
    bad = handoff("x", AT, "failed", why=hostile, found=hostile, document=hostile)
    (entry,) = entries([chain(hostile, session(1, bad), goal=hostile)])
    widest = widest_name([entry], width)
    text = plain(line(entry, width, NOW, widest, marked=marked))
    assert "\x1b" not in text
    assert cell_len(text) == width
    assert "× failed" in text
    assert text.startswith("*") is marked
    below = detail(entry, width, 4)
    assert all(cell_len(plain(spans)) <= width for spans in below)
    assert "\x1b" not in "".join(plain(spans) for spans in below)


def test_a_narrow_line_shows_the_match_of_the_search() -> None:
    found = "- An invalid duration raises an error, which is a ValueError, as in the parser"
    (entry,) = entries([chain("api", session(1, handoff("a", AT, found=found)))])
    text = plain(line(entry, 80, NOW, 8, marked=False, terms=["valueerror"]))
    assert "ValueError" in text
    assert cell_len(text) == 80
    whole = plain(line(entry, 160, NOW, 8, marked=False, terms=["valueerror"]))
    assert found in whole


def test_the_path_of_a_document_is_whole_where_there_is_a_line_for_it() -> None:
    path = "/home/u/tally/.worktrees/rounding/.cockpit/handoffs/handoff-2026-11-29-184455.md"
    (entry,) = entries([chain("api", session(1, handoff("f9c93cd5-1", AT, document=path)))])
    whole = [plain(spans) for spans in detail(entry, 80, 4, "/home/u")]
    assert whole[-1].strip() == f"~{path.removeprefix('/home/u')}"
    cut = plain(detail(entry, 80, 3, "/home/u")[-1])
    assert cell_len(cut) == 80
    assert cut.rstrip().endswith("/handoff-2026-11-29-184455.md")


def test_the_day_and_the_time_are_whole_on_80_columns() -> None:
    done = handoff("a", AT, tokens_after=24_000, answered_by="somebody@a-machine-with-a-long-name")
    (entry,) = entries([chain("api", session(1, done))])
    below = plain(detail(entry, 80, 4)[1])
    assert below.startswith(" 2026-11-21 ")
    assert "done · by the agent · approved by somebody@" in below


def test_the_quality_of_a_handoff_is_below_it_once_it_is_known() -> None:
    hostile = "[b]x\x1b[2J\u202e漢字"
    known = {
        "document_bytes": 12_400,
        "document_read": True,
        "first_change_seconds": 130.0,
        "repeats": ["committed again: x"],
        "broken_orders": [hostile],
        "asked_again": ["a", "b"],
    }
    good = handoff("a", AT).model_copy(update=known)
    (entry,) = entries([chain("api", session(1, good))])
    below = [plain(spans) for spans in detail(entry, 160, 4)]
    assert below[3].strip() == (
        "document of 12.1 KiB: read by the new session · first edit or commit after 2m · "
        "1 step repeated · 1 standing order broken: [b]x漢字 · 2 questions asked again"
    )
    assert all(cell_len(text) == 160 for text in below)
    (unknown,) = entries([chain("api", session(1, handoff("a", AT)))])
    assert len(detail(unknown, 160, 4)) == 3


def nothing(ident: str, hour: int, outcome: str = "cancelled") -> HistoryHandoff:
    at = f"2026-11-21T{hour:02}:00:00+00:00"
    return handoff(ident, at, outcome, document=None, copy=None, writer=None, why="it compacted")


def test_a_run_that_came_to_nothing_is_one_line_whoever_else_comes_between() -> None:
    api = session(1, *(nothing(f"a{hour}", hour) for hour in range(1, 15)))
    web = session(1, *(nothing(f"w{hour}", hour) for hour in (3, 5)), handoff("w", AT))
    found = folded(entries([chain("api", api), chain("web", web)]))

    assert [(entry.agent, entry.id, entry.times) for entry in found] == [
        ("web", "w", 1), ("api", "a1", 14), ("web", "w3", 2),
    ]  # fmt: skip
    many = found[1]
    assert "14 cancelled, no document" in plain(line(many, 98, NOW, 8, marked=False))
    assert plain(line(many, 98, NOW, 8, marked=False)).startswith("    7h  api")
    below = [plain(spans) for spans in detail(many, 98, 4)]
    assert "14 cancelled, no document" in below[1]
    assert "it compacted" in below[2]
    assert "17 handoffs" in plain(heading(found, 98, agent=None, searched="", marked=0))


def test_a_run_ends_where_something_came_of_a_handoff_and_with_its_session() -> None:
    first = session(1, nothing("a", 1), nothing("f", 2, "failed"), nothing("b", 3))
    second = session(2, nothing("c", 4))
    found = folded(entries([chain("api", first, second)]))
    assert [(entry.id, entry.times) for entry in found] == [("c", 1), ("b", 1), ("f", 1), ("a", 1)]


def test_an_outcome_of_another_version_is_shown_as_it_is() -> None:
    (entry,) = entries([chain("api", session(1, handoff("x", "no time", "taken_over")))])
    assert "· taken over" in plain(line(entry, 98, NOW, 8, marked=False))


def test_a_handoff_that_was_undone_says_so() -> None:
    undone = handoff("x", AT).model_copy(update={"undone": True})
    (entry,) = entries([chain("api", session(1, undone))])
    assert "« undone" in plain(line(entry, 98, NOW, 8, marked=False))


def test_the_heading_says_what_is_left_out() -> None:
    text = plain(heading([], 98, agent="api", searched="auth", marked=1))
    assert "0 handoffs · of api · with “auth” · 1 marked" in text


def test_two_documents_are_compared_under_their_front_matter() -> None:
    before = "---\nagent: api\n---\n# Handoff\n\nold line\nkept\n"
    after = "---\nagent: web\n---\n# Handoff\n\nnew \x1b[31mline\nkept\n"
    lines = compared(before, after)
    assert "-old line" in lines
    assert "+new line" in lines
    assert not any("agent" in each for each in lines)
    assert compared(before, before) == []
    assert "identical" in plain(drawn([], 40)[0])


@pytest.mark.parametrize("width", [12, 40, 100])
def test_all_of_a_comparison_can_be_seen_with_its_signs(width: int) -> None:
    words = [f"word{number}" for number in range(60)]
    shown = drawn(compared("a\n", " ".join(words)), width)
    added = [plain(spans) for spans in shown if plain(spans).startswith(" +")]
    assert all(cell_len(each) <= width for each in added)
    assert " ".join(each[3:].strip() for each in added).split() == words


def test_a_line_has_the_first_line_of_the_goal_and_the_place_is_told_from_home() -> None:
    made = handoff("x", AT, document="/home/me/shop/handoff.md")
    (entry,) = entries([chain("api", session(1, made), goal="Round up.\n\nCommit as you go.")])
    text = plain(line(entry, 120, NOW, 8, marked=False))
    assert "Round up." in text
    assert "Commit" not in text
    assert "~/shop/handoff.md" in plain(detail(entry, 120, 4, "/home/me")[2])


def test_every_host_that_is_missing_is_named_and_the_reason_if_it_fits() -> None:
    def said(width: int, **without: str) -> str:
        return plain(heading([], width, agent=None, searched="", marked=0, without=without)).strip()

    why = "Cannot reach host gpu1: No route to host"
    assert said(98, gpu1=why).endswith(f"without gpu1: {why}")
    assert "without gpu1: Cannot" in said(50, gpu1=why)
    assert said(98, gpu1=why, gpu2="").endswith(f"without gpu1: {why}; gpu2")
    assert said(60, gpu1=why, gpu2=why).endswith("without gpu1, gpu2")
    assert "\x1b" not in said(98, gpu1="\x1b[2J")

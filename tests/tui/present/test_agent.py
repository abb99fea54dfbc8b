"""The head of an agent's screen, and when its files may have changed."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from cockpit.tui.present.agent import SECTIONS, after, files_may_differ, head, tabs
from cockpit.tui.present.span import plain
from tests.tui.scene import agent


@pytest.mark.parametrize("width", [20, 40, 60, 100, 200])
def test_the_head_fits_and_keeps_name_and_state(width: int) -> None:
    one = agent("api", "idle", tokens=142_000, chain_cost_usd=1.1)
    said = plain(head("api", one, width, live=True))
    assert cell_len(said) == width
    assert "api" in said
    assert "idle" in said
    assert ("142k/200k" in said) is (width >= 60)


def test_who_is_gone_and_who_does_not_answer_is_said() -> None:
    assert "no longer listed" in plain(head("api", None, 60, live=True))
    assert "supervisor unreachable" in plain(head("api", agent("api"), 60, live=False))


def test_the_sections_can_be_clicked_and_go_round() -> None:
    spans, hints = tabs("diff", {"agent.diff": "x"}, 80)
    text = plain(spans)
    assert [text[hint.start : hint.end] for hint in hints] == [
        "1 pane", "2 context", "3 facts", "x diff", "5 events",
    ]  # fmt: skip
    assert [span.text for span in spans if span.role == "tab-here"] == [" diff"]
    assert after(SECTIONS[-1].key, 1) == SECTIONS[0].key
    assert after(SECTIONS[0].key, -1) == SECTIONS[-1].key


@pytest.mark.parametrize(
    ("before", "now", "differ"),
    [
        ("Edit a.py", "Read b.py", True),
        ("Read b.py", "Bash make", True),
        ("Read b.py", "Grep x", False),
        ("Edit a.py", "Edit a.py", False),
        (None, None, False),
    ],
)
def test_only_what_writes_may_change_files(
    before: str | None, now: str | None, differ: bool
) -> None:
    one, other = agent("api", activity=before), agent("api", activity=now)
    assert files_may_differ(one, other) is differ


def test_the_end_of_a_turn_and_another_session_may_have_changed_them() -> None:
    one = agent("api", "working", activity="Read x")
    assert files_may_differ(one, agent("api", "idle", activity="Read x"))
    assert files_may_differ(one, agent("api", "working", activity="Read x", session_id="other"))
    assert files_may_differ(None, one)
    assert not files_may_differ(None, None)

"""A pane at another width: every word stays, nothing is cut, and what is drawn is shortened."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cockpit.core.sgr import PLAIN, Style
from cockpit.tui.present.pane_lines import fit_runs, is_blank

RED = Style(fg=1)


def fitted(text: str, width: int) -> list[str]:
    return ["".join(part for part, _ in line) for line in fit_runs([(text, PLAIN)], width)]


def test_text_goes_on_below_where_it_starts() -> None:
    assert fitted("● The first half is committed: minutes reads 95", 24) == [
        "● The first half is",
        "  committed: minutes",
        "  reads 95",
    ]
    assert fitted("    a long line of words", 14) == ["    a long", "    line of", "    words"]


def test_a_word_longer_than_the_view_is_broken_and_not_lost() -> None:
    assert "".join(fitted("x" * 25, 10)) == "x" * 25


def test_wide_characters_in_a_narrow_view_are_wrapped() -> None:
    assert fitted("● 漢漢", 2) == ["● ", "漢", "漢"]
    assert fitted(" 漢漢", 2) == [" ", "漢", "漢"]


def test_rules_and_boxes_are_shortened_and_stay_one_line() -> None:
    assert fitted("─" * 120, 40) == ["─" * 40]
    assert fitted("╭" + "─" * 100 + "╮", 30) == ["╭" + "─" * 28 + "╮"]
    assert fitted("│ Allow?" + " " * 90 + "│", 30) == ["│ Allow?" + " " * 21 + "│"]


def test_a_line_that_fits_is_kept() -> None:
    assert fit_runs([("a  b", RED), ("   ", PLAIN)], 10) == [[("a  b", RED)]]


def test_colours_stay_with_their_words() -> None:
    lines = fit_runs([("first words ", PLAIN), ("red words", RED)], 12)
    assert lines == [[("first words", PLAIN)], [("red words", RED)]]


def test_a_coloured_ground_is_not_blank() -> None:
    assert is_blank([("   ", PLAIN)])
    assert not is_blank([("   ", Style(bg=1))])
    assert not is_blank([("x", PLAIN)])


@given(text=st.text("ab漢 ─│●", max_size=80), width=st.integers(2, 60))
def test_no_line_is_wider_than_the_view_and_no_word_is_lost(text: str, width: int) -> None:
    lines = fitted(text, width)
    assert lines
    assert all(cell_len(line) <= width for line in lines)
    for letter in "ab漢●":
        assert "".join(lines).count(letter) == text.count(letter)

"""A pane at another width: every word stays, nothing is cut, and what is drawn is shortened."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cockpit.core.sgr import PLAIN, Style
from cockpit.tui.present.pane_lines import fit_runs, is_blank, panel_column, without_panel

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


def beside(text: str, panel: str = "", width: int = 60) -> str:
    return f"{text}{' ' * (width - cell_len(text))}│ {panel}".rstrip()


PANEL = [
    beside("● Write(a.py)", "a.py +2"),
    *[beside(f"  {n} 文 line") for n in range(9)],
    beside("● Done.", "No changes this session"),
    "─" * 120,
    "❯ ",
    "─" * 120,
]
"""A pane of 120 columns, as Claude Code draws it with its list of changes."""


def test_a_panel_beside_the_text_is_found_and_left_out() -> None:
    assert panel_column(PANEL) == 60
    kept = ["".join(text for text, _ in without_panel([(line, PLAIN)], 60)) for line in PANEL]
    assert [line.rstrip() for line in kept[:2]] == ["● Write(a.py)", "  0 文 line"]
    assert kept[-3:] == PANEL[-3:]
    coloured = [("● Write", RED), (" " * 53, PLAIN), ("│ a.py", RED)]
    assert "".join(text for text, _ in without_panel(coloured, 60)) == "● Write" + " " * 53


def test_a_box_and_a_table_are_no_panel() -> None:
    box = [f"│{'text':<78}│" for _ in range(20)]
    assert panel_column(box) is None
    table = [*(f"{'a':<50}│ b" for _ in range(5)), *("text" for _ in range(20))]
    assert panel_column(table) is None
    assert panel_column(PANEL[:5]) is None

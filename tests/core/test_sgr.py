"""A captured line becomes runs of text, each with its look."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.sgr import PLAIN, Style, runs, sanitised, screen

BOLD_RED = Style(fg=1, bold=True)


@pytest.mark.parametrize(
    ("parameters", "style"),
    [
        ("", PLAIN),
        ("0", PLAIN),
        ("1;31", BOLD_RED),
        (
            "1;2;3;4;7;9",
            Style(bold=True, dim=True, italic=True, underline=True, reverse=True, strike=True),
        ),
        ("97;104", Style(fg=15, bg=12)),
        ("38;5;208", Style(fg=208)),
        ("48;5;0", Style(bg=0)),
        ("38;2;1;2;3;1", Style(fg=(1, 2, 3), bold=True)),
        ("38:5:208", Style(fg=208)),
        ("48:2::10:20:30", Style(bg=(10, 20, 30))),
        ("38:2:10:20:30", Style(fg=(10, 20, 30))),
        ("58;5;3;1", Style(bold=True)),
        ("58:2::1:2:3;4:3", Style(underline=True)),
        ("4;4:0", PLAIN),
        ("5;6;8", PLAIN),
        ("38;5;999", PLAIN),
        ("38;2;300;0;0", PLAIN),
        ("38", PLAIN),
        ("38;2;1", PLAIN),
        ("31;39;41;49;1;22;3;23;4;24;7;27;9;29", PLAIN),
        ("99999999999999999999", PLAIN),
    ],
)
def test_a_sequence_gives_a_style(parameters: str, style: Style) -> None:
    assert runs(f"\x1b[{parameters}mx") == ([("x", style)], style)


def test_a_line_begins_as_the_one_before_ended() -> None:
    first, state = runs("a\x1b[1;31mb")
    assert first == [("a", PLAIN), ("b", BOLD_RED)]
    assert runs("c\x1b[md", state) == ([("c", BOLD_RED), ("d", PLAIN)], PLAIN)
    assert runs("", state) == ([], state)


def test_neighbours_of_one_look_are_one_run() -> None:
    assert runs("a\x1b[31m\x1b[39mb") == ([("ab", PLAIN)], PLAIN)


def test_nothing_but_text_and_colour_comes_through() -> None:
    line = "a\x1b[2J\x1b]52;c;x\x07\x1b[31mb\x9b3mc\x07\u202ed\x1b[38;5;1"
    assert sanitised(line) == "a\x1b[31mbcd"
    assert runs(line)[0] == [("a", PLAIN), ("bcd", Style(fg=1))]


def test_lines_drawn_with_shifted_letters_become_characters_across_lines() -> None:
    assert screen(["\x0elqk\x0f q", "\x0e\x1b[31mx", "q\x0fq"]) == ("┌─┐ q", "\x1b[31m│", "─q")


NASTY = st.text(st.one_of(st.characters(), st.sampled_from("\x1b[]0123456789;:mJ\x07\x9b\x0e\x0f")))


@given(NASTY)
def test_every_line_is_harmless_and_stays_so(line: str) -> None:
    clean = sanitised(line)
    assert sanitised(clean) == clean
    found, _ = runs(line)
    shown = "".join(text for text, _ in found)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs")]
    assert all(text for text, _ in found)
    assert runs(clean) == runs(line)

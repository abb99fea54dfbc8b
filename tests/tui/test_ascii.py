"""What stands for what, where there are no letters but ASCII's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cockpit.tui.terminal.ascii import ascii_only


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("plain", "plain"),
        ("▌ 1 api", "> 1 api"),
        ("██████▏█┃", "######|#]"),
        ("━━━━╸──┊─┃", "====---:-]"),
        ("╍╍┿━ ╌╌╌", "%%|= ..."),
        ("◆ review", "! review"),
        ("╭──┬─╮│", "+--+-+|"),
        ("café naïve", "cafe naive"),
        ("漢字", "????"),
        ("👩‍👩‍👧!", "??!"),
        ("e\u0301", "e"),
        ("⠀⣿", " ."),
        ("ﬁne", "fne"),
    ],
)
def test_each_is_drawn_as_what_it_is_like(text: str, drawn: str) -> None:
    assert ascii_only(text) == drawn


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_is_ascii_and_as_wide_as_it_was(text: str) -> None:
    drawn = ascii_only(text)
    assert drawn.isascii()
    assert drawn.isprintable()
    assert cell_len(drawn) == cell_len(text)

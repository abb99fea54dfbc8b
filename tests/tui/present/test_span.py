"""Text is cut where the eye expects it, and to the cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cockpit.tui.present.span import Span, cut, fit_path, fit_words, plain


@pytest.mark.parametrize(
    ("text", "width", "said"),
    [
        ("Bash pytest -q tests/cart", 25, "Bash pytest -q tests/cart"),
        ("Bash pytest -q tests/cart", 24, "Bash pytest -q tests/…  "),
        ("Bash pytest -q tests/cart", 19, "Bash pytest -q…    "),
        ("Bash pytest -q tests/cart", 15, "Bash pytest -q…"),
        ("72% of the context is used", 18, "72% of the…       "),
        ("configured, not started", 20, "configured, not…    "),
        ("Write handoff-2026-11-21-201712.md", 20, "Write handoff-2026-…"),
        ("", 3, "   "),
        ("abc", 1, "…"),
        ("abc", 0, ""),
    ],
)
def test_a_word_is_cut_only_where_leaving_it_out_would_cost_much(
    text: str, width: int, said: str
) -> None:
    assert fit_words(text, width) == said


@given(text=st.text("ab /漢", max_size=40), width=st.integers(0, 30))
def test_it_is_exactly_as_wide_as_it_is_told(text: str, width: int) -> None:
    assert cell_len(fit_words(text, width)) == width


@pytest.mark.parametrize(
    ("text", "width", "said"),
    [
        ("~/tally/handoff-1.md", 20, "~/tally/handoff-1.md"),
        ("~/tally/handoff-1.md", 13, "…handoff-1.md"),
        ("~/漢字/a.md", 7, "…/a.md "),
        ("abc", 1, "…"),
    ],
)
def test_a_path_keeps_its_end(text: str, width: int, said: str) -> None:
    assert fit_path(text, width) == said
    assert cell_len(fit_path(text, width)) == width


@pytest.mark.parametrize(
    ("width", "said"), [(5, "ab cd"), (4, "ab …"), (3, "ab…"), (2, "a…"), (1, "…")]
)
def test_spans_that_are_cut_end_with_an_ellipsis(width: int, said: str) -> None:
    assert plain(cut([Span("ab "), Span("cd", "name")], width)).rstrip() == said
    assert cell_len(plain(cut([Span("ab "), Span("cd", "name")], width))) <= width

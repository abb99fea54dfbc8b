"""What a user types to find a document: words, wherever they stand, and never a syntax."""

from __future__ import annotations

import pytest

from cockpit.core.search import LONGEST, MOST_WORDS, excerpt, holds_all, line_of, words


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("", ()),
        ("  \t\n ", ()),
        ("auth  token", ("auth", "token")),
        ("auth auth", ("auth",)),
        ('"NEAR( * ^ -x OR', ('"NEAR(', "*", "^", "-x", "OR")),
        ("a\x00b \x1b[2J", ("ab", "[2J")),
        ("漢字 é", ("漢字", "é")),
    ],
)
def test_what_is_typed_is_words(typed: str, wanted: tuple[str, ...]) -> None:
    assert words(typed) == wanted


def test_what_cannot_help_is_left_out() -> None:
    assert len(words(" ".join(map(str, range(500))))) == MOST_WORDS
    assert words("x" * 5000) == ("x" * LONGEST,)


def test_all_words_must_be_there_in_any_case_and_inside_of_others() -> None:
    text = "Renew tokens in src/auth.py\nTokenAuth"
    assert holds_all(text, ("AUTH", "token"))
    assert not holds_all(text, ("auth", "session"))


def test_the_line_with_most_of_the_words_is_shown() -> None:
    text = "# Handoff\n\ntoken once\n\n  - the token of auth is renewed\nauth"
    assert excerpt(text, ("auth", "token")) == "- the token of auth is renewed"
    assert excerpt(text, ("nowhere",)) == ""
    assert excerpt("", ("x",)) == ""


def test_a_long_line_is_cut_around_the_word() -> None:
    line = f"{'before ' * 40}needle{' after' * 40}"
    shown = excerpt(line, ("needle",), 60)
    assert "needle" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= 62
    assert excerpt(f"needle {'x' * 200}", ("needle",), 60).startswith("needle")


def test_the_line_of_an_excerpt() -> None:
    text = "one\n\n- [ ] " + "x" * 300 + " two\n"
    assert line_of(text, excerpt(text, ["two"])) == 2
    assert line_of(text, "one") == 0
    assert line_of(text, "three") is None
    assert line_of(text, "") is None

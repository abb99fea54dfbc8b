"""Foreign text comes out harmless, whole words of it still readable."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cockpit.core.safetext import ELLIPSIS, quoted, safe_line, safe_text, typeable

NASTY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\x1b\x07\x9b\x9c\x9d\x90[]PX^_\\;m\n\r\t\u202e\u2066\u200b\ud800\U000e0041"
        ),
    )
)


def forbidden(text: str, allowed: str = "") -> list[str]:
    """What a terminal or an eye could be led astray by."""
    return [
        c
        for c in text
        if c not in allowed
        and (
            unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")
            or unicodedata.bidirectional(c)
            in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
            or c in "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\xad\u061c"
            or 0xE0000 <= ord(c) <= 0xE0FFF
        )
    ]


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("plain", "plain"),
        ("grün 日本 🚀 ✈️", "grün 日本 🚀 ✈️"),
        ("[TODO] plan [/b] [@click=app.pwn]go[/]", "[TODO] plan [/b] [@click=app.pwn]go[/]"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b2Jgone", "gone"),
        ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
        ("a\x1b]0;title\x1b\\b", "ab"),
        ("a\x9d52;c;x\x9cb", "ab"),
        ("a\x1bPq#0\x1b\\b\x1b_apc\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e", "abcde"),
        ("\x1bcreset \x1b(0line", "reset line"),
        ("open\x1b]0;no end", "open"),
        ("one\r\ntwo\tthree\x85four\u2028five", "one two three four five"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("ze\u200bro\u2060 wi\ufeffdth", "zero width"),
        ("tag\U000e0041\U000e007fs", "tags"),
        ("half \ud800 pair", "half � pair"),
        ("nul\0bell\x07back\x08del\x7f", "nulbellbackdel"),
    ],
)
def test_a_line_is_made_harmless(foreign: str, shown: str) -> None:
    assert safe_line(foreign) == shown


@given(NASTY, st.integers(1, 40))
@example("\x1b\x1b[31m[2J\x1b", 40)
@example("\x1b]\x1b]0;x\x07]52;c;x\x07", 40)
def test_a_line_is_one_harmless_line_whatever_comes(foreign: str, limit: int) -> None:
    line = safe_line(foreign, limit)
    assert forbidden(line) == []
    assert len(line) <= limit
    assert safe_line(line, limit) == line
    line.encode()


@given(NASTY)
@example("\r\r\n\x1b\n[31m")
def test_text_keeps_only_newlines_and_tabs(foreign: str) -> None:
    text = safe_text(foreign)
    assert forbidden(text, "\n\t") == []
    assert safe_text(text) == text


def test_a_sequence_left_open_hides_no_more_than_its_line() -> None:
    assert safe_text("a\x1b]0;hidden\nstill here") == "a\nstill here"


def test_what_is_cut_says_so() -> None:
    assert safe_line("x" * 300) == "x" * 199 + ELLIPSIS
    assert safe_line("x" * 200) == "x" * 200
    assert safe_text("abc", 2) == "a" + ELLIPSIS
    assert safe_line("abc", 0) == ""


@given(NASTY)
def test_what_is_typed_holds_no_control_but_keeps_every_script(foreign: str) -> None:
    typed = typeable(foreign)
    assert not [c for c in typed if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert typeable(typed) == typed


def test_typing_keeps_joined_emoji_and_loses_the_end_of_a_paste() -> None:
    assert typeable("👩‍👧 שלום\r\nnext\x1b[201~; rm") == "👩‍👧 שלום\nnext; rm"


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("ünï", "'ünï'"),
        ("it's", '"it\'s"'),
        ("user\u202egnp.exe", "'user\\u202egnp.exe'"),
        ("\x1b[2J", "'\\x1b[2J'"),
        ("a\u115fb", "'a\\u115fb'"),
        ("x" * 300, f"'{'x' * 199}{ELLIPSIS}'"),
    ],
)
def test_a_word_is_quoted_as_it_is_unless_that_could_mislead(foreign: str, shown: str) -> None:
    assert quoted(foreign) == shown


@given(NASTY)
def test_whatever_is_quoted_is_harmless(foreign: str) -> None:
    assert forbidden(quoted(foreign)) == []

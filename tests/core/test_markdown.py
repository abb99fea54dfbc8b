"""Foreign text stays what it is: it opens no section, closes no fence, and hides nothing."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.markdown import (
    code,
    contained,
    fenced,
    has_controls,
    heading,
    marked_lines,
    one_line,
    open_fence,
    plain,
    shortened,
    unfenced,
)

HOSTILE = (
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[31mred\x1b[0m",
    "\x9b31m",
    "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "\x1bPq#0\x1b\\",
    "a\u202eb",
    "a\u2066b",
    "nul\0",
    "\x85",
    "\U000e0041\U000e0042",
    "\x1b\x1b[31m[31m",
)

markdownish = st.lists(
    st.sampled_from(
        [
            "```",
            "````py",
            "~~~",
            "# A",
            "## Goal",
            "Goal\n====",
            "x",
            "---",
            "<!-- ",
            "",
            "    ```",
            "   ```",
            "<script>",
            "- a",
            "`",
            "> ```",
            "\x1b[31m",
            "\t",
            "## Verified Facts #",
            "\r",
        ]
    )
    | st.text(max_size=12),
    max_size=24,
).map("\n".join)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_control_byte_is_left(text: str) -> None:
    assert has_controls(text)
    left = plain(text)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in left.replace("\n", ""))
    assert not set(left) & set("\u202e\u2066\U000e0041")


def test_what_a_sequence_carries_goes_with_it_but_nothing_after_an_unfinished_one() -> None:
    assert plain("a\x1b]52;c;ZXZpbA==\x07b") == "ab"
    assert plain("a\x1b]0;title never ends\nnext line") == "a0;title never ends\nnext line"


def test_joiners_and_selectors_stay() -> None:
    for text in ("👩‍👧‍👦", "می‌خواهم", "❤️"):
        assert plain(text) == text
        assert not has_controls(text)


def test_every_line_end_becomes_a_newline() -> None:
    assert plain("a\r\nb\rc\u2028d\u2029e") == "a\nb\nc\nd\ne"


@given(st.text())
def test_plain_twice_is_the_same_as_once(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@given(st.text())
def test_a_fence_gives_back_what_it_was_given(text: str) -> None:
    block = fenced(plain(text))
    assert open_fence(block) is None
    assert all(is_code for _, is_code in marked_lines(block))
    assert unfenced(block) == plain(text)


@given(st.text() | st.text("`a \n", max_size=12))
def test_a_code_span_is_one_line_and_closes_only_at_its_end(text: str) -> None:
    span = code(text)
    ticks = span[: len(span) - len(span.lstrip("`"))]
    inner = span.removeprefix(ticks).removesuffix(ticks)
    assert span == ticks + inner + ticks
    assert "\n" not in inner
    assert ticks not in re.findall("`+", inner)
    assert inner.strip() == one_line(text).strip()


@given(markdownish)
def test_a_contained_body_opens_no_section_and_leaves_no_fence_open(body: str) -> None:
    kept = contained(body)
    assert open_fence(kept) is None
    for line, is_code in marked_lines(kept):
        found = heading(line)
        assert is_code or found is None or found[0] > 2
    assert contained(kept) == kept


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("# Title", "### Title"),
        ("## Goal ##", "### Goal"),
        ("Goal\n====", "Goal\n\\===="),
        ("Goal\n---", "Goal\n\n---"),
        ("```\nopen", "```\nopen\n```"),
        ("~~~~ py\nopen", "~~~~ py\nopen\n~~~~"),
        ("<!-- hidden", "&lt;!-- hidden"),
        ("<SCRIPT>", "&lt;SCRIPT>"),
        ("`<!--` stays", "`<!--` stays"),
        ("```\n# comment\n```", "```\n# comment\n```"),
        ("| a |\n| --- |", "| a |\n| --- |"),
        ("[TODO] plan [/b] [@click=app.pwn]go[/]", "[TODO] plan [/b] [@click=app.pwn]go[/]"),
    ],
)
def test_what_becomes_of_a_body(body: str, kept: str) -> None:
    assert contained(body) == kept


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("# A", (1, "A")),
        ("  ## A b ##", (2, "A b")),
        ("## C#", (2, "C#")),
        ("##", (2, "")),
        ("##A", None),
        ("    ## A", None),
        ("####### A", None),
        ("A", None),
    ],
)
def test_which_lines_are_headings(line: str, found: tuple[int, str] | None) -> None:
    assert heading(line) == found


def test_a_fence_closes_only_with_one_as_long_of_its_own_kind() -> None:
    assert open_fence("````\n```\n~~~~") == "````"
    assert open_fence("```\n    ```") == "```"
    assert open_fence("```\n```  ") is None
    assert open_fence("``` a`b") is None


def test_lines_are_cut_where_it_is_said() -> None:
    assert one_line("a \n\t b\x1b[1m c", 200) == "a b c"
    assert one_line("x y " * 300, 10) == "x y x y x…"
    assert one_line("x" * 300, 10) == one_line("x" * 11, 10) == "…"
    assert shortened("one two three four", 16) == "one two three …"
    assert shortened("short", 12) == "short"


@pytest.mark.parametrize(
    "text",
    ["\x9d" * 200_000, "\x1b]" * 100_000, "# " + " " * 200_000 + "#", "\x1b[" + "0" * 200_000],
)
def test_no_text_makes_it_slow(text: str) -> None:
    begun = time.process_time()
    contained(text)
    assert time.process_time() - begun < 20

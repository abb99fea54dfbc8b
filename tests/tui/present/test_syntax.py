"""Colours of code in a diff: limited, and the text stays what it was."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from cockpit.tui.present.diff import diff_lines
from cockpit.tui.present.span import plain
from cockpit.tui.present.syntax import LEXER_OF, LONGEST_LINE, MOST_LINES, colours
from cockpit.wire.diff import DiffFile, WorktreeDiff
from tests.tui.scene_sessions import DIFF


def part(path: str, *lines: str) -> str:
    return f"diff --git a/{path} b/{path}\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(
        f"+{line}\n" for line in lines
    )


def roles(text: str) -> dict[str, str]:
    return {span.text.strip(): span.role for line in colours(text, 60).values() for span in line}


def test_code_is_coloured_by_the_language_of_its_file() -> None:
    found = roles(DIFF.text)
    assert found["return"] == found["def"] == "syntax-keyword"
    assert found["refresh"] == "syntax-name"
    assert found["5"] == "syntax-number"
    assert found["# Early enough that a slow clock on the other side does no harm."] == (
        "syntax-comment"
    )
    assert roles(part("x.unknown", "def x")) == roles(part("Makefile.d/py", "def x")) == {}


def test_a_string_that_goes_on_in_the_next_line_is_coloured_to_its_end() -> None:
    found = colours(part("a.py", 'x = """one', 'def two"""', "return"))
    assert [span.role for span in found[3]] == ["syntax-string"]
    assert [span.role for span in found[4]] == ["syntax-keyword"]


@pytest.mark.parametrize("width", [12, 30, 80])
def test_colours_change_no_character(width: int) -> None:
    code = ["x = \t'漢字漢字漢字漢字漢字' # \x1b[31m\u202e [red]x[/] " + "wide " * 9, "", "  \ty"]
    files = [DiffFile(path="a.py", added=3, removed=0)]
    diff = WorktreeDiff(directory="/w", files=files, text=part("a.py", *code))
    found = colours(diff.text)
    assert found
    lines = [plain(line) for line in diff_lines(diff, width, found)][1:]
    assert max(map(cell_len, lines)) <= width

    def letters(lines: list[str]) -> str:
        return "".join("".join(lines).split())

    assert letters(lines) == letters([plain(line) for line in diff_lines(diff, width)][1:])
    assert "\x1b" not in letters(lines)


def test_what_is_long_or_late_stays_without_colours() -> None:
    assert colours(part("a.py", "x = 1", "y" * LONGEST_LINE)) == {}
    assert colours(part("a.py", *["x = 1"] * (MOST_LINES + 1))) == {}
    assert colours(part("a.py", "x = 1"), seconds=0) == {}
    long = part("a.py", "y" * LONGEST_LINE) + part("b.py", "x = 1")
    assert list(colours(long)) == [5]


def test_every_language_has_a_lexer() -> None:
    for end in LEXER_OF:
        assert colours(part(f"a.{end}", "x"), seconds=60), end

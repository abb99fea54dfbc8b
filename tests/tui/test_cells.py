"""The frugal stream leaves the terminal exactly as the full one would have."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cockpit.tui.terminal import cells
from cockpit.tui.terminal.cells import ScreenDiff

WIDTH, HEIGHT = 30, 4
Look = tuple[str, frozenset[str], str, str]
NOTHING: Look = (" ", frozenset(), "", "")
HALF: Look = ("", frozenset(), "", "")
"""The second column of what is two wide."""


class Terminal:
    """As much of a terminal as Textual writes to: cells, a cursor, a pen."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], Look] = {}
        self.x = self.y = 0
        self.attributes: set[str] = set()
        self.foreground = self.background = ""

    def feed(self, data: str) -> None:
        for token in re.finditer(r"\x1b\[([\d;]*)([HCXm])|(\n)|(.)", data):
            parameters, final, newline, char = token.groups()
            if newline:
                self.x, self.y = 0, self.y + 1
            elif final == "H":
                row, column = parameters.split(";")
                self.x, self.y = int(column) - 1, int(row) - 1
            elif final == "C":
                self.x += int(parameters)
            elif final == "X":
                self.erase(int(parameters))
            elif final == "m":
                self.style(parameters.split(";"))
            else:
                self.write(char)

    def write(self, char: str) -> None:
        """One character in its columns; what it cuts in half is blank, as on real terminals."""
        width = cell_len(char)
        if not width:
            before = self.x - 1 if self.cells.get((self.x - 1, self.y), NOTHING)[0] else self.x - 2
            under = self.cells[before, self.y]
            self.cells[before, self.y] = (under[0] + char, *under[1:])
            return
        for x in range(self.x, self.x + width):
            self.cut(x)
        self.cells[self.x, self.y] = self.look(char)
        for x in range(self.x + 1, self.x + width):
            self.cells[x, self.y] = HALF
        self.x += width

    def erase(self, columns: int) -> None:
        """Blank cells in the background colour only, as tmux and xterm do."""
        for x in range(self.x, self.x + columns):
            self.cut(x)
            self.cells[x, self.y] = (" ", frozenset(), "", self.background)

    def cut(self, x: int) -> None:
        if self.cells.get((x, self.y)) == HALF:
            self.cells[x - 1, self.y] = NOTHING
        if self.cells.get((x + 1, self.y)) == HALF:
            self.cells[x + 1, self.y] = NOTHING

    def style(self, codes: list[str]) -> None:
        rest = iter(codes)
        for code in rest:
            if code in {"", "0"}:
                self.attributes, self.foreground, self.background = set(), "", ""
            elif code in {"38", "48"}:
                colour = ";".join([next(rest), next(rest), next(rest), next(rest)])
                if code == "38":
                    self.foreground = colour
                else:
                    self.background = colour
            elif code == "39":
                self.foreground = ""
            elif code == "49":
                self.background = ""
            elif code in {"31", "97"}:
                self.foreground = code
            elif code in {"42", "103"}:
                self.background = code
            else:
                self.attributes.add(code)

    def look(self, char: str) -> Look:
        """What an eye sees: the foreground of nothing is not among it."""
        attributes = frozenset(self.attributes)
        if char == " " and not attributes & {"4", "7", "9"}:
            return char, frozenset(), "", self.background
        if char == " ":
            attributes &= {"4", "7", "9"}
        return char, attributes, self.foreground, self.background


PENS = [
    "", "1", "31", "1;31", "97;42", "38;2;1;2;3", "38;2;1;2;3;48;2;4;5;6", "48;2;4;5;6",
    "1;38;2;1;2;3;48;2;9;9;9", "7;38;2;1;2;3", "4", "2;103", "9;31",
]  # fmt: skip
NARROW = st.text(alphabet="ab │█▏", min_size=1, max_size=6)
LONG = st.builds(
    str.__add__, st.sampled_from(["", "a", " " * 20]), st.sampled_from([" " * 14, "b"])
)
WIDE = st.lists(st.sampled_from(["a", " ", "漢", "界", "e\u0301", "🚀"]), min_size=1, max_size=4)
TEXTS = NARROW | LONG | WIDE.map("".join)
ANYTHING = st.text(
    alphabet=st.sampled_from("ab31;[Hm漢界é\u0301🚀👩💻🏽\u200d\ufe0f\u200b　한"),
    min_size=1,
    max_size=8,
)
OURS = re.compile(r"\x1b\[(?:\d+;\d+H|\d+[CX]|[\d;]*m)")


def written(parts: list[tuple[str, str]]) -> str:
    return "".join(f"\x1b[{pen}m{text}\x1b[0m" if pen else text for text, pen in parts)


def run(x: int, y: int, parts: list[tuple[str, str]]) -> str:
    return f"\x1b[{y + 1};{x + 1}H{written(parts)}"


RUNS = st.builds(
    run,
    st.integers(0, WIDTH - 1),
    st.integers(0, HEIGHT - 1),
    st.lists(st.tuples(TEXTS, st.sampled_from(PENS)), min_size=1, max_size=4),
)
FRAMES = st.lists(st.lists(RUNS, min_size=1, max_size=4).map("\n".join), min_size=1, max_size=8)


@given(FRAMES, st.booleans(), st.sampled_from([cells._SORTED, 0]))
def test_the_terminal_looks_the_same(frames: list[str], erases: bool, pieces: int) -> None:
    """Also where every write counts as a large one."""
    full, frugal, shadow = Terminal(), Terminal(), ScreenDiff(erases=erases)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cells, "_SORTED", pieces)
        for frame in frames:
            full.feed(frame)
            frugal.feed(shadow.reduced(frame))
            assert frugal.cells == full.cells
            assert (frugal.x, frugal.y) == (full.x, full.y)


@given(FRAMES)
def test_the_same_frame_again_costs_nothing(frames: list[str]) -> None:
    shadow = ScreenDiff()
    for frame in frames:
        shadow.reduced(frame)
    frame = run(0, 0, [("the same line", "1;31"), (" twice", "")])
    shadow.reduced(frame)
    assert shadow.reduced(frame) == ""


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.integers(0, WIDTH - 1),
                st.integers(0, HEIGHT - 1),
                st.lists(st.tuples(ANYTHING, st.sampled_from(PENS)), min_size=1, max_size=4),
            ),
            min_size=1,
            max_size=4,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_text_never_gets_into_a_sequence(
    frames: list[list[tuple[int, int, list[tuple[str, str]]]]],
) -> None:
    shadow = ScreenDiff(erases=True)
    for frame in frames:
        sent = shadow.reduced("\n".join(run(x, y, parts) for x, y, parts in frame))
        plain = OURS.sub("", sent)
        assert "\x1b" not in plain
        codes = {part for pen in PENS for part in pen.split(";")} | {"", "0", "39", "49"}
        for sequence in OURS.findall(sent):
            if sequence.endswith("m"):
                assert set(sequence[2:-1].split(";")) <= codes


def test_a_run_with_wide_characters_is_written_in_its_pen() -> None:
    sent = ScreenDiff().reduced(run(0, 0, [("J boom 日本", "31")]))
    assert sent == "\x1b[1;1H\x1b[31mJ boom 日本\x1b[1;12H\x1b[m"


def test_text_of_no_width_goes_through_with_all_that_is_around_it() -> None:
    shadow = ScreenDiff()
    odd = run(0, 0, [("abc", "31"), ("\u200b", "1"), ("def", "31")])
    assert shadow.reduced(odd) == odd
    assert shadow.reduced(run(0, 1, [("abc", "31")])) == "\x1b[2;1H\x1b[31mabc\x1b[m"


def test_only_what_differs_is_sent() -> None:
    shadow = ScreenDiff()
    shadow.reduced(run(0, 0, [("tokens 142k", "31")]))
    sent = shadow.reduced(run(0, 0, [("tokens 143k", "31")]))
    assert sent == "\x1b[1;10H\x1b[31m3\x1b[1C\x1b[m"


def test_wide_and_joined_characters_are_never_cut() -> None:
    shadow = ScreenDiff()
    shadow.reduced(run(0, 0, [("漢字", "31"), ("ab", "")]))
    assert "漢字" in shadow.reduced(run(0, 0, [("漢字", "1"), ("ab", "")]))
    assert shadow.reduced(run(0, 0, [("漢字", "1"), ("ab", "")])) == ""
    assert "漢宇" in shadow.reduced(run(0, 0, [("漢宇", "1"), ("ab", "")]))
    sent = shadow.reduced(run(0, 0, [("x", ""), ("yzw", "1"), ("ab", "")]))
    assert "x" in sent
    assert "yzw" in sent


def test_what_is_not_understood_goes_through_and_clears_the_memory() -> None:
    shadow = ScreenDiff()
    line = run(0, 0, [("abc", "")])
    shadow.reduced(line)
    assert shadow.reduced("\x1b[2J") == "\x1b[2J"
    assert "abc" in shadow.reduced(line)
    incompatible = line + "\x1b]0;title\x07"
    assert shadow.reduced(incompatible) == incompatible
    assert "abc" in shadow.reduced(line)
    assert shadow.reduced("text without a place") == "text without a place"


def test_modes_pass_and_another_screen_is_another_picture() -> None:
    shadow = ScreenDiff()
    line = run(0, 0, [("abc", "")])
    shadow.reduced(line)
    assert shadow.reduced("\x1b[?25l") == "\x1b[?25l"
    assert shadow.reduced(line) == ""
    assert shadow.reduced("\x1b[?1049h") == "\x1b[?1049h"
    assert "abc" in shadow.reduced(line)


def test_long_blanks_are_erased_where_the_terminal_keeps_the_background() -> None:
    line = run(0, 0, [("now", "38;2;1;2;3;48;2;4;5;6"), (" " * 40, "48;2;4;5;6"), ("x", "31")])
    sent = ScreenDiff(erases=True).reduced(line)
    assert "\x1b[40X" in sent
    assert " " * 12 not in sent
    assert " " * 40 in ScreenDiff().reduced(line)
    # Underlined or reversed blanks are visible, so they are written.
    assert " " * 40 in ScreenDiff(erases=True).reduced(run(1, 0, [(" " * 40, "4")]))


def test_cells_of_one_style_are_written_together() -> None:
    pens = ("38;2;1;2;3;48;2;4;5;6", "38;2;7;8;9;48;2;4;5;6")
    parts = [("ab", pens[0]), ("cd", pens[1]), ("ef", pens[0]), ("gh", pens[1])]
    sent = ScreenDiff().reduced("\n".join(run(0, y, parts) for y in (0, 1)))
    assert sent.count("38;2;1;2;3") + sent.count("38;2;7;8;9") <= 3, sent
    assert sent.count("48;2;4;5;6") == 1


def test_bold_comes_last_because_ending_it_sends_the_colours_again() -> None:
    pen = "38;2;1;2;3;48;2;4;5;6"
    parts = [("name", f"1;{pen}"), ("text", pen), ("more", f"1;{pen}")]
    sent = ScreenDiff().reduced(run(0, 0, parts))
    assert sent.count("48;2;4;5;6") == 1
    assert "\x1b[0" not in sent
    assert sent.index("text") < min(sent.index("name"), sent.index("more"))


def test_cells_that_are_written_twice_get_the_last_text() -> None:
    terminal, shadow = Terminal(), ScreenDiff()
    shadow.reduced(run(0, 0, [("a", "")]))
    terminal.feed(shadow.reduced("\n".join([run(0, 0, [("b", "1")]), run(0, 0, [("c", "")])])))
    assert terminal.cells[0, 0][0] == "c"


def test_a_long_write_is_in_order() -> None:
    """A whole screen over a slow line comes from the top to the bottom."""
    rows = [run(0, y, [("ab", "31"), ("cd", "97;42")]) for y in range(40)]
    sent = ScreenDiff().reduced("\n".join(rows))
    moves = [int(row) for row in re.findall(r"\x1b\[(\d+);1H", sent)]
    assert moves == sorted(moves)


def test_blanks_keep_the_colour_of_the_text_before_them() -> None:
    frame = "38;2;1;2;3;48;2;4;5;6"
    line = run(0, 0, [("|", frame), ("  ", "48;2;9;9;9"), ("|", frame)])
    sent = ScreenDiff().reduced("\n".join(line.replace("[1;", f"[{y};") for y in (1, 2)))
    assert sent.count("38;2;1;2;3") == 1
    assert "39" not in sent


def test_short_blanks_between_texts_are_written_instead_of_passed_over() -> None:
    ground, quiet, name = "48;5;233", "38;5;245;48;5;233", "38;5;252;48;5;233"
    blank = "\n".join(run(0, y, [(" " * 30, ground)]) for y in range(30))
    parts = [(" ", ground), ("7", quiet), (" ", ground), ("api", name), (" " * 8, ground)]

    def rows(count: int) -> str:
        return "\n".join(run(0, y, [*parts, ("now", quiet)]) for y in range(count))

    few, many = ScreenDiff(), ScreenDiff()
    assert few.reduced(blank) == many.reduced(blank)
    row = few.reduced(rows(1))
    assert "\x1b[1;2H" in row
    assert "\x1b[1C" not in row
    assert " " * 8 not in row, "to move there is shorter"
    whole = many.reduced(rows(30))
    assert "api" + " " * 8 in whole, "tmux sends two colours for blanks that it erased itself"
    assert "\x1b[8C" not in whole
    assert "\x1b[7;1H" in whole

"""Terminals that can show less: no cursor, no letters but ASCII's, sixteen colours, none."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.journeys.conftest import Flight, Line

pytestmark = pytest.mark.tmux

SHIPPED = Path(__file__).parents[2] / "themes"
PENS = re.compile(rb"\x1b\[([\d;:]*)m")
TITLES = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


@pytest.fixture
def fleet(flight: Flight) -> Flight:
    """One agent that says a word which ASCII does not have."""
    flight.fly(flight.cockpit.agent("api", "observe", pause=2, step_tokens=1000))
    flight.start("api")
    flight.until(lambda row: row.state == "idle")
    return flight


def seen(line: Line) -> Line:
    line.until("api", "Step 2 of 9", "quit")
    return line


def pens(line: Line) -> set[bytes]:
    """Every parameter of a colour or attribute that was sent."""
    return {code for pen in PENS.findall(line.bytes) for code in re.split(rb"[;:]", pen)}


def left(line: Line) -> None:
    """The screen is left: the next terminal opens one of its own."""
    line.type("q")
    assert line.wait() == 0


WAYS: list[tuple[str, ...]] = [(), ("--direct",)]
"""The screen in the home window, and in the terminal itself."""


def test_one_that_only_writes_lines_is_told_what_is_for_it(fleet: Flight) -> None:
    lines = [fleet.line(*words, TERM=it) for words in WAYS for it in ("dumb", "unknown", "")]
    for line in lines:
        line.until("cannot show a full screen", "cockpit status --watch --plain")
        assert line.wait() == 2


@pytest.mark.long
def test_where_the_language_is_c_every_byte_is_ascii(fleet: Flight) -> None:
    for words in WAYS:
        for all_of_it in ("C", ""):
            line = seen(fleet.line(*words, LANG="C", LC_ALL=all_of_it, LC_CTYPE=""))
            line.type("?")
            line.until("Keys")
            assert line.bytes.isascii()
            line.type("q")
            line.shows("f hand off")
            left(line)


@pytest.mark.long
def test_a_pane_in_such_a_terminal_is_ascii_too(fleet: Flight) -> None:
    line = seen(fleet.line(LC_ALL="POSIX"))
    line.type("\r")
    line.until("F12 back to the cockpit", "for shortcuts")
    assert line.bytes.isascii()


@pytest.mark.long
def test_no_color_means_none(fleet: Flight) -> None:
    for words in WAYS:
        line = seen(fleet.line(*words, NO_COLOR="1"))
        assert pens(line) <= {b"", b"0", b"1", b"2", b"3", b"4", b"7", b"22", b"27", b"39", b"49"}
        assert b"1" in pens(line)
        left(line)


@pytest.mark.long
def test_sixteen_colours_are_sixteen(fleet: Flight) -> None:
    for words in WAYS:
        for term in ("xterm", "linux"):
            line = seen(fleet.line(*words, TERM=term, COLORTERM=""))
            assert not pens(line) & {b"38", b"48"}
            left(line)


def grounds(line: Line) -> set[str]:
    """Every background that was sent, as in a theme's file."""
    sent = re.findall(rb"48[;:]2[;:]+(\d+)[;:](\d+)[;:](\d+)", line.bytes)
    return {"#" + "".join(f"{int(part):02x}" for part in each) for each in sent}


@pytest.mark.long
def test_a_terminal_that_asks_for_another_look_gets_a_screen_of_its_own(fleet: Flight) -> None:
    """What the one that runs was opened with stays as it is, for whoever asks for nothing."""

    def fresh(**asked: str) -> Line:
        able = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "", "NO_COLOR": ""}
        return fleet.line(**{**able, **asked})  # type: ignore[arg-type]

    night, day = (
        tomllib.loads((SHIPPED / f"{name}.toml").read_text())["background"].lower()
        for name in ("night", "day")
    )
    assert night in grounds(seen(fresh())) - {day}
    own = seen(fresh(COCKPIT_THEME="day", COCKPIT_REFRESH="full"))
    assert day in grounds(own) - {night}
    low = seen(fresh(COCKPIT_REFRESH="low"))
    assert b"\x1b[48;5;" in low.bytes or b";48;5;" in low.bytes
    assert not grounds(low)
    left(low)
    assert night in grounds(seen(fresh())) - {day}
    own.type("q")
    assert own.wait() == 0
    wrong = fresh(COCKPIT_REFRESH="slow")
    wrong.until("COCKPIT_REFRESH: refresh: expected auto, low or full")
    assert wrong.wait() == 2


@pytest.mark.long
@pytest.mark.parametrize("poor", [{"LC_ALL": "C"}, {"NO_COLOR": "1"}], ids=["letters", "colours"])
def test_a_terminal_that_shows_less_than_the_screen_there_is_gets_one_of_its_own(
    fleet: Flight, poor: dict[str, str]
) -> None:
    seen(fleet.line())
    environment = {"LC_ALL": "", "NO_COLOR": "", **poor}
    line = seen(fleet.line(LC_ALL=environment["LC_ALL"], NO_COLOR=environment["NO_COLOR"]))
    assert line.bytes.isascii() == ("LC_ALL" in poor)
    assert (b"38" in pens(line)) == ("LC_ALL" in poor)
    since = len(line.bytes)
    line.type("\r")
    line.until("for shortcuts", since=since)
    assert line.bytes.isascii() == ("LC_ALL" in poor)
    line.type("\x1b[24~")
    line.shows("f hand off")
    line.type("q")
    assert line.wait() == 0

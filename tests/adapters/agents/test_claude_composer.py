"""The prompt box, on screens as CLI 2.1.330 draws them (captured with their SGR sequences)."""

from __future__ import annotations

import pytest

from cockpit.adapters.agents.claude.composer import composer_empty
from cockpit.ports.panes import Screen

RULE = "\x1b[38;5;244m" + "─" * 60
FOOT = ("\x1b[39m  \x1b[38;5;246m⬢ cockpit · F12", "  \x1b[38;5;147m⏵⏵ accept edits on\x1b[39m")


def box(*lines: str) -> Screen:
    return Screen(("● done", "", RULE, *lines, RULE, *FOOT))


@pytest.mark.parametrize(
    "lines",
    [
        ("\x1b[39m❯\xa0\x1b[7m",),
        ("\x1b[39m❯\xa0\x1b[7m \x1b[0m\x1b[39m\x1b[49m",),
        ("❯\xa0",),
        (
            "\x1b[38;5;246m❯\xa0\x1b[7m\x1b[39mP\x1b[0;2m\x1b[39m\x1b[49mress up to edit queued"
            " messages",
        ),
    ],
    ids=["cursor", "after-clearing", "no-cursor", "suggestion"],
)
def test_a_box_with_nothing_typed_is_empty(lines: tuple[str, ...]) -> None:
    assert composer_empty(box(*lines)) is True


@pytest.mark.parametrize(
    "lines",
    [
        ("\x1b[39m❯\xa0half typed\x1b[7m",),
        ("\x1b[39m❯\xa0[Pasted text #1 +5 lines]\x1b[7m",),
        ("\x1b[39m❯\xa0\x1b[7mx\x1b[0m\x1b[39m\x1b[49m",),
        ("\x1b[39m❯\xa0", "  second line\x1b[7m"),
        ("\x1b[39m❯\xa0\x1b[38;5;2mcoloured, not faint\x1b[39m",),
        ("\x1b[39m❯\xa0\x1b[38;2;2;2;2mcoloured, not faint\x1b[39m",),
    ],
    ids=["text", "paste", "one-letter", "second-line", "palette", "true-colour"],
)
def test_a_box_with_text_is_not(lines: tuple[str, ...]) -> None:
    assert composer_empty(box(*lines)) is False


@pytest.mark.parametrize(
    "screen",
    [
        Screen(()),
        Screen(("just", "text")),
        Screen((RULE, " Accessing workspace:", " ❯ No, exit", "   Yes, I trust this folder")),
        Screen((RULE, " Bash command", " touch x", " ❯ 1. Yes", "   4. No")),
        Screen((RULE, " ☐ Colour", "❯ 1. Red", "  2. Blue", RULE, "  4. Chat about this")),
        box("!\xa0\x1b[7m "),
        # What an agent prints may look like a box; a dialog below it is what is open.
        Screen((RULE, "❯\xa0", RULE, RULE, " ☐ Colour", "❯ 1. Red", RULE)),
    ],
    ids=["nothing", "text", "trust", "permission", "question", "shell-line", "forged"],
)
def test_where_something_else_is_open_it_is_not_known(screen: Screen) -> None:
    assert composer_empty(screen) is None

"""What takes long to say is said once."""

from __future__ import annotations

from cockpit.tui.present.cached_lines import READING, CachedLines
from cockpit.tui.present.span import Span


def test_the_same_thing_in_the_same_room_is_said_once() -> None:
    said: list[tuple[list[int], int, int]] = []

    def say(told: list[int], width: int, height: int) -> list[list[Span]]:
        said.append((told, width, height))
        return [[Span(str(told))]]

    once, first, equal = CachedLines(say), [1], [1]
    assert once(None, 10, 1) is READING
    assert once(first, 10, 1) is once(first, 10, 1)
    assert len(said) == 1
    once(first, 11, 1)
    once(first, 11, 2)
    once(equal, 11, 2)
    assert len(said) == 4

"""Lines that a function says for the room that there is; only those that differ are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cockpit.tui.widgets.lines import Lines, Spans


class Passage(Lines):
    """What is said for a width and a height. What has no room in it is the function's business."""

    def __init__(self, say: Callable[[int, int], Sequence[Spans]], *, id: str) -> None:  # noqa: A002 (Textual's word)
        super().__init__(id=id)
        self._say = say

    def show(self) -> None:
        """Ask what is to be said now."""
        if self.size.width and self.size.height:
            # A cell is left for a scroll bar, which would stand on the text.
            self.set_lines(self._say(self.size.width - 1, self.size.height))

    def resized(self) -> None:
        self.show()

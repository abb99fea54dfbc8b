"""A text view rendered by a function of width and height."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cockpit.tui.widgets.lines import Lines, Spans


class TextView(Lines):
    """Lines rendered by a function that fits them into a width and a height."""

    def __init__(self, render: Callable[[int, int], Sequence[Spans]], *, id: str) -> None:  # noqa: A002 (Textual's word)
        super().__init__(id=id)
        self._lines_for = render

    def show(self) -> None:
        """Render the lines again."""
        if self.size.width and self.size.height:
            # Leave a cell for the scroll bar.
            self.set_lines(self._lines_for(self.size.width - 1, self.size.height))

    def lines_with(self, role: str) -> list[int]:
        """Return the numbers of the lines that begin with a span of this role."""
        return [y for y, line in enumerate(self._lines) if line and line[0].role == role]

    def resized(self) -> None:
        self.show()

"""A text view rendered by a function of width and height."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.style import Style

from cockpit.tui.widgets.lines import Lines, Spans


class TextView(Lines):
    """Lines rendered by a function that fits them into a width and a height."""

    def __init__(
        self,
        render: Callable[[int, int], Sequence[Spans]],
        *,
        id: str,  # noqa: A002 (Textual's word)
        grounds: Mapping[str, str] | None = None,
    ) -> None:
        """`grounds` maps a role to the theme variable for the background of a line.

        A line gets the background of the role of its first span, else of its second span.
        """
        super().__init__(id=id)
        self._lines_for = render
        self._grounds = grounds or {}

    def show(self) -> None:
        """Render the lines again."""
        if self.size.width and self.size.height:
            # Leave a cell for the scroll bar.
            self.set_lines(self._lines_for(self.size.width - 1, self.size.height))

    def lines_with(self, role: str) -> list[int]:
        """Return the numbers of the lines that begin with a span of this role."""
        return [y for y, line in enumerate(self._lines) if line and line[0].role == role]

    def line_style(self, line: int) -> Style | None:
        roles = (span.role for span in self._lines[line][:2])
        ground = next((self._grounds[role] for role in roles if role in self._grounds), None)
        return self.under(ground) if ground else None

    def resized(self) -> None:
        self.show()

"""The line for the filter of the agents, with the key that clears the filter."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal

from cockpit.tui.present.span import Span, fit
from cockpit.tui.widgets.field import Field
from cockpit.tui.widgets.line import OneLine


class FilterLine(Horizontal):
    """The filter field, the number of matching agents, and the key that clears the filter.

    The line is shown while a filter is set or is being typed.
    """

    DEFAULT_CSS = """
    FilterLine { height: 1; }
    FilterLine #filter-sign { width: 4; }
    FilterLine #filter { width: 1fr; height: 1; }
    FilterLine #filter-count { width: 12; }
    FilterLine #filter-way-out { width: 10; }
    """

    def __init__(self, way_out: Callable[[], str], count: Callable[[], tuple[int, int]]) -> None:
        """`way_out` returns the key that clears the filter, as printed on a keyboard. `count`
        returns the number of shown agents, and the number of all agents."""
        super().__init__(id="filter-line")
        self.field = Field(placeholder="filter agents", id="filter")
        self._way_out = way_out
        self._count = OneLine(
            lambda width: [Span(fit("{} of {} ".format(*count()), width, right=True), "muted")],
            id="filter-count",
        )
        self.display = False

    def compose(self) -> ComposeResult:
        yield OneLine(lambda _width: [Span("  / ", "key")], id="filter-sign")
        yield self.field
        yield self._count
        yield OneLine(
            lambda _width: [Span(self._way_out(), "key"), Span(" all", "muted")],
            id="filter-way-out",
        )

    def show_count(self) -> None:
        """Update the number of agents shown."""
        self._count.show()

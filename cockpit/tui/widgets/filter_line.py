"""The line for the filter of the agents, with the key that clears the filter."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal

from cockpit.tui.present.span import Span
from cockpit.tui.widgets.field import Field
from cockpit.tui.widgets.line import OneLine


class FilterLine(Horizontal):
    """Shown while a filter is set or is being typed."""

    DEFAULT_CSS = """
    FilterLine { height: 1; }
    FilterLine #filter-sign { width: 4; }
    FilterLine #filter { width: 1fr; height: 1; }
    FilterLine #filter-way-out { width: 10; }
    """

    def __init__(self, way_out: Callable[[], str]) -> None:
        """`way_out` returns the key that clears the filter, as printed on a keyboard."""
        super().__init__(id="filter-line")
        self.field = Field(placeholder="filter agents", id="filter")
        self._way_out = way_out
        self.display = False

    def compose(self) -> ComposeResult:
        yield OneLine(lambda _width: [Span("  / ", "key")], id="filter-sign")
        yield self.field
        yield OneLine(
            lambda _width: [Span(self._way_out(), "key"), Span(" all", "muted")],
            id="filter-way-out",
        )

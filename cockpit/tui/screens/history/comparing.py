"""Compare two documents line by line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.tui.keys.action import Context, Handlers
from cockpit.tui.keys.bindings import bindings
from cockpit.tui.present import words
from cockpit.tui.present.comparison import compared, drawn
from cockpit.tui.present.history import Entry, title
from cockpit.tui.present.span import Span, fit
from cockpit.tui.screens.base_screen import TextScreen
from cockpit.tui.screens.requests import show_error
from cockpit.tui.state.background import in_background
from cockpit.tui.state.model import Model
from cockpit.tui.widgets.line import OneLine
from cockpit.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext


class ComparingScreen(TextScreen):
    """Shows the diff from the older document to the newer document."""

    CONTEXT: ClassVar[Context] = "comparing"
    BINDINGS: ClassVar[list[BindingType]] = bindings("comparing")
    AUTO_FOCUS = "#comparison"

    def __init__(
        self, model: Model, client: Client, ui: UIContext, older: Entry, newer: Entry
    ) -> None:
        super().__init__(model, client, ui)
        self.older, self.newer = older, newer
        self._lines: list[str] | None = None
        self._failed = False
        self._title = OneLine(self._names, id="comparing-title")
        self.text = self.comparison = TextView(self._say, id="comparison")
        self.comparison.can_focus = True

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.comparison
        yield from self.footer()

    def on_mount(self) -> None:
        in_background(self, self._compare, group="load", exclusive=True)

    def reconnected(self) -> None:
        if self._lines is None:
            in_background(self, self._compare, group="load", exclusive=True)

    def handlers(self) -> Handlers:
        return {
            "comparing.down": self._down,
            "comparing.up": self._up,
            "comparing.page-down": self._page_down,
            "comparing.page-up": self._page_up,
            "comparing.first": self._first,
            "comparing.last": self._last,
            "comparing.help": self._help,
            "comparing.back": self._back,
        }

    def _names(self, width: int) -> list[Span]:
        old, new = title(self.older), title(self.newer)
        at = [words.stamp(entry.created) for entry in (self.older, self.newer)]
        text = f" {old} and {new}  {at[0]}, {at[1]}"
        return [Span(" Compare ", "brand"), Span(fit(text, max(0, width - 9)), "muted")]

    def _say(self, width: int, _height: int) -> list[list[Any]]:
        if self._lines is None:
            text = "Cannot read one of the documents." if self._failed else "comparing …"
            return [[Span(f"  {text}", "muted")]]
        return list(drawn(self._lines, width))

    async def _compare(self) -> None:
        try:
            before = await self.client.document(self.older.id)
            after = await self.client.document(self.newer.id)
        except CockpitError as error:
            self._failed = True
            self.comparison.show()
            show_error(self, error)
            return
        self._lines = await asyncio.to_thread(compared, before, after)
        self.comparison.show()

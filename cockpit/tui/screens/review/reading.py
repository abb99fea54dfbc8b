"""A read-only view of one document of the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock

from cockpit.client.client import Client
from cockpit.core.checked_claims import check_claims
from cockpit.core.errors import CockpitError
from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.front_matter import load
from cockpit.core.safetext import safe_line, safe_text
from cockpit.core.search import line_of
from cockpit.tui.keys.action import Context, Handlers
from cockpit.tui.keys.bindings import bindings
from cockpit.tui.present.history import Entry
from cockpit.tui.present.paths import short_path
from cockpit.tui.present.review import facts_line
from cockpit.tui.present.span import Span, fit_path
from cockpit.tui.screens.base_screen import TextScreen
from cockpit.tui.screens.requests import show_error
from cockpit.tui.screens.review.screen import MOST
from cockpit.tui.state.background import in_background
from cockpit.tui.state.model import Model
from cockpit.tui.widgets.document import plain_parser, updated
from cockpit.tui.widgets.line import OneLine

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext


class ReadingScreen(TextScreen):
    """The screen that shows one document of the history."""

    CONTEXT: ClassVar[Context] = "reading"
    BINDINGS: ClassVar[list[BindingType]] = bindings("reading")

    def __init__(
        self,
        model: Model,
        client: Client,
        ui: UIContext,
        entry: Entry,
        go_on: Callable[[Entry], None],
    ) -> None:
        """`go_on` starts an agent from the document, or shows the user how to start it."""
        super().__init__(model, client, ui)
        self.entry = entry
        self._go_on = go_on
        self.front = load("")[0]
        self._title = OneLine(self._title_line, id="review-title")
        self._read = False
        self._facts = OneLine(self._known, id="facts")
        self.document = Markdown("", parser_factory=plain_parser, open_links=False)
        self.text = self._body = VerticalScroll(self.document, id="document")

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._facts
        yield self._body
        yield from self.footer()

    def on_mount(self) -> None:
        self._body.focus()
        in_background(self, self._load, group="load", exclusive=True)

    def reconnected(self) -> None:
        if not self._read:
            in_background(self, self._load, group="load", exclusive=True)

    def handlers(self) -> Handlers:
        return {
            "reading.down": self._down,
            "reading.up": self._up,
            "reading.page-down": self._page_down,
            "reading.page-up": self._page_up,
            "reading.first": self._first,
            "reading.last": self._last,
            "reading.continue": self._continue,
            "reading.help": self._help,
            "reading.back": self._back,
        }

    def _continue(self) -> None:
        self._go_on(self.entry)

    def _title_line(self, width: int) -> list[Span]:
        who = f"{safe_line(self.entry.agent, LONGEST_NAME)} "
        title = " Document "
        path = self.entry.document
        place = short_path(path, self.ui.home) if path else "draft from facts"
        return [
            Span(title, "brand"),
            Span(who, "name"),
            Span(fit_path(f" {place}", max(0, width - len(title) - len(who))), "muted"),
        ]

    def _known(self, width: int) -> list[Span]:
        """Return the facts line; empty until the document is loaded."""
        return facts_line(self.front, width) if self._read else []

    async def _load(self) -> None:
        try:
            text = await self.client.document(self.entry.id)
        except CockpitError as error:
            show_error(self, error)
            return
        if self.is_attached:
            self.front, body = load(text)
            self._read = True
            self._facts.show()
            shown = safe_text(body, MOST)
            await updated(self.document, check_claims(shown).body)
            self._show_match(line_of(shown, self.entry.found))

    def _show_match(self, line: int | None) -> None:
        """Highlight the paragraph that contains the line found by the search, and scroll to it."""
        if line is None or not self.is_attached:
            return
        around = [
            block
            for block in self.document.query(MarkdownBlock)
            if block.source_range[0] <= line < block.source_range[1]
        ]
        if around:
            smallest = min(around, key=lambda block: block.source_range[1] - block.source_range[0])
            smallest.add_class("-found")
            # After the layout, because before it every block is at the top.
            self.call_after_refresh(
                self._body.scroll_to_widget, smallest, top=True, animate=False, force=True
            )

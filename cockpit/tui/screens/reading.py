"""A document of some time, to be read: nothing is asked, and nothing can be changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Markdown

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.core.front_matter import load
from cockpit.core.safetext import safe_line, safe_text
from cockpit.tui.actions import BY_ID, Context
from cockpit.tui.background import in_background
from cockpit.tui.bindings import bindings
from cockpit.tui.model import Model
from cockpit.tui.present.history import Entry
from cockpit.tui.present.keys import key_line, possible
from cockpit.tui.present.review import facts_line
from cockpit.tui.present.span import Span, fit
from cockpit.tui.screens.errands import cannot, tell
from cockpit.tui.screens.review import MOST, plain_parser
from cockpit.tui.widgets.line import KeyLine, OneLine

if TYPE_CHECKING:
    from cockpit.tui.surroundings import Surroundings


class ReadingScreen(Screen[None]):
    """One document of the history."""

    CONTEXT: ClassVar[Context] = "reading"
    BINDINGS: ClassVar[list[BindingType]] = bindings("reading")

    def __init__(
        self,
        model: Model,
        client: Client,
        around: Surroundings,
        entry: Entry,
        go_on: Callable[[Entry], None],
    ) -> None:
        """`go_on` starts an agent from the document, once it has a name."""
        super().__init__()
        self.model = model
        self.client = client
        self.entry = entry
        self._go_on = go_on
        self.front = load("")[0]
        self._title = OneLine(self._whose, id="review-title")
        self._facts = OneLine(lambda width: facts_line(self.front, width), id="facts")
        self.document = Markdown("", parser_factory=plain_parser, open_links=False)
        self._body = VerticalScroll(self.document, id="document")
        self._keys = KeyLine(lambda width: key_line(possible(model, "reading"), around.keys, width))

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._facts
        yield self._body
        yield self._keys

    def on_mount(self) -> None:
        self._body.focus()
        in_background(self, self._load, group="load", alone=True)

    def action_act(self, action: str) -> None:
        reason = BY_ID[action].why_not(self.model)
        if reason:
            cannot(self, reason)
        else:
            getattr(self, f"_{action.removeprefix('reading.').replace('-', '_')}")()

    def on_key_line_chosen(self, message: KeyLine.Chosen) -> None:
        self.action_act(message.action)

    def _down(self) -> None:
        self._body.scroll_relative(y=1, animate=False, force=True)

    def _up(self) -> None:
        self._body.scroll_relative(y=-1, animate=False, force=True)

    def _page_down(self) -> None:
        self._page(1)

    def _page_up(self) -> None:
        self._page(-1)

    def _page(self, direction: int) -> None:
        step = direction * max(1, self._body.size.height - 2)
        self._body.scroll_relative(y=step, animate=False, force=True)

    def _first(self) -> None:
        self._body.scroll_home(animate=False, force=True)

    def _last(self) -> None:
        self._body.scroll_end(animate=False, force=True)

    def _continue(self) -> None:
        self._go_on(self.entry)

    def _back(self) -> None:
        self.dismiss()

    def _whose(self, width: int) -> list[Span]:
        who = f"{safe_line(self.entry.agent, 32)} "
        title = " Document "
        place = safe_line(self.entry.document or "a draft of facts", 400)
        return [
            Span(title, "brand"),
            Span(who, "name"),
            Span(fit(f" {place}", max(0, width - len(title) - len(who))), "muted"),
        ]

    async def _load(self) -> None:
        try:
            text = await self.client.document(self.entry.id)
        except CockpitError as error:
            tell(self, error)
            return
        if self.is_attached:
            self.front, body = load(text)
            self._facts.show()
            # Not awaited: a cancellation would reach Textual's own widgets.
            self.document.update(safe_text(body, MOST))

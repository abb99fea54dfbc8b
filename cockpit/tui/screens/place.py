"""A screen with keys of its own, each of which does what the registry says, or says why not.

What is common to all places; what a place shows, and what its actions do, is its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.screen import Screen
from textual.widget import Widget

from cockpit.client.client import Client
from cockpit.tui.actions import BY_ID, Action, Context
from cockpit.tui.model import Model
from cockpit.tui.present.keys import key_line, possible
from cockpit.tui.screens.errands import cannot, out_of_a_paste
from cockpit.tui.screens.help import HelpScreen
from cockpit.tui.widgets.line import KeyLine

if TYPE_CHECKING:
    from cockpit.tui.surroundings import Surroundings


class Place(Screen[None]):
    """The action `review.let-compact` of the context `review` is the method `_let_compact`."""

    CONTEXT: ClassVar[Context]

    def __init__(self, model: Model, client: Client, around: Surroundings) -> None:
        super().__init__()
        self.model = model
        self.client = client
        self.around = around
        self._keys = KeyLine(lambda width: key_line(self.hints(), around.keys, width))

    def hints(self) -> Iterable[Action]:
        """What the key line offers now."""
        return possible(self.model, self.CONTEXT)

    def action_act(self, action: str) -> None:
        if out_of_a_paste(self, BY_ID[action]):
            return
        reason = BY_ID[action].why_not(self.model)
        if reason:
            cannot(self, reason)
        else:
            getattr(self, f"_{action.removeprefix(f'{self.CONTEXT}.').replace('-', '_')}")()

    def on_key_line_chosen(self, message: KeyLine.Chosen) -> None:
        self.action_act(message.action)

    def _help(self) -> None:
        self.app.push_screen(HelpScreen(self.CONTEXT, self.around.keys))

    def _back(self) -> None:
        self.dismiss()


class Page(Place):
    """A place that is one long text, moved by its keys; `text` is set before it is shown."""

    text: Widget

    def _down(self) -> None:
        self._move(1)

    def _up(self) -> None:
        self._move(-1)

    def _page_down(self) -> None:
        self._move(max(1, self.text.size.height - 2))

    def _page_up(self) -> None:
        self._move(-max(1, self.text.size.height - 2))

    def _move(self, lines: int) -> None:
        self.text.scroll_relative(y=lines, animate=False, force=True)

    def _first(self) -> None:
        self.text.scroll_home(animate=False, force=True)

    def _last(self) -> None:
        self.text.scroll_end(animate=False, force=True)

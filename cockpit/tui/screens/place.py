"""A screen with keys of its own, each of which does what the registry says, or says why not.

What is common to all places; what a place shows, and what its actions do, is its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from cockpit.client.client import Client
from cockpit.tui.actions import BY_ID, Action, Context
from cockpit.tui.model import Change, Model
from cockpit.tui.present.keys import key_line, possible
from cockpit.tui.present.outage import outage
from cockpit.tui.screens.errands import cannot, out_of_a_paste
from cockpit.tui.screens.help import HelpScreen
from cockpit.tui.widgets.line import KeyLine, Wrapped

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
        self._outage = Wrapped(most=2, id="outage")
        self._keys = KeyLine(lambda width: key_line(self.hints(), around.keys, width))
        self._answered = model.any_live

    def foot(self) -> ComposeResult:
        """The last lines: that nobody answers, where no other part of the place says so; keys."""
        yield self._outage
        yield self._keys

    def on_mount(self) -> None:
        self._forget_connection = self.model.listen(self._heard_of_connection)
        self.call_after_refresh(self._say_connection)

    def on_unmount(self) -> None:
        self._forget_connection()

    def _heard_of_connection(self, change: Change, _name: str | None) -> None:
        if change is not Change.CONNECTION:
            return
        self._say_connection()
        came_back = self.model.any_live and not self._answered
        self._answered = self.model.any_live
        if came_back:
            self.answered_again()

    def _say_connection(self) -> None:
        if self._outage.is_attached:
            self._outage.say(outage(self.model))
            self._keys.show()

    def answered_again(self) -> None:
        """Somebody answers who did not: what could not be had may be asked for again."""

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

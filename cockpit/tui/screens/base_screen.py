"""The base classes of the screens that fill the terminal, except the agents' screen.

A screen shows a lost connection and the key line, and runs an action or shows why the action is
unavailable.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from cockpit.client.client import Client
from cockpit.tui.keys.action import Action, Context, Handlers
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.present.keys import key_line, possible
from cockpit.tui.present.outage import outage
from cockpit.tui.screens.help import HelpScreen
from cockpit.tui.screens.requests import is_refused_as_paste, show_reason
from cockpit.tui.state.model import Change, Model
from cockpit.tui.widgets.line import KeyLine, Wrapped

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext


class BaseScreen(Screen[None]):
    """Shows the footer, and runs the handler of the action that a key or a click selects."""

    CONTEXT: ClassVar[Context]
    name_of_agent: str | None = None
    """The name of the agent that the screen shows; None on a screen that is not about one agent."""

    def __init__(self, model: Model, client: Client, ui: UIContext) -> None:
        super().__init__()
        self.model = model
        self.client = client
        self.ui = ui
        self._outage = Wrapped(most=2, id="outage")
        self._keys = KeyLine(lambda width: key_line(self.hints(), ui.keys, width))
        self._answered = model.any_live

    def footer(self) -> ComposeResult:
        """Yield the line for a lost connection, and the key line."""
        yield self._outage
        yield self._keys

    def on_mount(self) -> None:
        self._forget_connection = self.model.listen(self._connection_changed)
        self.call_after_refresh(self._show_connection)

    def on_unmount(self) -> None:
        self._forget_connection()

    def _connection_changed(self, change: Change, _name: str | None) -> None:
        if change is not Change.CONNECTION:
            return
        self._show_connection()
        came_back = self.model.any_live and not self._answered
        self._answered = self.model.any_live
        if came_back:
            self.reconnected()

    def _show_connection(self) -> None:
        if self._outage.is_attached:
            self._outage.set_spans(outage(self.model))
            self._keys.show()

    def reconnected(self) -> None:
        """Repeat failed requests. Called when a supervisor answers after none did; does nothing in
        this base class."""

    def handlers(self) -> Handlers:
        """Return the method that runs each action of this screen, by the action's id."""
        raise NotImplementedError

    @property
    def action_model(self) -> Model:
        """The model for the checks of the actions.

        On a screen of one agent, this model has that agent selected, even if the user selects
        another agent meanwhile.
        """
        return self.model if self.name_of_agent is None else self.model.at(self.name_of_agent)

    WITHOUT_ITEMS: ClassVar[frozenset[str]] = frozenset({"help", "back", "again"})
    """The last parts of the ids of actions that the key line shows even for an empty list."""

    @property
    def has_items(self) -> bool:
        """Whether the screen's list has, or may still get, an item to act on."""
        return True

    def hints(self) -> Iterable[Action]:
        """Return the available actions that the key line shows."""
        actions = possible(self.action_model, self.CONTEXT)
        if self.has_items:
            return actions
        return [action for action in actions if action.id.rpartition(".")[2] in self.WITHOUT_ITEMS]

    def action_act(self, action: str) -> None:
        if is_refused_as_paste(self, BY_ID[action]):
            return
        reason = BY_ID[action].why_not(self.action_model)
        if reason:
            show_reason(self, reason)
        else:
            self.handlers()[action]()

    def on_key_line_chosen(self, message: KeyLine.Chosen) -> None:
        self.action_act(message.action)

    def _help(self) -> None:
        self.app.push_screen(HelpScreen(self.CONTEXT, self.ui.keys))

    def _back(self) -> None:
        self.dismiss()


class TextScreen(BaseScreen):
    """A screen with one long text that the keys scroll. Subclasses set `text` in `__init__`."""

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

"""Everything that wants the pilot, of all agents, and one key to where it is answered.

It answers nothing itself: a permission is given in the agent's own pane, a document is approved
where it can be read.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.tui.actions import BY_ID, Context
from cockpit.tui.background import in_background
from cockpit.tui.bindings import bindings
from cockpit.tui.model import Change, Model
from cockpit.tui.pace import Coalesced
from cockpit.tui.present import inbox
from cockpit.tui.present.detail import rule
from cockpit.tui.present.inbox import Item
from cockpit.tui.screens.errands import cannot
from cockpit.tui.screens.onlooker import look
from cockpit.tui.screens.place import Place
from cockpit.tui.screens.review import ReviewScreen
from cockpit.tui.widgets.line import OneLine
from cockpit.tui.widgets.pane_view import PaneView
from cockpit.tui.widgets.passage import Passage
from cockpit.tui.widgets.picker import MARGIN, Picker

if TYPE_CHECKING:
    from cockpit.tui.surroundings import Surroundings

MINUTE = 15.0
"""Seconds between two looks at the ages, which are drawn by the minute."""
LOW = 20
"""Lines of the terminal below which no pane is shown."""
EMPTY = "Nothing needs you. What does comes here by itself."


def _now() -> datetime:
    return datetime.now(UTC)


class InboxScreen(Place):
    """What waits above, the whole of the selected one below."""

    CONTEXT: ClassVar[Context] = "inbox"
    BINDINGS: ClassVar[list[BindingType]] = bindings("inbox")
    AUTO_FOCUS = "#inbox"

    def __init__(
        self,
        model: Model,
        client: Client,
        around: Surroundings,
        attach: Callable[[], None],
        *,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """`attach` goes into the pane of the agent that is selected in the model."""
        super().__init__(model, client, around)
        self._now = now
        self._go_in = attach
        self._items: dict[str, Item] = {}
        self.list = Picker(self._say, empty=EMPTY, id="inbox")
        self.detail = Passage(self._say_all, id="inbox-detail")
        self.pane = PaneView()
        self._looking_at: tuple[str | None, str | None] = ("", None)
        self._heading = OneLine(self._head, id="inbox-title")
        self._rule = OneLine(lambda width: rule(self._agent(), width, around.home), id="inbox-rule")
        self._rows = Coalesced(self, lambda: around.pace.rows, self._draw)

    @property
    def item(self) -> Item | None:
        """The one that is selected."""
        return self._items.get(self.list.selected or "")

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self.list
        yield self._rule
        yield self.detail
        yield self.pane
        yield self._keys

    def on_mount(self) -> None:
        self._stop_listening = self.model.listen(self._heard)
        self.set_interval(MINUTE, self._rows.want)
        self._draw()
        in_background(self, self._look_at_held, group="held", alone=True)

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_resize(self) -> None:
        self.list.styles.max_height = max(3, (self.app.size.height - 3) * 11 // 20)
        self._rows.want()

    @on(Picker.Picked)
    def _picked(self) -> None:
        self.action_act("inbox.open")

    @on(Picker.Moved)
    def _moved(self) -> None:
        self._draw_selected()

    def on_screen_suspend(self) -> None:
        """Behind another screen nobody looks, and the supervisor need not capture."""
        if self.app.screen.is_modal:
            return
        self._looking_at = ("", None)
        self.workers.cancel_group(self, "pane")

    def on_screen_resume(self) -> None:
        self._rows.want()

    def _open(self) -> None:
        item = self.item
        if item is None or item.agent is None:
            cannot(self, item.step if item else "Nothing needs you.")
            return
        self.model.select(item.agent)
        if item.kind in {"review", "handoff", "breaker"}:
            self.app.push_screen(ReviewScreen(self.model, self.client, self.around))
            return
        reason = BY_ID["attach"].why_not(self.model)
        if reason:
            cannot(self, reason)
        else:
            self._go_in()

    def _down(self) -> None:
        self.list.move(1)

    def _up(self) -> None:
        self.list.move(-1)

    def _first(self) -> None:
        self.list.move(-10_000)

    def _last(self) -> None:
        self.list.move(10_000)

    async def _look_at_held(self) -> None:
        """What is held is no row, and so not told when it changes: it is asked for."""
        try:
            status = await self.client.status()
        except CockpitError:
            return  # the heading says that nobody answers
        self.model.hold(status.held)

    def _heard(self, change: Change, name: str | None) -> None:
        if change not in {Change.EVENT, Change.SELECTION}:
            self._rows.want()

    def _draw(self) -> None:
        if not self.is_running:
            return
        self.set_class(not self.model.any_live, "-lost")
        self._items = {
            item.key: item
            for item in inbox.items(self.model.agents.values(), self.model.held, self.model.lost)
        }
        self.list.show(list(self._items))
        self._heading.show()
        self._keys.show()
        self._draw_selected()

    def _draw_selected(self) -> None:
        self._rule.show()
        low = self.app.size.height < LOW
        self.pane.display = not low
        if not low:
            most = max(3, self.app.size.height // 3)
            needed = len(self._say_all(self.app.size.width, most))
            self.detail.styles.height = needed
        else:
            self.detail.styles.height = "1fr"
        self.detail.show()
        self._look()

    def _say_all(self, width: int, height: int) -> list[list[Any]]:
        told = self.item is not None and inbox.is_told(self.item, *self._line_room())
        return list(inbox.detail(self.item, width, height, told=told))

    def _line_room(self) -> tuple[int, int]:
        """The width of a line of the list, and how much of it is for names."""
        width = (self.list.size.width or self.app.size.width) - MARGIN
        return width, inbox.widest_name(self._items.values(), width)

    def _look(self) -> None:
        """At the selected one's pane, where there is room for it: what it asks stands there."""
        agent = None if self.app.size.height < LOW else self._agent()
        seen = (agent.name, agent.pane) if agent else (None, None)
        if seen != self._looking_at:
            self._looking_at = seen
            task = partial(look, self.client, agent, self.pane, self.around.pace)
            in_background(self, task, group="pane", alone=True)

    def _agent(self) -> Any:
        item = self.item
        return self.model.agents.get(item.agent) if item and item.agent else None

    def _say(self, key: str, width: int) -> list[Any]:
        widest = inbox.widest_name(self._items.values(), width)
        return inbox.line(self._items[key], width, self._now(), widest)

    def _head(self, width: int) -> list[Any]:
        model, lost = self.model, not self.model.any_live
        host = f"{len(model.parts)} hosts" if model.is_joined else model.host
        host = "no supervisor answers" if lost else host
        return inbox.heading(list(self._items.values()), host, width, lost=lost)

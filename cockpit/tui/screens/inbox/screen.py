"""The inbox: everything that needs the user, and the keys to answer the selected item.

Dialogs are answered on the permission screen, handoffs here or on the review screen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual._time import get_time
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.tui.keys.action import Action, Context, Handlers
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.keys.bindings import bindings
from cockpit.tui.keys.reasons import DIALOGS, press
from cockpit.tui.present import inbox
from cockpit.tui.present.detail import rule
from cockpit.tui.present.inbox import Item
from cockpit.tui.present.keys import dialog_title
from cockpit.tui.present.outage import remedy
from cockpit.tui.present.span import Span
from cockpit.tui.screens.base_screen import BaseScreen
from cockpit.tui.screens.frames import show_frames
from cockpit.tui.screens.pane_follow import look
from cockpit.tui.screens.permission.screen import PermissionScreen
from cockpit.tui.screens.requests import (
    Requests,
    show_error,
    show_reason,
    snooze_or_wake,
    unread_problem,
)
from cockpit.tui.screens.review.screen import ReviewScreen
from cockpit.tui.state.arming import Arming
from cockpit.tui.state.background import in_background
from cockpit.tui.state.held_settings import load_held
from cockpit.tui.state.model import Change, Model
from cockpit.tui.state.pace import Throttled
from cockpit.tui.widgets.line import OneLine
from cockpit.tui.widgets.pane_view import PaneView
from cockpit.tui.widgets.picker import MARGIN, Picker
from cockpit.tui.widgets.text_view import TextView
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Refuse, Verb

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext

MINUTE = 15.0
"""Seconds between two updates of the ages, which are shown in minutes, and of the untrusted
settings."""
LOW = 20
"""Minimum lines of the terminal for showing a pane."""
HANDOFFS = frozenset({"review", "handoff", "breaker", "snoozed"})
"""Kinds of items that ask about a handoff."""
TOO_EARLY = "This item has only just been selected. Read it, then press the key again."
EMPTY = "Nothing needs you. New items appear here automatically."
UNKNOWN = "Nothing needed you when the supervisor last answered."


def _now() -> datetime:
    return datetime.now(UTC)


STEP_FROM = 60
"""Minimum terminal width at which the heading also says how to reconnect."""


class InboxScreen(BaseScreen):
    """The inbox: the list of items above, the selected item in full below."""

    CONTEXT: ClassVar[Context] = "inbox"
    BINDINGS: ClassVar[list[BindingType]] = bindings("inbox")
    AUTO_FOCUS = "#inbox"

    def __init__(
        self,
        model: Model,
        client: Client,
        ui: UIContext,
        attach: Callable[[str], None],
        *,
        now: Callable[[], datetime] = _now,
    ) -> None:
        """`attach` attaches to an agent's pane."""
        super().__init__(model, client, ui)
        self._now = now
        self._go_in = attach
        self._requests = Requests(self, client)
        self._arming = Arming()
        self._items: dict[str, Item] = {}
        self.list = Picker(self._say, empty=EMPTY, id="inbox")
        self.detail = TextView(self._say_all, id="inbox-detail")
        self.pane = PaneView()
        self._looking_at: tuple[str | None, str | None] = ("", None)
        self._heading = OneLine(self._head, id="inbox-title")
        self._rule = OneLine(self._rule_spans, id="inbox-rule")
        self._rows = Throttled(self, lambda: ui.pace.rows, self._draw)

    @property
    def item(self) -> Item | None:
        """The selected item; None if the inbox is empty."""
        return self._items.get(self.list.selected or "")

    @property
    def is_ready(self) -> bool:
        """Whether a key that is pressed now may answer the selected item."""
        return self._arming.admits(self.item.key if self.item else None, get_time())

    def compose(self) -> ComposeResult:
        yield self._heading
        with Vertical(id="inbox-frame") as frame:
            frame.border_title = "needs you"
            yield self.list
        yield self._rule
        with Vertical(id="inbox-pane-frame"):
            yield self.detail
            yield self.pane
        yield self._keys

    def _rule_spans(self, width: int) -> list[Span]:
        if self.item is None:
            return []
        return rule(self._agent(), width, self.ui.home, framed=self.has_class("-framed"))

    def on_mount(self) -> None:
        self._stop_listening = self.model.listen(self._heard)
        self.set_interval(MINUTE, self._tick)
        self._draw()
        self._look_at_held()

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_resize(self) -> None:
        around = 4 if show_frames(self) else 0
        self.list.styles.max_height = max(3, (self.app.size.height - 3 - around) * 11 // 20)
        self._rows.want()

    @on(Picker.Picked)
    def _picked(self) -> None:
        self.action_act("inbox.open")

    @on(Picker.Moved)
    def _moved(self) -> None:
        self._draw_selected()

    def on_screen_suspend(self) -> None:
        """Stop streaming the pane while another screen hides it."""
        if self.app.screen.is_modal:
            return
        self._looking_at = ("", None)
        self.workers.cancel_group(self, "pane")

    def on_screen_resume(self) -> None:
        self._rows.want()

    def handlers(self) -> Handlers:
        return {
            "inbox.answer": self._answer,
            "inbox.refuse": self._refuse,
            "inbox.snooze": self._snooze,
            "inbox.open": self._open,
            "inbox.down": self._down,
            "inbox.up": self._up,
            "inbox.first": self._first,
            "inbox.last": self._last,
            "inbox.help": self._help,
            "inbox.back": self._back,
        }

    @property
    def has_items(self) -> bool:
        return bool(self._items)

    def hints(self) -> list[Action]:
        """Return the key line's actions, without those that do nothing for the selected item."""
        kind = self.item.kind if self.item else ""
        titles: dict[str, str] = {"inbox.open": "pane"} if self._agent() else {}
        if kind in DIALOGS:
            agent = self._agent()
            titles["inbox.answer"] = dialog_title(agent.needs if agent else None)
        elif kind in HANDOFFS:
            wake = {"inbox.snooze": "ask now"} if kind == "snoozed" else {}
            titles = {"inbox.answer": "approve", "inbox.refuse": "refuse",
                      "inbox.snooze": "snooze", "inbox.open": "read", **wake}  # fmt: skip
        answers = {"inbox.answer", "inbox.refuse", "inbox.snooze"}
        # The screen already shows the step for an item without an agent, such as a file.
        without_agent = {"inbox.open"} if self.item and self.item.agent is None else set()
        return [
            replace(action, title=titles.get(action.id, action.title))
            for action in super().hints()
            if action.id in titles or action.id not in answers | without_agent
        ]

    def _answer(self) -> None:
        item = self.item
        if item is not None and item.agent is not None and item.kind in DIALOGS:
            self.model.select(item.agent)
            self.app.push_screen(
                PermissionScreen(self.model, self.client, self.ui, item.agent, self._go_in)
            )
        else:
            self._decide(
                lambda agent, handoff: Approve(name=agent.name, handoff=handoff), approves=True
            )

    def _refuse(self) -> None:
        self._decide(lambda agent, handoff: Refuse(name=agent.name, handoff=handoff))

    def _snooze(self) -> None:
        self._decide(snooze_or_wake)

    def _decide(self, verb: Callable[[AgentStatus, str], Verb], *, approves: bool = False) -> None:
        """Answer the selected item's handoff, or show why it cannot be answered.

        If the answer `approves` a document that should be read first, opens the document instead.
        """
        item, agent = self.item, self._agent()
        if item is None:
            show_reason(self, "Nothing needs you.")
        elif item.agent is None:
            show_reason(self, item.step)
        elif agent is None or agent.handoff is None or item.kind not in HANDOFFS:
            show_reason(self, f"This item is not a handoff. {item.step}")
        elif not self._arming.admits(item.key, self._key_time()):
            show_reason(self, TOO_EARLY)
        elif approves and (problem := unread_problem(self.model, agent)) is not None:
            self._open()
            show_reason(self, problem)
        else:
            self._arming.answered()
            self._requests.send(verb(agent, agent.handoff.id), refused=self._not_taken)

    def _key_time(self) -> float:
        at = getattr(self.app, "key_at", None)
        return get_time() if at is None else float(at)

    def _not_taken(self, error: CockpitError) -> None:
        self._arming.refused()
        show_error(self, error)

    def _open(self) -> None:
        item = self.item
        if item is None or item.agent is None:
            show_reason(self, item.step if item else "Nothing needs you.")
            return
        self.model.select(item.agent)
        if item.kind in HANDOFFS:
            self.app.push_screen(ReviewScreen(self.model, self.client, self.ui, item.agent))
            return
        reason = BY_ID["attach"].why_not(self.model.at(item.agent), "inbox")
        if reason:
            show_reason(self, reason)
        else:
            self._go_in(item.agent)

    def _down(self) -> None:
        self.list.move(1)

    def _up(self) -> None:
        self.list.move(-1)

    def _first(self) -> None:
        self.list.move(-10_000)

    def _last(self) -> None:
        self.list.move(10_000)

    def _look_at_held(self) -> None:
        task = partial(load_held, self.model, self.client)
        in_background(self, task, group="held", exclusive=True)

    def _tick(self) -> None:
        self._rows.want()
        if self.model.held:
            self._look_at_held()

    def _heard(self, change: Change, name: str | None) -> None:
        if change not in {Change.EVENT, Change.SELECTION}:
            self._rows.want()

    def _draw(self) -> None:
        if not self.is_running:
            return
        self.set_class(not self.model.any_live, "-lost")
        self._items = {
            item.key: item
            for item in inbox.items(
                self.model.agents.values(),
                self.model.held,
                self.model.lost,
                self.model.key_of,
                self.model.command_name,
            )
        }
        self.set_class(not self._items, "-empty")
        self.list.show(list(self._items), empty=EMPTY if self.model.any_live else UNKNOWN)
        self._heading.show()
        self._draw_selected()

    def _draw_selected(self) -> None:
        self._rule.show()
        self._keys.show()
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
        self.call_after_refresh(self._drawn, self.item.key if self.item else None)

    def _drawn(self, key: str | None) -> None:
        """Start the wait before keys can answer this item. Called once the screen shows it."""
        if self.is_attached and key == (self.item.key if self.item else None):
            self._arming.drawn(key, get_time())

    def _say_all(self, width: int, height: int) -> list[list[Any]]:
        is_shown = self.item is not None and inbox.fits_line(self.item, *self._line_room())
        return list(inbox.detail(self.item, width, height, is_shown=is_shown))

    def _line_room(self) -> tuple[int, int]:
        """Return the width of a line of the list, and the width of the name column."""
        width = (self.list.size.width or self.app.size.width) - MARGIN
        return width, inbox.widest_name(self._items.values(), width)

    def _look(self) -> None:
        """Stream the pane of the selected item's agent, if there is room for a pane."""
        agent = None if self.app.size.height < LOW else self._agent()
        seen = (agent.name, agent.pane) if agent else (None, None)
        if seen != self._looking_at:
            self._looking_at = seen
            start = f"{press(self.model.on('inbox'), 'start')} to start it."
            lost = self.model.part_of(agent.name if agent else None).unreachable
            task = partial(
                look, self.client, agent, self.pane, self.ui.pace, start=start, unreachable=lost
            )
            in_background(self, task, group="pane", exclusive=True)

    def _agent(self) -> AgentStatus | None:
        item = self.item
        return self.model.agents.get(item.agent) if item and item.agent else None

    def _say(self, key: str, width: int) -> list[Any]:
        widest = inbox.widest_name(self._items.values(), width)
        return inbox.line(self._items[key], width, self._now(), widest)

    def _head(self, width: int) -> list[Any]:
        model, lost = self.model, not self.model.any_live
        host = f"{len(model.parts)} hosts" if model.is_joined else model.host
        if lost:
            connection, main = model.main.connection, model.main
            step = remedy(connection, main.host if main.is_remote else None)
            short = "no host is reachable" if model.is_joined else "supervisor unreachable"
            host = f"{short}; {step}" if step and width >= STEP_FROM else short
        return inbox.heading(list(self._items.values()), host, width, lost=lost)

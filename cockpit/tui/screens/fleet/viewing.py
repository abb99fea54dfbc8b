"""Change what the agents' screen shows: the selected row, the filter, the order and the pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cockpit.tui.keys.action import Handlers
from cockpit.tui.present.sorting import ORDERS, next_order
from cockpit.tui.screens.requests import show_message, show_reason
from cockpit.tui.terminal.driver import RedrawWanted

if TYPE_CHECKING:
    from cockpit.tui.screens.fleet.screen import FleetScreen


class Viewing:
    """Runs the actions that change only the screen."""

    def __init__(self, screen: FleetScreen) -> None:
        self._screen = screen
        self._model = screen.model

    def handlers(self) -> Handlers:
        return {
            "down": self._down,
            "up": self._up,
            "first": self._first,
            "last": self._last,
            "next-needing": self._next_needing,
            "pane-up": self._pane_up,
            "pane-down": self._pane_down,
            "filter": self._filter,
            "unfilter": self._unfilter,
            "sort": self._sort,
            "pane-more": self._pane_more,
            "pane-less": self._pane_less,
            "beside": self._beside,
            "events": self._events,
            "redraw": self._redraw,
        }

    def _down(self) -> None:
        self._screen.fleet.move(1)

    def _up(self) -> None:
        self._screen.fleet.move(-1)

    def _first(self) -> None:
        self._screen.fleet.move(-10_000)

    def _last(self) -> None:
        self._screen.fleet.move(10_000)

    def _next_needing(self) -> None:
        names = self._screen.fleet.names
        here = names.index(self._model.selected) + 1 if self._model.selected in names else 0
        for name in [*names[here:], *names[:here]]:
            if self._model.agents[name].state == "needs_you":
                self._screen.fleet.select(name)
                return

    def _pane_up(self) -> None:
        self._screen.pane.page(-1)

    def _pane_down(self) -> None:
        self._screen.pane.page(1)

    def _filter(self) -> None:
        self._screen.filter_line.display = True
        self._screen.set_focus(self._screen.filter)

    def _unfilter(self) -> None:
        screen = self._screen
        if screen.fleet.unmark_all():
            screen.refresh_keys()
            return
        if not screen.fleet.filter:
            screen.dismiss_step()
            return
        screen.filter.value = screen.fleet.filter = ""
        screen.filter_line.display = False
        screen.fleet.show()

    def _sort(self) -> None:
        screen = self._screen
        order = next_order(screen.fleet.sort)
        screen.fleet.sort = order
        screen.memory.keep(sort=order)
        screen.fleet.show()
        screen.fleet.select(self._model.selected)
        show_message(screen, f"Sorted by {order}: {ORDERS[order]}.")

    def _pane_more(self) -> None:
        self._show_reason(self._screen.split.give_pane(1))

    def _pane_less(self) -> None:
        self._show_reason(self._screen.split.give_pane(-1))

    def _beside(self) -> None:
        self._show_reason(self._screen.split.turn())

    def _show_reason(self, reason: str | None) -> None:
        if reason:
            show_reason(self._screen, reason)

    def _events(self) -> None:
        screen = self._screen
        if screen.split.has_panels:
            screen.toggle_class("-no-events")
            return
        screen.feed.toggle_class("-open")
        screen.show_events()

    def _redraw(self) -> None:
        self._screen.post_message(RedrawWanted())

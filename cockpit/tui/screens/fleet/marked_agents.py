"""Mark agents, run an action for all marked agents, and rename an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.screens.requests import Requests
from cockpit.tui.terminal.paste_guard import key_in_hand
from cockpit.wire.verbs import Rename

if TYPE_CHECKING:
    from cockpit.tui.screens.fleet.screen import FleetScreen

MANY = frozenset({"approve", "send", "stop", "forget"})
"""Ids of the actions that act on all marked agents while agents are marked."""


class MarkedAgents:
    """Marks or renames the selected agent, which must exist; runs actions for all marked agents."""

    def __init__(self, screen: FleetScreen, requests: Requests) -> None:
        self._screen = screen
        self._requests = requests

    @property
    def _selected(self) -> str:
        name = self._screen.model.selected
        assert name is not None  # the actions are unavailable without an agent
        return name

    def mark(self) -> None:
        fleet, name = self._screen.fleet, self._selected
        fleet.mark(name)
        if name in fleet.marked and fleet.names[-1] != name:
            fleet.move(1)
        self._screen.refresh_keys()

    def to_marked(self, action: str, names: list[str]) -> None:
        """List the effect of an action on each marked agent; run the action if the user agrees."""
        from cockpit.tui.screens.fleet.marked import MarkedScreen, plan
        from cockpit.tui.screens.send import SendScreen

        screen = self._screen

        def ask(text: str | None) -> None:
            if text == "":
                return  # cancelled
            planned = plan(self._screen.model, BY_ID[action], names, text)

            def agreed() -> None:
                screen.fleet.unmark(names)
                screen.refresh_keys()

            confirm = "Y" if self._screen.model.key_of(action) == "y" else "y"
            screen.app.push_screen(
                MarkedScreen(screen, screen.client, action, planned, agreed, confirm)
            )

        if action != "send":
            ask(None)
            return
        form = SendScreen(f"{len(names)} marked agents")
        form.opened_in = key_in_hand(screen)
        screen.app.push_screen(form, ask)

    def rename(self) -> None:
        from cockpit.tui.screens.rename import RenameScreen

        screen, name = self._screen, self._selected

        def named(new: str | None) -> None:
            if new:
                self._requests.send(
                    Rename(name=name, to=new), lambda done: screen.fleet.select(done.name or name)
                )

        form = RenameScreen(name)
        form.opened_in = key_in_hand(screen)
        screen.app.push_screen(form, named)

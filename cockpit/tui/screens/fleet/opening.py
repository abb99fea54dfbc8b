"""Open other screens from the agents' screen.

The other screens are imported where they are opened; `lazy.load` imports them ahead of time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.tui.keys.action import Handlers
from cockpit.tui.screens.removals import Removals
from cockpit.tui.screens.requests import show_reason
from cockpit.tui.terminal.paste_guard import key_in_hand
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Start

if TYPE_CHECKING:
    from cockpit.tui.screens.fleet.screen import FleetScreen


class Opening:
    """Runs the actions that open a screen."""

    def __init__(
        self,
        screen: FleetScreen,
        attach: Callable[[str], None],
        agent: Callable[[], AgentStatus],
    ) -> None:
        """`attach` attaches to an agent's pane; `agent` returns the agent to show."""
        self._screen = screen
        self._model = screen.model
        self._removals = Removals(screen.client)
        self._attach = attach
        self._agent = agent

    def handlers(self) -> Handlers:
        return {
            "document": self.document,
            "start": self._start,
            "duplicate": self._duplicate,
            "inbox": self._inbox,
            "history": self._history,
            "worktrees": self._worktrees,
            "elsewhere": self._elsewhere,
            "settings": self.settings,
            "help": self._help,
        }

    def _open_start_form(self, like: AgentStatus | None) -> None:
        from cockpit.tui.screens.start.screen import StartScreen

        screen = self._screen

        def started(order: Start | None) -> None:
            if order:
                screen.fleet.select(order.name)

        agents = list(self._model.agents.values())
        ui = screen.ui
        there = self._model.agent if self._model.main.is_remote else None
        place = Path(there.configured_directory or there.directory) if there else ui.directory
        form = StartScreen(
            agents,
            self._model.selected,
            place,
            screen.client,
            ui.files,
            ui.home,
            like=like,
            main=self._model.host,
        )
        form.opened_in = key_in_hand(screen)
        screen.app.push_screen(form, started)

    def _inbox(self) -> None:
        from cockpit.tui.screens.inbox.screen import InboxScreen

        screen = self._screen
        inbox = InboxScreen(self._model, screen.client, screen.ui, self._attach)
        screen.app.push_screen(inbox)

    def _history(self) -> None:
        from cockpit.tui.screens.history.screen import HistoryScreen

        screen = self._screen
        history = HistoryScreen(self._model, screen.client, screen.ui)
        screen.app.push_screen(history)

    def _elsewhere(self) -> None:
        from cockpit.tui.screens.elsewhere.screen import ElsewhereScreen

        screen = self._screen
        screen.app.push_screen(ElsewhereScreen(self._model, screen.client, screen.ui))

    def _worktrees(self) -> None:
        from cockpit.tui.screens.worktrees.screen import WorktreesScreen

        screen = self._screen
        screen.app.push_screen(
            WorktreesScreen(self._model, screen.client, screen.ui, self._removals)
        )

    def settings(self, begin_at: tuple[str, ...] | None = None) -> None:
        """Open the settings form.

        `begin_at` is the path of the setting that gets the focus; None for the first setting.
        """
        from cockpit.tui.screens.settings.screen import SettingsScreen

        screen, ui = self._screen, self._screen.ui
        if ui.files is None:
            show_reason(screen, "With --host, edit the settings in the files on that host.")
            return
        form = SettingsScreen(
            self._model, screen.client, ui.files, ui.home, self._own_keys, begin_at
        )
        screen.app.push_screen(form)

    def _own_keys(self) -> None:
        from cockpit.tui.screens.settings.own_keys import OwnKeysScreen

        screen, ui = self._screen, self._screen.ui
        if ui.files is not None:
            form = OwnKeysScreen(screen.client, ui.files, ui.home, ui.keys)
            screen.app.push_screen(form, lambda _written: screen.refresh_keys())

    def _help(self) -> None:
        from cockpit.tui.screens.help import HelpScreen

        self._screen.app.push_screen(HelpScreen("fleet", self._screen.ui.keys))

    def document(self) -> None:
        """Open the review of the agent's handoff."""
        from cockpit.tui.screens.review.screen import ReviewScreen

        screen = self._screen
        screen.app.push_screen(
            ReviewScreen(self._model, screen.client, screen.ui, self._agent().name)
        )

    def _start(self) -> None:
        self._open_start_form(None)

    def _duplicate(self) -> None:
        self._open_start_form(self._agent())

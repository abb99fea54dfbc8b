"""What the keys of the fleet do: look up the action, say why not, or do it.

A screen is imported where it is opened; `behind.load` does it before anybody asks.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.tui.actions import BY_ID
from cockpit.tui.attach import step_aside
from cockpit.tui.background import in_background
from cockpit.tui.bursts import key_in_hand
from cockpit.tui.frugal import RedrawWanted
from cockpit.tui.present.sorting import ORDERS, next_order
from cockpit.tui.removals import Removals
from cockpit.tui.screens.errands import Errands, cannot, out_of_a_paste, say, tell
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Approve, Handoff, Refuse, Send, Snooze, Start, Stop, Undo

if TYPE_CHECKING:
    from cockpit.tui.screens.fleet import FleetScreen


class Commands:
    """The half of the fleet's screen that acts. Each `_<action>` is one of the registry's."""

    def __init__(self, screen: FleetScreen) -> None:
        self._screen = screen
        self._model = screen.model
        self._errands = Errands(screen, screen.client)
        self._removals = Removals(screen.client)

    def do(self, action: str) -> None:
        """Do an action by its id, or say why it cannot be done now."""
        if out_of_a_paste(self._screen, BY_ID[action]):
            return
        reason = BY_ID[action].why_not(self._model)
        if reason:
            cannot(self._screen, reason)
        else:
            getattr(self, f"_{action.replace('-', '_')}")()

    def jump(self, number: int) -> None:
        """Select the agent of that number."""
        name = self._screen.fleet.name_at(number)
        if name is None:
            cannot(self._screen, f"There is no agent {number}.")
        else:
            self._screen.fleet.select(name)

    @property
    def _agent(self) -> AgentStatus:
        agent = self._model.agent
        assert agent is not None  # every action that uses it refuses to begin without
        return agent

    @property
    def _question(self) -> str | None:
        """The handoff that stands, so that an answer never reaches a later one."""
        return self._agent.handoff.id if self._agent.handoff else None

    def _approve(self) -> None:
        self._errands.send(Approve(name=self._agent.name, handoff=self._question))

    def _approve_straight(self) -> None:
        self._errands.send(Approve(name=self._agent.name, handoff=self._question, straight=True))

    def _refuse(self) -> None:
        self._errands.send(Refuse(name=self._agent.name, handoff=self._question))

    def _snooze(self) -> None:
        self._errands.send(Snooze(name=self._agent.name, handoff=self._question))

    def _snooze_more(self) -> None:
        self._errands.send(Snooze(name=self._agent.name, handoff=self._question, percent=10))

    def _let_compact(self) -> None:
        self._errands.send(Refuse(name=self._agent.name, handoff=self._question, compact=True))

    def _document(self) -> None:
        from cockpit.tui.screens.review import ReviewScreen

        screen = self._screen
        screen.app.push_screen(ReviewScreen(self._model, screen.client, screen.around))

    def _attach(self) -> None:
        task = partial(self._go_to, self._agent.name)
        in_background(self._screen, task, group="attach", alone=True)

    async def _go_to(self, name: str) -> None:
        around = self._screen.around
        try:
            if around.direct:
                await step_aside(self._screen.app, lambda: around.attach(name))
            else:
                await around.attach(name)
        except Exception as error:  # noqa: BLE001 (whatever went wrong out there is told here)
            tell(self._screen, error)

    def _handoff(self) -> None:
        self._errands.send(Handoff(name=self._agent.name))

    def _send(self) -> None:
        from cockpit.tui.screens.send import SendScreen

        name = self._agent.name

        def written(text: str | None) -> None:
            if text:
                self._errands.send(Send(name=name, text=text))

        form = SendScreen(name)
        form.opened_in = key_in_hand(self._screen)
        self._screen.app.push_screen(form, written)

    def _start(self) -> None:
        from cockpit.tui.screens.start import StartScreen

        screen = self._screen

        def started(order: Start | None) -> None:
            if order:
                screen.fleet.select(order.name)

        agents = list(self._model.agents.values())
        around = screen.around
        there = self._model.agent if self._model.main.is_far else None
        place = Path(there.directory) if there else around.directory
        form = StartScreen(
            agents, self._model.selected, place, screen.client, around.files, around.home
        )
        form.opened_in = key_in_hand(screen)
        screen.app.push_screen(form, started)

    def _stop(self) -> None:
        name = self._agent.name
        self._confirm(
            f"Stop {name}?",
            "Its process is ended. Its worktree and its session stay: it can be started again.",
            Stop(name=name),
            "stop it",
        )

    def _undo(self) -> None:
        name = self._agent.name
        self._confirm(
            f"Go back to the previous session of {name}?",
            "The session that runs now is ended, and the one before it is reopened.",
            Undo(name=name),
            "go back",
        )

    def _confirm(self, title: str, words: str, verb: Stop | Undo, yes: str) -> None:
        from cockpit.tui.screens.confirm import ConfirmScreen

        def decided(yes: bool | None) -> None:
            if yes:
                self._errands.send(verb)

        self._screen.app.push_screen(ConfirmScreen(title, words, yes), decided)

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

    def _open(self) -> None:
        from cockpit.tui.screens.agent import AgentScreen

        screen = self._screen
        agent = AgentScreen(self._model, screen.client, screen.around, self.do)
        screen.app.push_screen(agent)

    def _inbox(self) -> None:
        from cockpit.tui.screens.inbox import InboxScreen

        screen = self._screen
        inbox = InboxScreen(self._model, screen.client, screen.around, self._attach)
        screen.app.push_screen(inbox)

    def _history(self) -> None:
        from cockpit.tui.screens.history import HistoryScreen

        screen = self._screen
        history = HistoryScreen(self._model, screen.client, screen.around)
        screen.app.push_screen(history)

    def _worktrees(self) -> None:
        from cockpit.tui.screens.worktrees import WorktreesScreen

        screen = self._screen
        screen.app.push_screen(
            WorktreesScreen(self._model, screen.client, screen.around, self._removals)
        )

    def _filter(self) -> None:
        self._screen.filter_line.display = True
        self._screen.set_focus(self._screen.filter)

    def _unfilter(self) -> None:
        screen = self._screen
        if not screen.fleet.filter:
            cannot(screen, "No filter is set: every agent is shown.")
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
        say(screen, f"Sorted by {order}: {ORDERS[order]}.")

    def _pane_more(self) -> None:
        self._say_why(self._screen.division.give_pane(1))

    def _pane_less(self) -> None:
        self._say_why(self._screen.division.give_pane(-1))

    def _beside(self) -> None:
        self._say_why(self._screen.division.turn())

    def _say_why(self, reason: str | None) -> None:
        if reason:
            cannot(self._screen, reason)

    def _settings(self) -> None:
        from cockpit.tui.screens.settings import SettingsScreen

        screen, around = self._screen, self._screen.around
        if around.files is None:
            cannot(screen, "No configuration belongs to this screen.")
            return
        form = SettingsScreen(self._model, screen.client, around.files, around.home, self._own_keys)
        screen.app.push_screen(form)

    def _own_keys(self) -> None:
        from cockpit.tui.screens.own_keys import OwnKeysScreen

        screen, around = self._screen, self._screen.around
        if around.files is not None:
            form = OwnKeysScreen(screen.client, around.files, around.home, around.keys)
            screen.app.push_screen(form, lambda _written: screen.refresh_keys())

    def _events(self) -> None:
        feed = self._screen.feed
        feed.toggle_class("-open")
        if feed.has_class("-open"):
            feed.show(self._model.events)

    def _redraw(self) -> None:
        self._screen.post_message(RedrawWanted())

    def _help(self) -> None:
        from cockpit.tui.screens.help import HelpScreen

        self._screen.app.push_screen(HelpScreen("fleet", self._screen.around.keys))

    def _quit(self) -> None:
        self._screen.app.exit(True)

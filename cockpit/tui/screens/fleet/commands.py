"""Run the actions of the agents' screen, or show why an action is unavailable.

Other screens are imported where they are opened; `lazy.load` imports them ahead of time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cockpit.tui.keys import reasons
from cockpit.tui.keys.action import Context, Handlers
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.keys.reasons import DIALOGS
from cockpit.tui.present import handoff_question
from cockpit.tui.screens.copying import Copying
from cockpit.tui.screens.fleet.marked_agents import MANY, MarkedAgents
from cockpit.tui.screens.fleet.opening import Opening
from cockpit.tui.screens.fleet.viewing import Viewing
from cockpit.tui.screens.leaving import leave
from cockpit.tui.screens.requests import (
    Requests,
    is_refused_as_paste,
    show_error,
    show_reason,
    snooze_or_wake,
    unread_problem,
)
from cockpit.tui.state.background import in_background
from cockpit.tui.terminal.attach import suspend_while
from cockpit.tui.terminal.paste_guard import key_in_hand
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import (
    Approve,
    Finish,
    Forget,
    Handoff,
    Refuse,
    Resume,
    Send,
    Snooze,
    Stop,
    Undo,
    Verb,
)

if TYPE_CHECKING:
    from cockpit.tui.screens.fleet.screen import FleetScreen
    from cockpit.tui.state.model import Model


class Commands:
    """Runs the actions of the agents' screen on the selected agent, or on one given agent."""

    def __init__(self, screen: FleetScreen, name: str | None = None) -> None:
        """`name` is the agent to act on, for that agent's screen; None for the selected agent."""
        self._screen = screen
        self._name = name
        self._model = screen.model
        self._requests = Requests(screen, screen.client)
        self._marked_agents = MarkedAgents(screen, self._requests)
        self._copying = Copying(screen, screen.ui, lambda: self._acted_on.agent)
        self._viewing = Viewing(screen)
        self._opening = Opening(screen, self._attach_to, lambda: self._agent)

    def do(self, action: str) -> None:
        """Run an action by its id, or show why the action is unavailable."""
        if is_refused_as_paste(self._screen, BY_ID[action]):
            return
        if self._name is not None:
            self._do_one(action, "agent")
            return
        if action in ("attach", "open") and self._screen.fleet.at_elsewhere:
            action = "elsewhere"
        if action in MANY and (marked := self._screen.fleet.marked):
            self._marked_agents.to_marked(action, marked)
            return
        self._do_one(action)

    def _do_one(self, action: str, screen: Context = "fleet") -> None:
        reason = BY_ID[action].why_not(self._acted_on, screen)
        if reason:
            show_reason(self._screen, reason)
        else:
            self.handlers()[action]()

    def handlers(self) -> Handlers:
        """Return the method that runs each action of the agents' screen, by the action's id."""
        return {
            "approve": self._approve,
            "approve-straight": self._approve_straight,
            "refuse": self._refuse,
            "snooze": self._snooze,
            "snooze-more": self._snooze_more,
            "let-compact": self._let_compact,
            "attach": self._attach,
            "handoff": self._handoff,
            "handoff-to": self._handoff_to,
            "send": self._send,
            "resume": self._resume,
            "stop": self._stop,
            "mark": self._marked_agents.mark,
            "forget": self._forget,
            "rename": self._marked_agents.rename,
            "done": self._done,
            "undo": self._undo,
            "open": self._open,
            **self._copying.handlers(),
            **self._viewing.handlers(),
            **self._opening.handlers(),
            "quit": self._quit,
        }

    def change_setting(self, path: tuple[str, ...]) -> None:
        """Open the settings form at the setting with this path."""
        self._opening.settings(path)

    def jump(self, number: int) -> None:
        """Select the agent that is shown with this number."""
        name = self._screen.fleet.name_at(number)
        if name is None:
            show_reason(self._screen, f"No agent {number}.")
        else:
            self._screen.fleet.select(name)

    @property
    def _acted_on(self) -> Model:
        """The model in which the agent to act on is selected."""
        return self._model if self._name is None else self._model.at(self._name)

    @property
    def _agent(self) -> AgentStatus:
        agent = self._acted_on.agent
        assert agent is not None  # actions on an agent are unavailable without one
        return agent

    @property
    def _question(self) -> str | None:
        """The id of the current handoff, so that an answer never applies to a later handoff."""
        return self._agent.handoff.id if self._agent.handoff else None

    def _approve(self) -> None:
        needs = self._agent.needs
        if needs is not None and needs.kind in DIALOGS:
            self._answer_dialog()
            return
        if (problem := unread_problem(self._model, self._agent)) is not None:
            self._opening.document()
            show_reason(self._screen, problem)
            return
        self._requests.send(Approve(name=self._agent.name, handoff=self._question))

    def _approve_straight(self) -> None:
        self._requests.send(Approve(name=self._agent.name, handoff=self._question, straight=True))

    def _refuse(self) -> None:
        self._requests.send(Refuse(name=self._agent.name, handoff=self._question))

    def _snooze(self) -> None:
        self._requests.send(snooze_or_wake(self._agent, self._question))

    def _snooze_more(self) -> None:
        self._requests.send(Snooze(name=self._agent.name, handoff=self._question, percent=10))

    def _let_compact(self) -> None:
        self._requests.send(Refuse(name=self._agent.name, handoff=self._question, compact=True))

    def _answer_dialog(self) -> None:
        from cockpit.tui.screens.permission.screen import PermissionScreen

        screen, name = self._screen, self._agent.name
        screen.app.push_screen(
            PermissionScreen(self._model, screen.client, screen.ui, name, self._attach_to)
        )

    def _attach(self) -> None:
        self._attach_to(self._agent.name)

    def _attach_to(self, name: str) -> None:
        task = partial(self._go_to, name)
        in_background(self._screen, task, group="attach", exclusive=True)

    async def _go_to(self, name: str) -> None:
        ui = self._screen.ui
        try:
            if ui.direct:
                await suspend_while(self._screen.app, lambda: ui.attach(name))
            else:
                await ui.attach(name)
        except Exception as error:  # noqa: BLE001 (every error is shown here)
            show_error(self._screen, error)

    def _handoff(self) -> None:
        agent = self._agent
        self._confirm(
            handoff_question.title(agent),
            handoff_question.explanation(agent),
            Handoff(name=agent.name),
            "hand off",
        )

    def _handoff_to(self) -> None:
        from cockpit.tui.screens.successor import SuccessorScreen

        name, question = self._agent.name, self._question

        def chosen(runtime: str | None) -> None:
            if runtime:
                self._requests.send(Handoff(name=name, to=runtime, handoff=question))

        screen = SuccessorScreen(self._agent, self._model.command_name(name))
        self._screen.app.push_screen(screen, chosen)

    def _send(self) -> None:
        from cockpit.tui.screens.send import SendScreen

        name = self._agent.name

        def written(text: str | None) -> None:
            if text:
                self._requests.send(Send(name=name, text=text))

        form = SendScreen(name)
        form.opened_in = key_in_hand(self._screen)
        self._screen.app.push_screen(form, written)

    def _resume(self) -> None:
        """Reopen all interrupted agents.

        Sends one request to the main host, and one request per agent to other hosts.
        """
        for part in self._model.parts.values():
            mine = [
                agent
                for agent in reasons.interrupted(self._model)
                if self._model.part_of(agent.name) is part
            ]
            if part is self._model.main and mine:
                self._requests.send(Resume())
            elif mine:
                for agent in mine:
                    self._requests.send(Resume(name=agent.name))

    def _stop(self) -> None:
        name = self._agent.name
        kept = "worktree" if self._agent.worktree else "files"
        self._confirm(
            f"Stop {name}?",
            f"This ends the agent's process. The {kept} and the session are kept, so you can "
            "start the agent again.",
            Stop(name=name),
            "stop it",
        )

    def _forget(self) -> None:
        name = self._agent.name
        self._confirm(
            f"Forget {name}?",
            "This removes the agent from the list. The history, documents and worktree are "
            "kept. An agent that your configuration file defines is listed again as not started.",
            Forget(name=name),
            "forget it",
        )

    def _done(self) -> None:
        name = self._agent.name
        self._confirm(
            f"Mark the job of {name} as done?",
            "This runs the configured end-of-job actions, such as push, pull request and hooks.",
            Finish(name=name),
            "done",
        )

    def _undo(self) -> None:
        name = self._agent.name
        self._confirm(
            f"Go back to the previous session of {name}?",
            "This ends the current session and reopens the previous one. Files and commits stay as "
            "they are, including those made since the handoff.",
            Undo(name=name),
            "go back",
        )

    def _confirm(self, title: str, words: str, verb: Verb, yes: str) -> None:
        from cockpit.tui.screens.confirm import ConfirmScreen

        def decided(yes: bool | None) -> None:
            if yes:
                self._requests.send(verb)

        self._screen.app.push_screen(ConfirmScreen(title, words, yes), decided)

    def _open(self) -> None:
        from cockpit.tui.screens.agent.screen import AgentScreen

        screen, name = self._screen, self._agent.name
        do = Commands(screen, name).do
        screen.app.push_screen(AgentScreen(self._model, screen.client, screen.ui, name, do))

    def _quit(self) -> None:
        leave(self._screen.app, self._screen.ui)

"""Answer the permission dialog or question of an agent, without its pane.

Shows the CLI's own choices, in the CLI's order. A key answers a dialog only once, and only after
the screen has shown the dialog for `READ` seconds. The supervisor checks again that the dialog is
still open.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual._time import get_time
from textual.app import ComposeResult
from textual.binding import BindingType

from cockpit.client.client import Client
from cockpit.config.this_user import this_user
from cockpit.core.errors import CockpitError, NoSupervisor, NotNow
from cockpit.core.safetext import safe_line
from cockpit.tui.keys.action import Action, Context, Handlers
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.keys.bindings import bindings
from cockpit.tui.keys.reasons import press, waiting_dialogs
from cockpit.tui.present.keys import shown_key
from cockpit.tui.present.permission import (
    choice_lines,
    refusal_lines,
    request_lines,
    title_spans,
)
from cockpit.tui.screens.base_screen import TextScreen
from cockpit.tui.screens.permission.text_form import TextForm
from cockpit.tui.screens.requests import Requests, show_error, show_message, show_reason
from cockpit.tui.state.arming import READ, Arming
from cockpit.tui.state.background import in_background
from cockpit.tui.state.delay import call_after
from cockpit.tui.state.last_request import done_by_other
from cockpit.tui.state.model import Change, Model
from cockpit.tui.widgets.line import OneLine
from cockpit.tui.widgets.text_view import TextView
from cockpit.wire.dialogs import ChoiceStatus, DialogStatus
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Answer, Done

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext

LOOK = 1.0
"""Seconds between two requests for the dialog, which can change without a change of status."""
TOO_EARLY = "This dialog has only just appeared. Read it, then press the key again."


class PermissionScreen(TextScreen):
    """The open dialog of one agent, then of the next agent. Closes when no dialog is open."""

    CONTEXT: ClassVar[Context] = "permission"
    BINDINGS: ClassVar[list[BindingType]] = bindings("permission")

    def __init__(
        self, model: Model, client: Client, ui: UIContext, name: str, attach: Callable[[str], None]
    ) -> None:
        """`name` is the agent whose dialog is shown first; `attach` attaches to an agent's pane."""
        super().__init__(model, client, ui)
        self._go_in = attach
        self.name_of_agent: str = name
        self.dialog: DialogStatus | None = None
        self.selected = 0
        self.checked: set[int] = set()
        self.arming = Arming()
        self._sending = False
        self._reading: str | None = None
        """The agent whose dialog is being loaded; None without a request."""
        self._requests = Requests(self, client)
        self._title = OneLine(
            lambda width: title_spans(self.agent, width, waiting_dialogs(model), self._kind),
            id="permission-title",
        )
        self.text = self._body = TextView(self._say, id="permission-text")
        self._choices = TextView(self._say_choices, id="permission-choices")

    @property
    def agent(self) -> AgentStatus | None:
        return self.model.agents.get(self.name_of_agent)

    @property
    def _kind(self) -> str:
        if self.dialog is not None and self.dialog.identity is not None:
            return self.dialog.kind
        return self.agent.needs.kind if self.agent and self.agent.needs else ""

    @property
    def identity(self) -> str | None:
        return self.dialog.identity if self.dialog else None

    @property
    def is_ready(self) -> bool:
        """Whether a key that is pressed now may answer the dialog."""
        return self.arming.admits(self.identity, get_time())

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._body
        yield self._choices
        yield from self.footer()

    def on_mount(self) -> None:
        self._stop_listening = self.model.listen(self._heard)
        self.set_interval(LOOK, self._look)
        self._look()

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_resize(self) -> None:
        self._draw()

    def reconnected(self) -> None:
        self._look()

    def _heard(self, change: Change, name: str | None) -> None:
        if change not in {Change.EVENT, Change.SELECTION} and name in {None, self.name_of_agent}:
            self._look()
            self._title.show()

    def _look(self) -> None:
        """Load the dialog, unless that is in progress: a new request would cancel the old one."""
        if self._reading != self.name_of_agent:
            self._reading = self.name_of_agent
            in_background(self, self._read, group="dialog", exclusive=True)

    async def _read(self) -> None:
        name = self.name_of_agent
        dialog: DialogStatus | None
        try:
            dialog = await self.client.dialog(name)
        except NotNow:
            dialog = None
        except NoSupervisor:
            self._reading = None
            return  # the footer shows the lost connection
        except CockpitError as error:
            dialog = DialogStatus(refusal=safe_line(error.title))
        if name != self.name_of_agent:
            return
        self._reading = None
        if dialog is not None:
            # While an answer is sent, the pane may show no dialog although the dialog is open.
            if not (self._sending and dialog.refusal is not None):
                self._take(dialog)
        elif not self._sending:
            self._leave_or_next()

    def _take(self, dialog: DialogStatus) -> None:
        if dialog.identity != self.identity or self.dialog is None:
            self.selected = dialog.highlighted or 0
            self.checked = {n for n, choice in enumerate(dialog.choices) if choice.checked}
            self._body.scroll_home(animate=False, force=True)
        elif dialog == self.dialog:
            return
        self.dialog = dialog
        self._draw()

    def _leave_or_next(self) -> None:
        """Show another agent with an open dialog; close the screen if there is none."""
        others = [name for name in waiting_dialogs(self.model) if name != self.name_of_agent]
        if others:
            self._show(others[0])
        elif self.is_attached and self.app.screen is self:
            agent = self.model.agents.get(self.name_of_agent)
            if agent is not None and (done := done_by_other(agent, this_user(), datetime.now(UTC))):
                show_message(self, f"{agent.name}: {done}")
            self.dismiss()

    def _show(self, name: str) -> None:
        self.name_of_agent, self.dialog = name, None
        self.model.select(name)
        self._draw()
        self._look()

    # Drawing

    def _draw(self) -> None:
        if not self.is_attached:
            return
        self._title.show()
        width = (self.size.width or self.app.size.width) - 1
        choices = self._choice_lines(width)
        most = max(3, self.app.size.height // 2)
        self._choices.display = bool(choices)
        self._set_heights(len(self._say(width, 0)), min(len(choices), most) + 1)
        self._choices.set_lines(choices)
        self._body.show()
        self._keys.show()
        self.call_after_refresh(self._drawn, self.identity)

    def _set_heights(self, text: int, choices: int) -> None:
        """Put the choices directly below a short text, or at the bottom, below a text that scrolls.

        Both arguments are numbers of lines; `choices` includes the line above the choices.
        """
        room = self.app.size.height - 2  # the title and the key line
        is_short = self._choices.display and text + 1 + choices <= room
        self._body.styles.height = text + 1 if is_short else "1fr"
        self._choices.styles.height = "1fr" if is_short else choices

    def _drawn(self, identity: str | None) -> None:
        """Start the wait before keys can answer this dialog. Called once the screen shows it."""
        if identity != self.identity or not self.is_attached:
            return
        before = self.is_ready
        self.arming.drawn(identity, get_time())
        if identity is not None and not before:
            call_after(self, READ, self._draw_choices)

    def _draw_choices(self) -> None:
        if not self.is_attached:
            return
        self._keys.show()
        lines = self._choice_lines(self.size.width - 1)
        self._choices.set_lines(lines)
        # On a low screen, not all choices are visible.
        at = next((n for n, line in enumerate(lines) if line[0].text.startswith(" ❯")), 0)
        top, height = self._choices.scroll_offset.y, max(1, self._choices.size.height)
        if not top <= at < top + height:
            target = at if at < top else at - height + 1
            self._choices.scroll_to(y=target, animate=False, force=True)

    def _say(self, width: int, _height: int) -> list[list[Any]]:
        if self.dialog is None:
            return []
        if self.dialog.refusal is not None:
            key = shown_key(BY_ID["permission.attach"], self.ui.keys)
            return list(refusal_lines(self.agent, self.dialog.refusal, width, key))
        return list(request_lines(self.dialog, width))

    def _say_choices(self, width: int, _height: int) -> list[list[Any]]:
        return self._choice_lines(width)

    def _choice_lines(self, width: int) -> list[list[Any]]:
        if self.dialog is None or self.dialog.identity is None:
            return []
        return list(
            choice_lines(
                self.dialog,
                self.selected,
                self.checked,
                width,
                ready=self.is_ready,
                text_key=self.model.key_of("permission.text"),
            )
        )

    # Keys

    def hints(self) -> list[Action]:
        """Return the key line's actions, without those that do nothing for the selected choice."""
        chosen, unavailable = self._chosen, set()
        if chosen is None:
            unavailable.add("permission.answer")
        if chosen is None or chosen.text == "no":
            unavailable.add("permission.text")
        if chosen is None or chosen.checked is None:
            unavailable.add("permission.check")
        return [action for action in super().hints() if action.id not in unavailable]

    def handlers(self) -> Handlers:
        return {
            "permission.answer": self._answer,
            "permission.text": self._text,
            "permission.check": self._check,
            "permission.down": self._next_choice,
            "permission.up": self._previous_choice,
            "permission.next": self._next,
            "permission.previous": self._previous,
            "permission.attach": self._go_to_pane,
            "permission.page-down": self._page_down,
            "permission.page-up": self._page_up,
            "permission.first": self._first,
            "permission.last": self._last,
            "permission.help": self._help,
            "permission.back": self._back,
        }

    @property
    def _chosen(self) -> ChoiceStatus | None:
        choices = self.dialog.choices if self.dialog else []
        return choices[self.selected] if self.selected < len(choices) else None

    def _may_answer(self) -> bool:
        """Return whether the key that is being handled may answer the dialog.

        If not, shows why, unless an answer is being sent.
        """
        if self._sending:
            return False
        if self.dialog is not None and self.dialog.refusal is not None:
            key = shown_key(BY_ID["permission.attach"], self.ui.keys)
            show_reason(
                self, f"Cannot answer here: {self.dialog.refusal}. Press {key} to go to the pane."
            )
            return False
        at = getattr(self.app, "key_at", None)
        if not self.arming.admits(self.identity, get_time() if at is None else at):
            show_reason(self, TOO_EARLY)
            return False
        return True

    def _answer(self) -> None:
        chosen = self._chosen
        if not self._may_answer() or chosen is None:
            return
        if chosen.text == "must":
            self._ask_text(chosen)
        elif chosen.checked is not None:
            self._send(sorted(self.checked))
        else:
            self._send([self.selected])

    def _no_choice(self) -> str:
        """Return why there is no choice: the dialog is loading, or must be answered in its pane."""
        if self.dialog is None:
            return "The dialog is still loading: there is no choice yet."
        way = press(self.model.on("permission"), "attach")
        return f"There is no choice here. {way} to answer in the agent's pane."

    def _text(self) -> None:
        chosen = self._chosen
        if chosen is None:
            show_reason(self, self._no_choice())
        elif chosen.text == "no":
            show_reason(self, "This choice takes no text. Select a choice that takes text.")
        elif self._may_answer():
            self._ask_text(chosen)

    def _ask_text(self, chosen: ChoiceStatus) -> None:
        identity, place = self.identity, self.selected

        def written(text: str | None) -> None:
            if not text:
                return
            if identity != self.identity:
                show_reason(self, "The dialog changed while you were writing. Nothing was sent.")
            else:
                self._send([place], text)

        self.app.push_screen(TextForm(f"{chosen.label}: your text"), written)

    def _send(self, places: list[int], text: str = "") -> None:
        identity = self.identity
        if identity is None or self._sending:
            return
        self._sending = True
        self.arming.answered()
        self._draw_choices()
        numbers = [place + 1 for place in places]
        verb = Answer(name=self.name_of_agent, dialog=identity, choices=numbers, text=text)
        self._requests.send(verb, self._given, self._refused)

    def _given(self, _done: Done) -> None:
        self._sending = False
        self._look()

    def _refused(self, error: CockpitError) -> None:
        self._sending = False
        self.arming.refused()
        show_error(self, error)
        self._draw()
        self._look()

    def _check(self) -> None:
        chosen = self._chosen
        if chosen is None:
            show_reason(self, self._no_choice())
            return
        if chosen.checked is None:
            way = press(self.model.on("permission"), "permission.answer")
            show_reason(self, f"This choice has no checkbox. {way} to choose it.")
            return
        self.checked ^= {self.selected}
        self._draw_choices()

    def _next_choice(self) -> None:
        self._select(1)

    def _previous_choice(self) -> None:
        self._select(-1)

    def _select(self, step: int) -> None:
        most = len(self.dialog.choices) if self.dialog else 0
        if most == 0:
            self._move(step)
            return
        self.selected = max(0, min(most - 1, self.selected + step))
        self._draw_choices()

    def action_choose(self, number: int) -> None:
        """Select the choice that is shown with this number; does not answer."""
        if self.dialog is not None and number <= len(self.dialog.choices):
            self._select(number - 1 - self.selected)

    def _next(self) -> None:
        self._turn(1)

    def _previous(self) -> None:
        self._turn(-1)

    def _turn(self, step: int) -> None:
        waiting = waiting_dialogs(self.model)
        if not waiting or self._sending:
            return
        here = waiting.index(self.name_of_agent) if self.name_of_agent in waiting else -step
        self._show(waiting[(here + step) % len(waiting)])

    def _go_to_pane(self) -> None:
        reason = BY_ID["attach"].why_not(self.action_model, "permission")
        if reason:
            show_reason(self, reason)
        else:
            self.model.select(self.name_of_agent)
            self._go_in(self.name_of_agent)

"""Starting an agent: a stopped one by its name, or a new one. Says what is wrong as you type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, RadioButton, RadioSet, Static, TextArea

from cockpit.core.errors import BadUsage
from cockpit.core.ids import agent_name
from cockpit.core.safetext import safe_line
from cockpit.tui.actions import has_ended
from cockpit.tui.screens.send import PromptArea
from cockpit.wire.status import AgentStatus
from cockpit.wire.verbs import Start

Mode = Literal["observe", "prompt", "auto"]
MODES: tuple[tuple[Mode, str], ...] = (
    ("prompt", "ask me before a handoff"),
    ("auto", "hand off by itself"),
    ("observe", "only show"),
)


class StartScreen(ModalScreen[Start]):
    """A form. A name that is configured needs nothing else; the rest is for a new agent."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+g", "leave", "back", show=False, priority=True),
        Binding("ctrl+s", "submit", "start", show=False, priority=True),
    ]

    def __init__(
        self, agents: Sequence[AgentStatus], selected: str | None, directory: Path
    ) -> None:
        super().__init__()
        self._agents = {agent.name: agent for agent in agents}
        self._directory = directory
        stopped = [agent.name for agent in agents if has_ended(agent)]
        first = selected if selected in stopped else ""
        self.named = Input(
            first, placeholder="name", suggester=SuggestFromList(stopped), id="name", compact=True
        )
        self.where = Input(str(directory), placeholder="directory", id="where", compact=True)
        self.prompt = PromptArea(
            id="prompt", placeholder="first prompt", soft_wrap=True, compact=True
        )
        self.mode = RadioSet(
            *(
                RadioButton(f"{mode}: {words}", value=not i)
                for i, (mode, words) in enumerate(MODES)
            ),
            id="mode",
            compact=True,
        )
        self._verdict = Static("", classes="dialog--words", markup=False)
        for field in (self.named, self.where):
            field.cursor_blink = False
        self.prompt.cursor_blink = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall"):
            yield Static("Start an agent", classes="dialog--title", markup=False)
            yield Static("name", classes="dialog--label")
            yield self.named
            yield self._verdict
            yield Static("directory", classes="dialog--label -new")
            yield self.where
            yield Static("first prompt", classes="dialog--label")
            yield self.prompt
            yield self.mode
            yield Static("Tab next  Ctrl-S start  Ctrl-G back", classes="dialog--keys")

    def on_mount(self) -> None:
        # Focus scrolls by the layout of before, which on a low screen is another.
        self.named.focus(scroll_visible=False)
        self._judge()

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _typed(self) -> None:
        self._judge()
        # On a low screen the verdict may just have pushed the field out of sight.
        if self.focused is not None:
            self.call_after_refresh(self.focused.scroll_visible, animate=False)

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_submit()

    def action_submit(self) -> None:
        order = self._order()
        if isinstance(order, Start):
            self.dismiss(order)
        else:
            self._judge()

    def action_leave(self) -> None:
        self.dismiss(None)

    def _judge(self) -> None:
        known = self._agents.get(self.named.value)
        self.set_class(known is not None, "-known")
        order = self._order()
        good = isinstance(order, Start)
        self._verdict.set_class(not good, "-wrong")
        if isinstance(order, str):
            self._verdict.update(safe_line(order, 300))
        else:
            self._verdict.update("starts as configured" if known else "starts as a new agent")

    def _order(self) -> Start | str:
        """What would be asked for, or why it cannot be."""
        name = self.named.value
        if not name:
            return "A name: a-z, 0-9, dot, underscore, dash."
        try:
            agent_name(name)
        except BadUsage as error:
            return f"{error.detail} {error.hint}"
        known = self._agents.get(name)
        if known and not has_ended(known):
            return f"{name} is running already."
        prompt = self.prompt.text if self.prompt.text.strip() else None
        if known:
            return Start(name=name, prompt=prompt)
        where = (self._directory / Path(self.where.value).expanduser()).absolute()
        if not where.is_dir():
            return f"There is no directory {where}."
        mode = MODES[max(0, self.mode.pressed_index)][0]
        return Start(name=name, prompt=prompt, directory=str(where), mode=mode)

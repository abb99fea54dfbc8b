"""The name of an agent that is to be started: says what is wrong with it as it is typed."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input, Static

from cockpit.core.errors import BadUsage
from cockpit.core.ids import agent_name
from cockpit.core.safetext import safe_line
from cockpit.tui.screens.form import Form
from cockpit.tui.widgets.field import Field


class NameScreen(Form[str]):
    """Dismisses with a name that nobody running has, or with nothing."""

    def __init__(self, title: str, first: str, taken: Iterable[str]) -> None:
        super().__init__()
        self._title = safe_line(title)
        self._taken = frozenset(taken)
        self.named = Field(first, placeholder="name", id="name")
        self._verdict = Static("", classes="dialog--words", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall"):
            yield Static(self._title, classes="dialog--title", markup=False)
            yield Static("name of the new agent", classes="dialog--label")
            yield self.named
            yield self._verdict
            yield Static("Enter start  Ctrl-G back", classes="dialog--keys")

    def on_mount(self) -> None:
        super().on_mount()
        self._judge()

    def first_field(self) -> Widget:
        return self.named

    @on(Input.Changed)
    def _judge(self) -> None:
        wrong = self._wrong()
        self._verdict.set_class(bool(wrong), "-wrong")
        self._verdict.update(safe_line(wrong or "starts from this document", 300))

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_submit()

    def submit(self) -> None:
        if self._wrong():
            self._judge()
        else:
            self.dismiss(self.named.value)

    def _wrong(self) -> str:
        name = self.named.value
        if not name:
            return "A name: a-z, 0-9, dot, underscore, dash."
        try:
            agent_name(name)
        except BadUsage as error:
            return f"{error.detail} {error.hint}"
        return f"{name} is running already." if name in self._taken else ""

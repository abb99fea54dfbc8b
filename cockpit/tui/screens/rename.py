"""The form for renaming an agent."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input, Static

from cockpit.core.errors import BadUsage
from cockpit.core.far_names import host_and_name
from cockpit.core.ids import agent_name
from cockpit.core.safetext import safe_line
from cockpit.tui.screens.form import Form, row
from cockpit.tui.screens.requests import in_one_line
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.field import Field

WORDS = "The history is kept. The worktree and the branch keep their names."


class RenameScreen(Form[str]):
    """The form for a new name. Returns the name without a host; empty if cancelled."""

    EXPLAINED = (("name", "1 to 32 of a-z, 0-9, dot, underscore, dash; a letter or digit first."),)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._old = host_and_name(name)[1]
        self.named = Field(placeholder=self._old, id="name")
        self.status_line = Static(WORDS, classes="dialog--words", markup=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            title = f"Rename {safe_line(self._old, 32)}"
            yield Static(title, classes="dialog--title", markup=False)
            yield row("new name", self.named)
            yield self.status_line
            yield DialogKeys("Enter rename  Esc back  F1 help")

    def first_field(self) -> Widget:
        return self.named

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_submit()

    def submit(self) -> None:
        if not self.named.value:
            self.show_status("Type the new name.", wrong=True)
            return
        try:
            name = agent_name(self.named.value)
        except BadUsage as wrong:
            self.show_status(in_one_line(wrong), wrong=True)
            return
        self.dismiss(name)

    def action_leave(self) -> None:
        self.dismiss("")

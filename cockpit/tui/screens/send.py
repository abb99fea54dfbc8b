"""The form for sending a prompt of several lines to an agent."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.safetext import safe_line
from cockpit.tui.screens.form import Form
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.field import PromptArea


class SendScreen(Form[str]):
    """The form for a prompt. Returns the prompt; empty if cancelled or only whitespace."""

    EXPLAINED = (
        ("Enter Ctrl-S", "Send the text to the agent."),
        ("Ctrl-J", "Insert a new line."),
    )

    def __init__(self, name: str) -> None:
        super().__init__()
        self._to = safe_line(name, LONGEST_NAME)
        self.area = PromptArea()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall"):
            yield Static(f"Send to {self._to}", classes="dialog--title", markup=False)
            yield self.area
            yield DialogKeys("Enter send  Ctrl-J line  Esc back  F1 help")

    def first_field(self) -> Widget:
        return self.area

    def submit(self) -> None:
        text = self.area.text
        self.dismiss(text if text.strip() else "")

    def action_leave(self) -> None:
        self.dismiss("")

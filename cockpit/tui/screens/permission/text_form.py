"""The form for the text of a choice, such as what the agent should do instead."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Static

from cockpit.core.safetext import safe_line
from cockpit.tui.screens.form import Form
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.field import PromptArea


class TextForm(Form[str]):
    """The form for the text that is sent with a dialog's choice.

    Its result is the text in one line; empty if cancelled or only whitespace.
    """

    EXPLAINED = (("Enter Ctrl-S", "Answer with this choice and text."),)

    def __init__(self, label: str) -> None:
        super().__init__()
        self._label = safe_line(label, 60)
        self.area = PromptArea()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._label, classes="dialog--title", markup=False)
            yield self.area
            yield DialogKeys("Enter answer  Esc back  F1 help")

    def first_field(self) -> Widget:
        return self.area

    def submit(self) -> None:
        self.dismiss(" ".join(self.area.text.split()))

    def action_leave(self) -> None:
        self.dismiss("")

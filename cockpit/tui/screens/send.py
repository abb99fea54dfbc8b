"""A prompt for an agent, written over as many lines as it takes."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from cockpit.core.safetext import safe_line


class PromptArea(TextArea):
    """Enter sends; Ctrl-J is a new line, because no terminal can be relied on for Shift-Enter."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.submit", "send", show=False, priority=True),
        Binding("ctrl+j", "new_line", "new line", show=False, priority=True),
    ]

    def action_new_line(self) -> None:
        self.insert("\n")


class SendScreen(ModalScreen[str]):
    """Dismisses with the text, or with nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+g", "leave", "back", show=False, priority=True),
        Binding("ctrl+s", "submit", "send", show=False, priority=True),
    ]

    def __init__(self, name: str) -> None:
        super().__init__()
        self._to = safe_line(name, 32)
        self.area = PromptArea(soft_wrap=True, show_line_numbers=False, compact=True)
        self.area.cursor_blink = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall"):
            yield Static(f"Send to {self._to}", classes="dialog--title", markup=False)
            yield self.area
            yield Static(
                "Enter send  Ctrl-J line  Ctrl-G back", classes="dialog--keys", markup=False
            )

    def on_mount(self) -> None:
        self.area.focus()

    def action_submit(self) -> None:
        text = self.area.text
        self.dismiss(text if text.strip() else "")

    def action_leave(self) -> None:
        self.dismiss("")

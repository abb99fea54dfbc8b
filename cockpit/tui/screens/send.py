"""A prompt for an agent, written over as many lines as it takes."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from cockpit.core.safetext import safe_line


class PromptArea(TextArea):
    """Enter sends; Ctrl-J is a new line, because no terminal can be relied on for Shift-Enter."""

    async def _on_key(self, event: Key) -> None:
        """Both keys in their turn among the typed ones: a binding would overtake them."""
        if event.key == "ctrl+j":
            event.stop()
            event.prevent_default()
            self.insert("\n")
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            await self.screen.run_action("submit")
        else:
            await super()._on_key(event)


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

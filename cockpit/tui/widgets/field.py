"""Text fields that handle keys strictly in the order pressed.

Textual may run a binding (Ctrl-U, Home) after letters typed later, because the field handles
letters at once and bindings only after the key has bubbled up. Text that is typed ahead over a slow
connection could then be lost.
"""

from __future__ import annotations

from typing import Any

from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input, TextArea

from cockpit.tui.terminal.paste_guard import burst_of, looked_like_a_paste


async def run_in_order(widget: Widget, event: Key) -> None:
    """Run the widget's own binding for a key at once, if any, and stop the key's event."""
    if _is_pasted_end(widget, event):
        return
    for binding in widget._bindings.key_to_bindings.get(event.key, ()):
        event.stop()
        event.prevent_default()
        await widget.run_action(binding.action)
        return


def _is_pasted_end(widget: Widget, event: Key) -> bool:
    """Return whether this Enter was pasted: its burst of keys opened the form and looks pasted.

    If so, stops the key's event and shows a warning, once per burst.
    """
    opened_in = getattr(widget.screen, "opened_in", None)
    if event.key != "enter" or opened_in is None or burst_of(event) is not opened_in:
        return False
    why = looked_like_a_paste(opened_in, "enter")
    if why:
        widget.notify(why, severity="warning", markup=False, timeout=5)
    if why is not None:
        event.stop()
        event.prevent_default()
    return why is not None


class Field(Input):
    """A one-line text field that handles keys in the order pressed."""

    def __init__(self, value: str = "", **how: Any) -> None:
        # Selecting on focus would let the next letter replace text typed ahead.
        super().__init__(value, compact=True, select_on_focus=False, **how)
        self.cursor_blink = False

    async def _on_key(self, event: Key) -> None:
        # The screen handles up and down.
        if event.key not in {"up", "down"}:
            await run_in_order(self, event)


class PromptArea(TextArea):
    """A text area in which Enter submits the form, and Ctrl-J adds a line.

    Shift-Enter cannot add a line, because not every terminal sends it.
    """

    def __init__(self, **how: Any) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, compact=True, **how)
        self.cursor_blink = False

    async def _on_key(self, event: Key) -> None:
        if event.key == "ctrl+j":
            event.stop()
            event.prevent_default()
            self.insert("\n")
        elif event.key == "enter" and not _is_pasted_end(self, event):
            event.stop()
            event.prevent_default()
            await self.screen.run_action("submit")
        else:
            await run_in_order(self, event)

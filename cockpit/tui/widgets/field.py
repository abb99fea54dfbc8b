"""Fields to type in, which take their keys strictly in the order in which they were pressed.

Textual lets a binding (Ctrl-U, Home) run after letters that came later: the letter is taken where
the field stands, the binding only once the key has travelled up to the application. A pilot who
types ahead over a slow line would lose text by that.
"""

from __future__ import annotations

from typing import Any

from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input, TextArea

from cockpit.tui.bursts import burst_of, looked_like_a_paste


async def in_its_turn(widget: Widget, event: Key) -> None:
    """Run the widget's own binding of a key at once, and let nobody else have the key."""
    if _is_pasted_end(widget, event):
        return
    for binding in widget._bindings.key_to_bindings.get(event.key, ()):
        event.stop()
        event.prevent_default()
        await widget.run_action(binding.action)
        return


def _is_pasted_end(widget: Widget, event: Key) -> bool:
    """Whether this Enter would submit what opened its own form: a line that was pasted."""
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
    """One line."""

    def __init__(self, value: str = "", **how: Any) -> None:
        # What was typed before the focus came would be selected, and the next letter replace it.
        super().__init__(value, compact=True, select_on_focus=False, **how)
        self.cursor_blink = False

    async def _on_key(self, event: Key) -> None:
        # One line has nothing to scroll to: these two are for whoever has the field.
        if event.key not in {"up", "down"}:
            await in_its_turn(self, event)


class PromptArea(TextArea):
    """Enter sends; Ctrl-J is a new line, because no terminal can be relied on for Shift-Enter."""

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
            await in_its_turn(self, event)

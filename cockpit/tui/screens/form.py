"""What every form has: what is typed ahead reaches the right field, in the order it was typed.

Textual sends a key to whatever has the focus when it arrives, and a form that was just asked for
has no field yet. Until it has, the form keeps the keys itself and hands them on afterwards.
Which fields there are, and what comes of them, is each form's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.events import Key
from textual.screen import ModalScreen
from textual.widget import Widget

Answer = TypeVar("Answer")


class Form(ModalScreen[Answer]):
    """Tab goes on, Ctrl-S submits, Esc and Ctrl-G leave, wherever in the form the pilot is."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        # All before the fields, so that what is typed after Tab reaches the next field.
        Binding("tab", "go(1)", "next", show=False, priority=True),
        Binding("shift+tab", "go(-1)", "previous", show=False, priority=True),
        Binding("escape,ctrl+g", "leave", "back", show=False, priority=True),
        Binding("ctrl+s", "submit", "submit", show=False, priority=True),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._begun = False
        self._aim: Widget | None = None
        """Where the keys go that came before there was a focus."""

    def first_field(self) -> Widget:
        """Where typing begins."""
        raise NotImplementedError

    def fields(self) -> list[Widget]:
        """All that can be typed into."""
        return [self.first_field()]

    def submit(self) -> None:
        """Do what the form is for; everything typed before is in the fields by now."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self._aim = self.first_field()
        self.call_later(self._begin)

    def _begin(self) -> None:
        if self.message_queue_size:
            self.call_later(self._begin)  # keys among them; they come first
            return
        self._begun = True
        # `Widget.focus` would only ask for it: what is typed meanwhile would be nobody's. And
        # scrolling goes by the layout of before, which on a low screen is another.
        self.set_focus(self._aim, scroll_visible=self._aim is not self.first_field())

    async def _on_key(self, event: Key) -> None:
        if not self._begun and self._aim is not None:
            event.stop()
            event.prevent_default()
            self._aim._forward_event(Key(event.key, event.character))

    def action_go(self, step: int) -> None:
        """To the next field, or the one before."""
        if not self._begun:
            self.call_later(self._aim_at, step)
        elif step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def _aim_at(self, step: int) -> None:
        chain = self.focus_chain
        if self._begun or self._aim not in chain:
            self.action_go(step)
        else:
            self._aim = chain[(chain.index(self._aim) + step) % len(chain)]

    def action_submit(self) -> None:
        self.after_what_was_typed(self.submit)

    def action_leave(self) -> None:
        self.dismiss(None)

    def after_what_was_typed(self, call: Callable[[], None]) -> None:
        """Call once every field has taken up the keys that it was given until now."""
        for holder in (*self.fields(), self):
            if holder.is_attached:
                call = _behind(holder, call)
        call()


def _behind(holder: Widget, call: Callable[[], None]) -> Callable[[], None]:
    def wait() -> None:
        holder.call_later(call)

    return wait

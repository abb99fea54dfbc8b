"""The base of every form: keys typed ahead reach the right field, in the order typed.

Textual sends a key to the focused widget, but no widget has the focus while a form opens. Until a
field has the focus, keys are forwarded to the field that will get the focus.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Event, Key
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from cockpit.core.safetext import safe_line
from cockpit.tui.screens.help import Explanation
from cockpit.tui.terminal.paste_guard import Burst

Answer = TypeVar("Answer")

KEYS = (
    ("Tab Shift-Tab", "Next field, previous field."),
    ("← →", "Change the selected option."),
    ("Ctrl-U Ctrl-W", "Delete to the start of the line; delete the word before the cursor."),
    ("Enter Ctrl-S", "Submit."),
    ("Esc Ctrl-G", "Cancel."),
)
"""The keys of every form."""


class Form(ModalScreen[Answer]):
    """A form. In every field, Tab goes to the next field, Ctrl-S submits, Esc and Ctrl-G cancel."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority over the fields, so that keys typed after Tab reach the next field.
        Binding("tab", "go(1)", "next", show=False, priority=True),
        Binding("shift+tab", "go(-1)", "previous", show=False, priority=True),
        Binding("escape,ctrl+g", "leave", "back", show=False, priority=True),
        Binding("ctrl+s", "submit", "submit", show=False, priority=True),
        Binding("f1", "explain", "help", show=False, priority=True),
    ]
    EXPLAINED: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Fields and keys of this form, each with a sentence for the help."""

    status_line: Static
    """Shows the result that submitting would have, or an error. Not set in every form."""

    def __init__(self) -> None:
        super().__init__()
        self.opened_in: Burst | None = None
        """The burst of keys with which the form was opened; None if unknown.

        If the burst looks pasted, an Enter from the burst is ignored.
        """
        self._aim: Widget | None = None
        """The field that gets keys while nothing has the focus; None for the first field."""

    def first_field(self) -> Widget:
        """Return the field that gets the focus when the form opens."""
        raise NotImplementedError

    def fields(self) -> list[Widget]:
        """Return all fields, in Tab order."""
        return [self.first_field()]

    def submit(self) -> None:
        """Submit the form. Called once the fields contain everything typed before submitting."""
        raise NotImplementedError

    def show_status(self, text: str, *, wrong: bool) -> None:
        """Show a message in the status line.

        If `wrong`, the message is shown as an error, and all toasts are removed, because a toast
        could cover the message.
        """
        if wrong:
            self.app.clear_notifications()
        self.status_line.set_class(wrong, "-wrong")
        self.status_line.update(safe_line(text, 500))

    def on_mount(self) -> None:
        aim = self._aim or self.first_field()
        # `Widget.focus` takes effect later, and keys typed meanwhile would be lost. Scrolling
        # would use the old layout, which differs on a low screen.
        self.set_focus(aim, scroll_visible=aim is not self.first_field())

    def _forward_event(self, event: Event) -> None:
        """While no field has the focus, forward keys to the field that will get the focus."""
        if isinstance(event, Key) and self.focused is None:
            (self._aim or self.first_field())._forward_event(event)
        else:
            super()._forward_event(event)

    def action_go(self, step: int) -> None:
        """Move to the next field (`step` is 1) or to the previous field (-1)."""
        if self.focused is None:
            chain = self.fields()
            here = chain.index(self._aim or self.first_field())
            self._aim = chain[(here + step) % len(chain)]
        elif step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_explain(self) -> None:
        self.app.push_screen(Explanation([*self.EXPLAINED, *KEYS]))

    def action_submit(self) -> None:
        self.after_what_was_typed(self.submit)

    def action_leave(self) -> None:
        self.dismiss(None)

    def after_what_was_typed(self, call: Callable[[], None]) -> None:
        """Call a function once every field has processed the keys sent to the field so far."""
        for field in self.fields():
            call = _call_after(field, call)
        call()


def row(label: str, field: Widget) -> Horizontal:
    """Return a row with a label and its field."""
    return Horizontal(
        Static(label, classes="dialog--label", markup=False), field, classes="form--row"
    )


def _call_after(field: Widget, call: Callable[[], None]) -> Callable[[], None]:
    def wait() -> None:
        field.call_later(call)

    return wait

"""What every form has: what is typed ahead reaches the right field, in the order it was typed.

Textual sends a key to whatever has the focus when it arrives, and a form that was just asked for
gives it to nobody yet. Until it does, its keys are put before the field that will have it.
Which fields there are, and what comes of them, is each form's own.
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
from cockpit.tui.bursts import Burst
from cockpit.tui.screens.help import Explanation

Answer = TypeVar("Answer")

KEYS = (
    ("Tab Shift-Tab", "The next field, the one before."),
    ("← →", "Change a choice, when the field is one."),
    ("Ctrl-U Ctrl-W", "Empty a field; take a word away."),
    ("Ctrl-S", "Do it."),
    ("Esc Ctrl-G", "Leave; nothing is done."),
)
"""What every form has."""


class Form(ModalScreen[Answer]):
    """Tab goes on, Ctrl-S submits, Esc and Ctrl-G leave, wherever in the form the pilot is."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        # All before the fields, so that what is typed after Tab reaches the next field.
        Binding("tab", "go(1)", "next", show=False, priority=True),
        Binding("shift+tab", "go(-1)", "previous", show=False, priority=True),
        Binding("escape,ctrl+g", "leave", "back", show=False, priority=True),
        Binding("ctrl+s", "submit", "submit", show=False, priority=True),
        Binding("f1", "explain", "help", show=False, priority=True),
    ]
    EXPLAINED: ClassVar[tuple[tuple[str, str], ...]] = ()
    """What each field wants, in a sentence, for the help."""

    verdict: Static
    """Where a form that has one says what would come of it."""

    def __init__(self) -> None:
        super().__init__()
        self.opened_in: Burst | None = None
        """The burst of the key that opened it: Enter is not taken from the same one."""
        self._aim: Widget | None = None
        """Where keys go as long as nothing has the focus; None for the first field."""

    def first_field(self) -> Widget:
        """Where typing begins."""
        raise NotImplementedError

    def fields(self) -> list[Widget]:
        """All that can be typed into, in the order in which Tab goes through them."""
        return [self.first_field()]

    def submit(self) -> None:
        """Do what the form is for; everything typed before is in the fields by now."""
        raise NotImplementedError

    def say(self, words: str, *, wrong: bool) -> None:
        """What would come of it, or why nothing does. Toasts of before must not cover that."""
        if wrong:
            self.app.clear_notifications()
        self.verdict.set_class(wrong, "-wrong")
        self.verdict.update(safe_line(words, 500))

    def on_mount(self) -> None:
        aim = self._aim or self.first_field()
        # `Widget.focus` would only ask for it: what is typed meanwhile would be nobody's. And
        # scrolling goes by the layout of before, which on a low screen is another.
        self.set_focus(aim, scroll_visible=aim is not self.first_field())

    def _forward_event(self, event: Event) -> None:
        """A key that came while nothing has the focus waits at the field that will."""
        if isinstance(event, Key) and self.focused is None:
            (self._aim or self.first_field())._forward_event(event)
        else:
            super()._forward_event(event)

    def action_go(self, step: int) -> None:
        """To the next field, or the one before."""
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
        """Call once every field has taken up the keys that it was given until now."""
        for field in self.fields():
            call = _behind(field, call)
        call()


def row(label: str, field: Widget) -> Horizontal:
    """A field with its label before it."""
    return Horizontal(
        Static(label, classes="dialog--label", markup=False), field, classes="form--row"
    )


def _behind(field: Widget, call: Callable[[], None]) -> Callable[[], None]:
    def wait() -> None:
        field.call_later(call)

    return wait

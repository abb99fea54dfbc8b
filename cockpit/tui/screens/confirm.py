"""A second, different key before something is ended: a held key must not end agents in a row."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from cockpit.core.safetext import safe_line
from cockpit.tui.bursts import key_in_hand
from cockpit.tui.screens.help import Explanation
from cockpit.tui.widgets.dialog_keys import ColouredKeys

TOGETHER = "y came at once with other keys, as in a paste, and was not taken. Press it by itself."


class ConfirmScreen(ModalScreen[bool]):
    """Says what will happen; `y` does it, anything that means no does not."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n,q,escape", "answer(False)", "no", show=False),
        Binding("question_mark,f1", "explain", "help", show=False),
    ]

    def __init__(self, question: str, words: str, yes: str) -> None:
        """`yes` says in a word or two what `y` does."""
        super().__init__()
        self._question = safe_line(question)
        self._words = safe_line(words, 400)
        self._yes = safe_line(yes, 20)

    def compose(self) -> ComposeResult:
        keys = [("y", self._yes), ("n", "no"), ("F1", "help")]
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog--title", markup=False)
            yield Static(self._words, classes="dialog--words", markup=False)
            yield ColouredKeys(keys, id="confirm-keys")

    def action_answer(self, yes: bool) -> None:
        burst = key_in_hand(self)
        if yes and burst is not None and burst.keys > 1:
            self.notify(TOGETHER, severity="warning", markup=False, timeout=5)
            return
        self.dismiss(yes)

    def action_explain(self) -> None:
        rows = (("y", f"{self._yes.capitalize()}."), ("n q Esc", "Leave; nothing is done."))
        self.app.push_screen(Explanation(rows))

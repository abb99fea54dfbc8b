"""A second, different key before something is ended: a held key must not end agents in a row."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from cockpit.core.safetext import safe_line


class ConfirmScreen(ModalScreen[bool]):
    """Says what will happen; `y` does it, anything that means no does not."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n,q,escape", "answer(False)", "no", show=False),
    ]

    def __init__(self, question: str, words: str) -> None:
        super().__init__()
        self._question = safe_line(question)
        self._words = safe_line(words, 400)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = None
            yield Static(self._question, classes="dialog--title", markup=False)
            yield Static(self._words, classes="dialog--words", markup=False)
            yield Static("y yes    n no", classes="dialog--keys", markup=False)

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)

"""Ask to confirm with a second key, so that a held key cannot stop several agents."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from cockpit.core.safetext import safe_line
from cockpit.tui.screens.help import Explanation
from cockpit.tui.terminal.paste_guard import key_in_hand
from cockpit.tui.widgets.dialog_keys import ColouredKeys

TOGETHER = "y was ignored: it arrived with other keys, as in a paste. Press the key on its own."


class ConfirmScreen(ModalScreen[bool]):
    """A dialog that describes an action. `y` confirms; `n`, `q`, Esc and Ctrl-C cancel."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n,q,escape,ctrl+c", "answer(False)", "no", show=False),
        Binding("question_mark,f1", "explain", "help", show=False),
    ]

    def __init__(self, question: str, text: str, yes: str) -> None:
        """`yes` is the label of the key `y`: the action, in one or two words.

        `text` is cut after 400 characters.
        """
        super().__init__()
        self._question = safe_line(question)
        self._words = safe_line(text, 400)
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
        rows = (("y", f"{self._yes.capitalize()}."), ("n q Esc", "Cancel."))
        self.app.push_screen(Explanation(rows))

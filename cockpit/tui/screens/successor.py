"""Ask in which CLI a job continues.

The user answers with a digit, so that a held key cannot answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from cockpit.core.safetext import safe_line
from cockpit.core.tool_names import SUCCESSORS
from cockpit.tui.screens.confirm import TOGETHER
from cockpit.tui.screens.help import Explanation
from cockpit.tui.terminal.paste_guard import key_in_hand
from cockpit.tui.widgets.dialog_keys import ColouredKeys

WORDS = (
    "The new session works in the same directory, with the same permissions or fewer. "
    "If that CLI has no such permission mode, you are asked first."
)


def others(runtime: str, configured: str | None) -> tuple[str, ...]:
    """Return the CLIs in which the job of an agent with this runtime can continue.

    `configured`: the runtime in the agent's settings. A job can go back to it, also if it is one of
    the user's own.
    """
    own = (configured,) if configured and configured not in (*SUCCESSORS, "command") else ()
    return tuple(name for name in (*SUCCESSORS, *own) if name != runtime)


class SuccessorScreen(ModalScreen[str]):
    """Returns the chosen runtime; None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,q,escape", "dismiss()", "cancel", show=False),
        Binding("question_mark,f1", "explain", "help", show=False),
    ]

    def __init__(self, agent: str, runtimes: Sequence[str]) -> None:
        super().__init__()
        self._agent = safe_line(agent, 32)
        self._runtimes = tuple(runtimes)
        for number, runtime in enumerate(self._runtimes, 1):
            self._bindings.bind(str(number), f"choose({number})", runtime, show=False)

    def compose(self) -> ComposeResult:
        choices = [(str(number), name) for number, name in enumerate(self._runtimes, 1)]
        with Vertical(classes="dialog"):
            yield Static(
                f"In which CLI does {self._agent} continue?", classes="dialog--title", markup=False
            )
            yield Static(WORDS, classes="dialog--words", markup=False)
            yield ColouredKeys([*choices, ("Esc", "cancel"), ("F1", "help")], id="successor-keys")

    def action_choose(self, number: int) -> None:
        burst = key_in_hand(self)
        if burst is not None and burst.keys > 1:
            key = str(number)
            self.notify(TOGETHER.replace("y", key, 1), severity="warning", markup=False, timeout=5)
            return
        self.dismiss(self._runtimes[number - 1])

    def action_explain(self) -> None:
        rows = [
            (str(number), f"Hand off to {name}.") for number, name in enumerate(self._runtimes, 1)
        ]
        self.app.push_screen(Explanation((*rows, ("n q Esc", "Cancel."))))

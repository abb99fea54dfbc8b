"""Ask the user which CLI or custom runtime continues a job.

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

from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.safetext import safe_line
from cockpit.core.tool_names import SUCCESSORS
from cockpit.tui.screens.confirm import TOGETHER
from cockpit.tui.screens.help import Explanation
from cockpit.tui.terminal.paste_guard import key_in_hand
from cockpit.tui.widgets.dialog_keys import ColouredKeys
from cockpit.wire.status import AgentStatus

WORDS = (
    "The new session works in the same directory, with the same permissions or fewer. "
    "If the chosen CLI has no equal permission mode, you are asked first."
)


MOST = 9
"""Maximum number of runtimes to choose from: each runtime has a digit as its key."""
WIDTH = 64
"""Cells of a line in the dialog."""
MORE = " Other custom runtimes: cockpit handoff {name} --to RUNTIME."


def others(agent: AgentStatus) -> tuple[str, ...]:
    """Return the runtimes in which the agent's job can continue.

    Custom runtimes come last, beginning with the one that the agent is configured to use.
    """
    configured = agent.configured_runtime
    own = (configured,) if configured and configured != "command" else ()
    every = dict.fromkeys((*SUCCESSORS, *own, *agent.custom_runtimes))
    return tuple(name for name in every if name != agent.runtime)


def lines(keys: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Break pairs of a key and its label into lines that fit the dialog."""
    broken: list[list[tuple[str, str]]] = [[]]
    for key in keys:
        line = "  ".join(" ".join(hint) for hint in (*broken[-1], key))
        if broken[-1] and len(line) > WIDTH:
            broken.append([])
        broken[-1].append(key)
    return broken


class SuccessorScreen(ModalScreen[str]):
    """The dialog to choose the next runtime. Returns the runtime's name; None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,q,escape", "dismiss()", "cancel", show=False),
        Binding("question_mark,f1", "explain", "help", show=False),
    ]

    def __init__(self, agent: AgentStatus, in_commands: str) -> None:
        """`in_commands` is the agent's name as typed in a command."""
        super().__init__()
        self._agent = safe_line(agent.name, LONGEST_NAME)
        runtimes = others(agent)
        self._runtimes = runtimes[:MOST]
        self._more = MORE.format(name=in_commands) if len(runtimes) > MOST else ""
        for number, runtime in enumerate(self._runtimes, 1):
            self._bindings.bind(str(number), f"choose({number})", runtime, show=False)

    def compose(self) -> ComposeResult:
        choices = [
            (str(number), safe_line(name, 32)) for number, name in enumerate(self._runtimes, 1)
        ]
        with Vertical(classes="dialog"):
            yield Static(
                f"In which CLI does {self._agent} continue?", classes="dialog--title", markup=False
            )
            yield Static(WORDS + self._more, classes="dialog--words", markup=False)
            for line in lines([*choices, ("Esc", "cancel"), ("F1", "help")]):
                yield ColouredKeys(line)

    def action_choose(self, number: int) -> None:
        burst = key_in_hand(self)
        if burst is not None and burst.keys > 1:
            key = str(number)
            self.notify(TOGETHER.replace("y", key, 1), severity="warning", markup=False, timeout=5)
            return
        self.dismiss(self._runtimes[number - 1])

    def action_explain(self) -> None:
        rows = [
            (str(number), f"Hand off to {safe_line(name, 32)}.")
            for number, name in enumerate(self._runtimes, 1)
        ]
        self.app.push_screen(Explanation((*rows, ("n q Esc", "Cancel."))))

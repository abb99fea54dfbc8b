"""The keys of where you are, from the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from cockpit.tui.actions import Context, table
from cockpit.tui.present.span import Span, fit
from cockpit.tui.widgets.line import wrapped
from cockpit.tui.widgets.lines import Lines

LEGEND = (
    (Span("  ▏  ", "bar-track-act"), Span("on the bar: where notice, warn, act and force begin")),
    (Span("  ┃  ", "bar-end"), Span("where the CLI would compact by itself")),
    (Span("  ▒  ", "bar-calm"), Span("the window is assumed, not known")),
    (Span("  ╌  ", "bar-unknown"), Span("no reading yet")),
)


MOST = 6
"""Lines that one sentence may take."""


class Sentences(Lines):
    """Keys or signs with what they mean beside them, over as many lines as that takes."""

    def __init__(self, sentences: Sequence[Sequence[Span]]) -> None:
        super().__init__(id="help-lines")
        self._sentences = sentences

    def resized(self) -> None:
        width = self.size.width
        lines: list[list[Span]] = []
        for sentence in self._sentences:
            lines += wrapped(sentence, width, MOST) or [[]]
        self.set_lines(lines)


class Explanation(ModalScreen[None]):
    """What is to be pressed, or filled in, and what each does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Where the key arrives: what follows it is for what lies below.
        Binding("q,escape,question_mark,f1,enter", "dismiss", "back", show=False, priority=True),
        Binding("j,down,pagedown,space", "scroll(1)", show=False),
        Binding("k,up,pageup", "scroll(-1)", show=False),
    ]

    def __init__(
        self, rows: Sequence[tuple[str, str]], below: Sequence[Sequence[Span]] = ()
    ) -> None:
        super().__init__()
        widest = max(len(what) for what, _ in rows)
        told = [[Span(f"  {fit(what, widest)}  ", "key"), Span(said)] for what, said in rows]
        self.lines = Sentences([*told, *below])

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -keys"):
            yield Static("Keys", classes="dialog--title", markup=False)
            yield self.lines
            yield Static("F12 comes back from a pane    q back", classes="dialog--keys")

    def action_scroll(self, direction: int) -> None:
        step = direction * max(1, self.lines.size.height - 2)
        self.lines.scroll_relative(y=step, animate=False, force=True)


class HelpScreen(Explanation):
    """Every key of one context, and how to read the bar."""

    def __init__(self, context: Context, keys: Mapping[str, str]) -> None:
        rows = [(pressed, said) for where, pressed, _, said in table(keys) if where == context]
        super().__init__(rows, [[], *LEGEND] if context == "fleet" else [])

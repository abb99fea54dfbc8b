"""The help screen: the keys of one context, from the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Static

from cockpit.tui.keys.actions import PALETTE, Context, table
from cockpit.tui.present.span import Span, fit
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.line import wrapped
from cockpit.tui.widgets.lines import Lines

LEGEND = (
    (Span("  ┊  ", "bar-act-tick"), Span("on the bar: the act threshold, where a handoff begins")),
    (Span("  ┃  ", "bar-end"), Span("where the CLI compacts automatically")),
    (Span("  ╍  ", "bar-calm"), Span("the window size is assumed")),
    (Span("  ╌  ", "bar-unknown"), Span("no token count yet")),
)


MOST = 6
"""Maximum lines of a sentence."""


class Sentences(Lines):
    """Keys or signs, each with its meaning beside it, wrapped."""

    class Chosen(Message):
        """The user clicked the sentence at index `place`."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self, sentences: Sequence[Sequence[Span]]) -> None:
        super().__init__(id="help-lines")
        self._sentences = sentences
        self._places: list[int] = []
        """For each line, the index of the line's sentence."""

    def show_sentences(self, sentences: Sequence[Sequence[Span]]) -> None:
        """Replace the sentences."""
        self._sentences = sentences
        self.resized()

    def resized(self) -> None:
        width = self.size.width
        lines: list[list[Span]] = []
        self._places = []
        for place, sentence in enumerate(self._sentences):
            lines += wrapped(sentence, width, MOST) or [[]]
            self._places += [place] * (len(lines) - len(self._places))
        self.set_lines(lines)

    def on_click(self, event: events.Click) -> None:
        line = self.scroll_offset.y + event.y
        if line < len(self._places):
            self.post_message(self.Chosen(self._places[line]))


class Explanation(ModalScreen[None]):
    """Keys or fields, each with an explanation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority, so that keys typed after it go to the screen below.
        Binding("q,escape,question_mark,f1,enter", "dismiss", "back", show=False, priority=True),
        Binding("j,down,pagedown,space", "scroll(1)", show=False),
        Binding("k,up,pageup", "scroll(-1)", show=False),
    ]

    def __init__(
        self, rows: Sequence[tuple[str, str]], below: Sequence[Sequence[Span]] = ()
    ) -> None:
        super().__init__()
        widest = max(len(what) for what, _ in rows)
        sentences = [
            [Span(f"  {fit(what, widest)}  ", "key"), Span(sentence)] for what, sentence in rows
        ]
        self.lines = Sentences([*sentences, *below])

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -keys"):
            yield Static("Keys", classes="dialog--title", markup=False)
            yield self.lines
            yield DialogKeys("F12 returns from a pane    q back")

    def action_scroll(self, direction: int) -> None:
        step = direction * max(1, self.lines.size.height - 2)
        self.lines.scroll_relative(y=step, animate=False, force=True)


class HelpScreen(Explanation):
    """Every key of one context, and how to read the bar; clicking a line runs its action."""

    def __init__(self, context: Context, keys: Mapping[str, str]) -> None:
        rows = [row for row in table(keys) if row[0] == context]
        sentences = [(pressed, sentence) for _, pressed, _, sentence in rows]
        sentences.append(("Ctrl-P", f"{PALETTE} Clicking the top line opens it too."))
        super().__init__(sentences, [[], *LEGEND] if context == "fleet" else [])
        self._actions = [action for _, _, action, _ in rows]

    @on(Sentences.Chosen)
    def _chosen(self, message: Sentences.Chosen) -> None:
        """Run the clicked action on the screen below."""
        action = next(iter(self._actions[message.place : message.place + 1]), "")
        if action:
            act = getattr(self.app.screen_stack[-2], "action_act")  # noqa: B009 (several have it)
            self.dismiss()
            self.app.call_later(act, action)

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

from cockpit.tui.keys.action import Context
from cockpit.tui.keys.actions import BY_ID, PALETTE, table
from cockpit.tui.present.keys import shown_key
from cockpit.tui.present.span import Span, fit
from cockpit.tui.widgets.dialog_keys import DialogKeys
from cockpit.tui.widgets.line import wrapped
from cockpit.tui.widgets.lines import Lines

LEGEND = (
    (Span("  ┊  ", "bar-act-tick"), Span("the act threshold, where a handoff begins")),
    (Span("  ┃  ", "bar-end"), Span("where the CLI compacts automatically")),
    (Span("  ╍  ", "bar-calm"), Span("the window size is assumed")),
    (Span("  ╌  ", "bar-unknown"), Span("no token count yet")),
)


MOVE = frozenset({
    "", "down", "up", "first", "last", "next-needing", "pane-up", "pane-down", "page-down",
    "page-up", "next", "previous", "back", "pane-next", "pane-previous",
})  # fmt: skip
HANDOFF = frozenset({
    "approve", "approve-straight", "refuse", "snooze", "snooze-more", "let-compact", "document",
    "handoff", "handoff-to", "undo",
})  # fmt: skip
VIEW = frozenset({
    "inbox", "history", "worktrees", "elsewhere", "filter", "unfilter", "sort", "pane-more",
    "pane-less", "beside", "settings", "events", "redraw", "help", "quit",
})  # fmt: skip
GROUPS = (("Agent", None), ("Handoff", HANDOFF), ("Move", MOVE), ("View", VIEW))
"""The groups of actions in the help of the agents' screen, by title.

The first group has all actions that are in no other group.
"""

AROUND = 9
"""Lines of the help dialog that are not text: borders, title and keys."""
LOW = 20
"""Terminal height below which the help fills the screen."""

MOST = 6
"""Maximum lines of a sentence."""


class Sentences(Lines):
    """Sentences, each after the key or sign that the sentence explains. Long ones are wrapped."""

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
        room = self.app.size.height
        self.styles.height = min(len(lines), room - AROUND) if room >= LOW else "1fr"

    def on_click(self, event: events.Click) -> None:
        line = self.scroll_offset.y + event.y
        if line < len(self._places):
            self.post_message(self.Chosen(self._places[line]))


class Explanation(ModalScreen[None]):
    """A dialog that explains keys or fields."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority, so that keys typed after the closing key go to the screen below.
        Binding("q,escape,question_mark,f1,enter", "dismiss", "back", show=False, priority=True),
        Binding("j,down,pagedown,space", "scroll(1)", show=False),
        Binding("k,up,pageup", "scroll(-1)", show=False),
        Binding("g,home", "scroll_to_edge(False)", show=False),
        Binding("G,end", "scroll_to_edge(True)", show=False),
    ]

    def __init__(
        self,
        rows: Sequence[tuple[str, str]],
        below: Sequence[Sequence[Span]] = (),
        foot: str = "q back",
    ) -> None:
        super().__init__()
        self._foot = foot
        widest = max(len(what) for what, _ in rows)
        sentences = [
            [Span(f"  {fit(what, widest)}  ", "key"), Span(sentence)] for what, sentence in rows
        ]
        self.lines = Sentences([*sentences, *below])

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -keys"):
            yield Static("Keys", classes="dialog--title", markup=False)
            yield self.lines
            yield DialogKeys(self._foot)

    def action_scroll(self, direction: int) -> None:
        step = direction * max(1, self.lines.size.height - 2)
        self.lines.scroll_relative(y=step, animate=False, force=True)

    def action_scroll_to_edge(self, end: bool) -> None:
        scroll = self.lines.scroll_end if end else self.lines.scroll_home
        scroll(animate=False, force=True)


class HelpScreen(Explanation):
    """The help: every key of one context, with its action. Clicking a line runs the action.

    The help of the agents' screen explains the context bar too.
    """

    def __init__(self, context: Context, keys: Mapping[str, str]) -> None:
        rows = [(row[1], row[2], row[3]) for row in table(keys) if row[0] == context]
        rows.append(("Ctrl-P", "help", f"{PALETTE} Or click the top line."))
        grouped = _grouped(rows) if context == "fleet" else [("", rows)]
        widest = max(len(pressed) for pressed, _, _ in rows)
        sentences: list[list[Span]] = []
        self._actions: list[str] = []
        for title, members in grouped:
            if title:
                sentences += [[], [Span(f" {title}", "title-here")]]
                self._actions += ["", ""]
            for pressed, action, sentence in members:
                sentences.append([Span(f"  {fit(pressed, widest)}  ", "key"), Span(sentence)])
                self._actions.append(action if pressed != "Ctrl-P" else "")
        if context == "fleet":
            sentences += [[], [Span(" On the bar", "title-here")], *map(list, LEGEND)]
        back = shown_key(BY_ID["pane.back"], keys)
        super().__init__([("", "")], foot=f"{back} returns from a pane    q back")
        self.lines = Sentences(sentences[1:] if not sentences[0] else sentences)
        self._actions = self._actions[1:] if not sentences[0] else self._actions

    @on(Sentences.Chosen)
    def _chosen(self, message: Sentences.Chosen) -> None:
        """Run the clicked action on the screen below."""
        action = next(iter(self._actions[message.place : message.place + 1]), "")
        if action:
            act = getattr(self.app.screen_stack[-2], "action_act")  # noqa: B009 (several have it)
            self.dismiss()
            self.app.call_later(act, action)


def _grouped(
    rows: Sequence[tuple[str, str, str]],
) -> list[tuple[str, list[tuple[str, str, str]]]]:
    others = HANDOFF | MOVE | VIEW
    return [
        (title, [row for row in rows if (row[1] not in others if ids is None else row[1] in ids)])
        for title, ids in GROUPS
    ]

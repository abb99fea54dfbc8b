"""One line of spans: the summary at the top, the rule, the reason, the keys at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from textual import events
from textual.message import Message

from cockpit.tui.present.keys import KeyHint
from cockpit.tui.present.span import Span, broken, fit
from cockpit.tui.widgets.lines import Lines, Spans


class OneLine(Lines):
    """What a function says for a width, drawn again only when it says something else."""

    DEFAULT_CSS = """
    OneLine { height: 1; overflow-y: hidden; }
    """

    def __init__(self, say: Callable[[int], Spans], *, id: str | None = None) -> None:  # noqa: A002 (Textual's word)
        super().__init__(id=id)
        self._say = say

    def show(self) -> None:
        """Ask what is to be said now."""
        if self.size.width:
            self.set_lines([self._say(self.size.width)])

    def resized(self) -> None:
        self.show()


class Divider(OneLine):
    """A line between two parts of the screen, which the mouse can move."""

    class Dragged(Message):
        """It is drawn to this line of the screen, and the part that it heads to this column.

        `done` when it is let go there.
        """

        def __init__(self, line: int, column: int, *, done: bool) -> None:
            super().__init__()
            self.line = line
            self.column = column
            self.done = done

    def __init__(self, say: Callable[[int], Spans], *, id: str | None = None) -> None:  # noqa: A002 (Textual's word)
        super().__init__(say, id=id)
        self._held = False
        self._at = 0
        """The cell of it that is held."""

    def _forward_event(self, event: events.Event) -> None:
        """Take hold before the next event is sent on its way: over a slow line a press, the way
        and the end come together, and where the last two go is decided before the first is heard.
        """
        if isinstance(event, events.MouseDown):
            self._held, self._at = True, event.x
            self.capture_mouse()
        super()._forward_event(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held:
            self._tell(event, done=False)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._held:
            self._held = False
            self.release_mouse()
            self._tell(event, done=True)

    def _tell(self, event: events.MouseEvent, *, done: bool) -> None:
        column = event.screen_x - self._at
        self.post_message(self.Dragged(event.screen_y, column, done=done))


class Wrapped(Lines):
    """A sentence over as many lines as it needs, up to `most`; of no height when it is empty."""

    DEFAULT_CSS = """
    Wrapped { height: 0; overflow-y: hidden; }
    """

    def __init__(self, *, most: int = 3, id: str | None = None) -> None:  # noqa: A002 (Textual's word)
        super().__init__(id=id)
        self._most = most
        self._spans: Sequence[Span] = ()

    @property
    def lines(self) -> int:
        """How many it takes now."""
        return len(self._lines)

    def say(self, spans: Sequence[Span]) -> None:
        if list(spans) != list(self._spans):
            self._spans = spans
            self._wrap()

    def resized(self) -> None:
        self._wrap()

    def _wrap(self) -> None:
        width = self.size.width or self.app.size.width
        lines = wrapped(self._spans, width, self._most)
        if self.styles.height is None or self.styles.height.value != len(lines):
            self.styles.height = len(lines)
        self.set_lines(lines)


def wrapped(spans: Sequence[Span], width: int, most: int) -> list[list[Span]]:
    """Spans over lines, broken between words, and inside of one that is longer than a line; the
    last line is cut where there are too many."""
    if not spans or width <= 0:
        return []
    indent = cell_len(spans[0].text) if len(spans) > 1 else 1
    if indent > width // 2:
        indent = 1
    room = max(1, width - indent - 1)
    lines: list[list[Span]] = [[spans[0]]]
    used = cell_len(spans[0].text)
    for span in spans[1:]:
        words = (part for word in span.text.split() for part in broken(word, room))
        for word in words:
            long = cell_len(word)
            if used + long + 1 > width:
                if len(lines) == most:
                    lines[-1].append(Span(fit(f"{word} …", max(0, width - used)), span.role))
                    return lines
                lines.append([Span(" " * indent)])
                used = indent
            lines[-1].append(Span(f"{word} ", span.role))
            used += long + 1
    return lines


class KeyLine(OneLine):
    """The keys that can be pressed now; clicking one does the same."""

    class Chosen(Message):
        """The words of an action were clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(
        self,
        say: Callable[[int], tuple[Spans, list[KeyHint]]],
        *,
        id: str = "keys",  # noqa: A002 (Textual's word)
    ) -> None:
        super().__init__(self._say_and_note, id=id)
        self._say_keys = say
        self._hints: list[KeyHint] = []

    def _say_and_note(self, width: int) -> Spans:
        spans, self._hints = self._say_keys(width)
        return spans

    def on_click(self, event: events.Click) -> None:
        for hint in self._hints:
            if hint.start <= event.x < hint.end:
                self.post_message(self.Chosen(hint.action))

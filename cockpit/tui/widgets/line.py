"""Widgets of one or a few lines, such as the summary, a divider, a reason and the key line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from textual import events
from textual.message import Message

from cockpit.tui.present.keys import KeyHint
from cockpit.tui.present.span import Span, broken, fit
from cockpit.tui.widgets.lines import Lines, Spans


class OneLine(Lines, can_focus=False):
    """A line rendered by a function of its width; redrawn only if the line changed."""

    DEFAULT_CSS = """
    OneLine { height: 1; overflow-y: hidden; }
    """

    def __init__(self, set_spans: Callable[[int], Spans], *, id: str | None = None) -> None:  # noqa: A002 (Textual's word)
        super().__init__(id=id)
        self._say = set_spans

    def show(self) -> None:
        """Render the line again."""
        if self.size.width:
            self.set_lines([self._say(self.size.width)])

    def resized(self) -> None:
        self.show()


class Divider(OneLine):
    """A line between two parts of the screen; the mouse can drag the line."""

    class Dragged(Message):
        """The divider was dragged to this line and column of the screen.

        `done` is True once the mouse button is released.
        """

        def __init__(self, line: int, column: int, *, done: bool) -> None:
            super().__init__()
            self.line = line
            self.column = column
            self.done = done

    def __init__(self, set_spans: Callable[[int], Spans], *, id: str | None = None) -> None:  # noqa: A002 (Textual's word)
        super().__init__(set_spans, id=id)
        self._held = False
        self._at = 0
        """The column of the divider at which the drag started."""

    def _forward_event(self, event: events.Event) -> None:
        """Capture the mouse before the next event is routed.

        Over a slow connection, press, move and release arrive together. Without the capture, move
        and release would be routed before the press is handled.
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
    """Wrapped text of up to `most` lines. Without text, the widget has no height."""

    DEFAULT_CSS = """
    Wrapped { height: 0; overflow-y: hidden; }
    """

    def __init__(self, *, most: int = 3, id: str | None = None) -> None:  # noqa: A002 (Textual's word)
        super().__init__(id=id)
        self._most = most
        self._spans: Sequence[Span] = ()

    @property
    def lines(self) -> int:
        """The number of lines that are shown."""
        return len(self._lines)

    def set_spans(self, spans: Sequence[Span]) -> None:
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
    """Wrap spans between words, or inside words longer than a line, into at most `most` lines.

    The first span is never broken. Later lines are indented by its width, if that leaves room. Text
    that does not fit is cut, with `…` at the end. Empty without spans.
    """
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
    """The available keys; a click on a key runs its action."""

    class Chosen(Message):
        """The user clicked the key of an action."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(
        self,
        set_spans: Callable[[int], tuple[Spans, list[KeyHint]]],
        *,
        id: str = "keys",  # noqa: A002 (Textual's word)
    ) -> None:
        super().__init__(self._say_and_note, id=id)
        self._say_keys = set_spans
        self._hints: list[KeyHint] = []

    def _say_and_note(self, width: int) -> Spans:
        spans, self._hints = self._say_keys(width)
        return spans

    def on_click(self, event: events.Click) -> None:
        for hint in self._hints:
            if hint.start <= event.x < hint.end:
                self.post_message(self.Chosen(hint.action))

"""What happened last, newest at the bottom: a line each, time, agent, sentence."""

from __future__ import annotations

from collections.abc import Iterable

from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.span import Span, fit
from cockpit.tui.widgets.lines import Lines
from cockpit.wire.stream import Event

SHOWN = 200


class Feed(Lines, can_focus=False):
    """The last events. It follows the end unless it was scrolled away from it."""

    DEFAULT_CSS = """
    Feed { height: 8; display: none; }
    Feed.-open { display: block; }
    """

    def __init__(self) -> None:
        super().__init__(id="feed")

    def show(self, events: Iterable[Event]) -> None:
        at_end = self.is_vertical_scroll_end
        lines = [_line(event) for event in list(events)[-SHOWN:]]
        self.set_lines(lines or [[Span("  Nothing has happened yet.", "muted")]])
        if at_end:
            self.scroll_end(animate=False, force=True, x_axis=False)


def _line(event: Event) -> list[Span]:
    who = safe_line(event.agent or "", 32)
    return [
        Span(f"  {words.clock(event.at)}  ", "muted"),
        Span(f"{fit(who, 12)}  ", "name"),
        Span(safe_line(event.text, 400)),
    ]

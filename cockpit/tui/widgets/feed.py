"""The list of recent events, newest at the bottom."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len
from textual.strip import Strip

from cockpit.core.far_names import LONGEST_NAME, host_and_name
from cockpit.core.safetext import safe_line
from cockpit.tui.present import words
from cockpit.tui.present.paths import short_paths
from cockpit.tui.present.span import Span, cut, fit
from cockpit.tui.widgets.lines import Lines, Spans
from cockpit.wire.stream import Event

SHOWN = 200
"""Maximum number of events shown."""
WIDEST = 24
"""Maximum cells of the name column."""


class Feed(Lines, can_focus=False):
    """Shows the last `SHOWN` events. Stays at the end unless the user scrolls up."""

    DEFAULT_CSS = """
    Feed { height: 8; display: none; }
    Feed.-open { display: block; }
    """

    def __init__(self, home: str, *, of_one: bool = False) -> None:
        """`home`: the home directory, which is shown as `~`. `of_one`: all events are of one agent,
        so the agent's name is left out."""
        super().__init__(id="feed")
        self._home = home
        self.border_title = "events"
        self._of_one = of_one

    def show(self, events: Iterable[Event]) -> None:
        at_end = self.is_vertical_scroll_end
        shown = list(events)[-SHOWN:]
        widest = 0 if self._of_one else max((cell_len(_who(event)) for event in shown), default=0)
        lines = [_line(event, min(widest, WIDEST), self._home) for event in shown]
        self.set_lines(lines or [[Span("  No events yet.", "muted")]])
        if at_end:
            self.scroll_end(animate=False, force=True, x_axis=False)

    def _strip_of(self, spans: Spans, line: int) -> Strip:
        return super()._strip_of(cut(spans, self.size.width), line)


def _who(event: Event) -> str:
    return safe_line(event.agent or "", LONGEST_NAME)


def _line(event: Event, widest: int, home: str) -> list[Span]:
    when = Span(f"  {words.clock(event.at)}  ", "muted")
    name = [Span(f"{fit(_who(event), widest)}  ", "name")] if widest else []
    return [when, *name, Span(safe_line(short_paths(_event_text(event), home), 400))]


def _event_text(event: Event) -> str:
    """Return the event's text without the agent's host and name at the beginning."""
    if event.agent is None:
        return event.text
    host, name = host_and_name(event.agent)
    text = event.text.removeprefix(f"{host}: ")
    return text.removeprefix(f"{name}: ").removeprefix(f"{name} ")

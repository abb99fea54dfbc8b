"""Run the actions of the screen of one agent.

The agents' screen runs the actions that both screens have, such as attach, approve and send.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from cockpit.core.safetext import safe_line
from cockpit.tui.keys.action import Handlers
from cockpit.tui.present import agent as head
from cockpit.tui.present.history import Entry
from cockpit.tui.screens.copying import Copying
from cockpit.tui.screens.requests import show_reason
from cockpit.tui.screens.review.reading import ReadingScreen
from cockpit.tui.widgets.lines import Lines
from cockpit.tui.widgets.pane_view import PaneView

if TYPE_CHECKING:
    from cockpit.tui.screens.agent.screen import AgentScreen


class Commands:
    """Runs the actions of an agent's screen."""

    def __init__(self, screen: AgentScreen, do: Callable[[str], None]) -> None:
        """`do` runs an action for the shown agent, or shows why the action cannot run."""
        self._screen = screen
        self._do = do
        self._copying = Copying(screen, screen.ui, lambda: screen.agent, self.current_file)

    def handlers(self) -> Handlers:
        return {
            "agent.enter": self._enter,
            "agent.answer": self._answer,
            "agent.pane": self._pane,
            "agent.course": self._course,
            "agent.facts": self._facts,
            "agent.diff": self._diff,
            "agent.events": self._events,
            "agent.next": self._next,
            "agent.previous": self._previous,
            "agent.again": self._again,
            "agent.since": self._since,
            "agent.next-file": partial(self._go_to_file, 1),
            "agent.previous-file": partial(self._go_to_file, -1),
            "agent.edit": self._edit,
            **self._copying.handlers("agent."),
            "agent.document": self._document,
            "agent.handoff": self._handoff,
            "agent.handoff-to": self._handoff_to,
            "agent.send": self._send,
            "agent.undo": self._undo,
            "agent.down": self._down,
            "agent.up": self._up,
            "agent.page-down": self._page_down,
            "agent.page-up": self._page_up,
            "agent.first": self._first,
            "agent.last": self._last,
            "agent.redraw": self._redraw,
        }

    def _pane(self) -> None:
        self._screen.open("pane")

    def _course(self) -> None:
        self._screen.open("course")

    def _facts(self) -> None:
        self._screen.open("facts")

    def _diff(self) -> None:
        self._screen.open("diff")

    def _events(self) -> None:
        self._screen.open("events")

    def _next(self) -> None:
        self._screen.open(head.after(self._screen.section, 1))

    def _previous(self) -> None:
        self._screen.open(head.after(self._screen.section, -1))

    def _enter(self) -> None:
        if self._screen.section == "course":
            self.read_document()
        else:
            self._do("attach")

    def _answer(self) -> None:
        self._do("approve")

    def _document(self) -> None:
        self._do("document")

    def _handoff(self) -> None:
        self._do("handoff")

    def _handoff_to(self) -> None:
        self._do("handoff-to")

    def _send(self) -> None:
        self._do("send")

    def _undo(self) -> None:
        self._do("undo")

    def _redraw(self) -> None:
        self._do("redraw")

    def _again(self) -> None:
        """Reload the shown section."""
        self._screen.lookups.outdated.update(self._screen.shown)
        self._screen.read()

    def _since(self) -> None:
        self._screen.lookups.turn()
        self._screen.open("diff")

    def current_file(self) -> str | None:
        return self._screen.files.current if self._screen.section == "diff" else None

    def _go_to_file(self, step: int) -> None:
        if self._screen.section != "diff":
            self._screen.open("diff")
        else:
            self._screen.files.move(step)

    def _edit(self) -> None:
        if self._screen.section != "diff":
            self._screen.open("diff")
        else:
            self._screen.files.edit()

    def _down(self) -> None:
        self._move(1)

    def _up(self) -> None:
        self._move(-1)

    def _page_down(self) -> None:
        self._page(1)

    def _page_up(self) -> None:
        self._page(-1)

    def _first(self) -> None:
        self._move(-1_000_000)

    def _last(self) -> None:
        self._move(1_000_000)

    def _move(self, lines: int) -> None:
        if self._screen.section == "course":
            self._screen.chain.move(lines)
        else:
            self._scrolled().scroll_relative(y=lines, animate=False, force=True)

    def _page(self, direction: int) -> None:
        widget = self._scrolled()
        if isinstance(widget, PaneView) and direction < 0 and not widget.scroll_offset.y:
            self._screen.look_further_up()
        step = direction * max(1, widget.size.height - 2)
        widget.scroll_relative(y=step, animate=False, force=True)

    def _scrolled(self) -> Lines | PaneView:
        sections = {
            "facts": self._screen.facts,
            "diff": self._screen.diff,
            "events": self._screen.feed,
        }
        return sections.get(self._screen.section, self._screen.pane)

    def read_document(self) -> None:
        link = self._screen.shown_links.get(self._screen.chain.selected or "")
        document = self._screen.lookups.document_of(link) if link else None
        if document is None:
            show_reason(
                self._screen,
                f"Session {link.number} has no document." if link else "No session yet.",
            )
            return
        screen = self._screen
        reading = ReadingScreen(screen.model, screen.client, screen.ui, document, self._go_on)
        screen.app.push_screen(reading)

    def _go_on(self, entry: Entry) -> None:
        if entry.document is None:
            show_reason(self._screen, "There is no document to continue from.")
            return
        part = self._screen.model.part_of(entry.agent)
        on_host = f" --host {safe_line(part.host, 32)}" if part.is_remote else ""
        command = f"cockpit continue {shlex.quote(entry.document)}{on_host}"
        show_reason(self._screen, f"Continue from the history, or run: {command}")

"""The history of handoffs: search, read, compare and continue from a document."""

from __future__ import annotations

from asyncio import TimerHandle
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widgets import Input

from cockpit.client.client import Client
from cockpit.client.joined_client import JoinedClient
from cockpit.core.errors import CockpitError
from cockpit.core.far_names import far_name, host_and_name
from cockpit.core.search import words
from cockpit.tui.keys.action import Context, Handlers
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.keys.bindings import bindings
from cockpit.tui.keys.reasons import has_ended
from cockpit.tui.present import history
from cockpit.tui.present.history import Entry
from cockpit.tui.present.keys import shown_key
from cockpit.tui.screens.base_screen import BaseScreen
from cockpit.tui.screens.frames import show_frames
from cockpit.tui.screens.history.comparing import ComparingScreen
from cockpit.tui.screens.history.continue_form import ContinueScreen
from cockpit.tui.screens.history.loaded import PAGE, LoadedHistory
from cockpit.tui.screens.requests import Requests, show_error, show_reason
from cockpit.tui.screens.review.reading import ReadingScreen
from cockpit.tui.state.background import in_background
from cockpit.tui.state.delay import call_after
from cockpit.tui.state.model import Change, Model
from cockpit.tui.terminal.paste_guard import key_in_hand
from cockpit.tui.widgets.field import Field
from cockpit.tui.widgets.line import OneLine
from cockpit.tui.widgets.picker import Picker
from cockpit.tui.widgets.text_view import TextView
from cockpit.wire.verbs import Continue

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext

MINUTE = 15.0
"""Seconds between two updates of the ages, which are shown in minutes."""
TYPED = 0.2
"""Seconds between the last typed letter and the start of the search."""
NEAR_END = 20
"""Number of lines before the end of the list at which older handoffs are requested."""
EVERYTHING = 2**31
EMPTY = "No handoffs yet. They are listed here with their documents."
NOT_FOUND = "No document contains all of these words."


def _now() -> datetime:
    return datetime.now(UTC)


class HistoryScreen(BaseScreen):
    """One line per handoff, newest first, with details of the selected handoff below.

    A session's consecutive cancelled handoffs without a document share a line.
    """

    CONTEXT: ClassVar[Context] = "history"
    BINDINGS: ClassVar[list[BindingType]] = bindings("history")
    AUTO_FOCUS = "#history"

    def __init__(
        self,
        model: Model,
        client: Client,
        ui: UIContext,
        *,
        now: Callable[[], datetime] = _now,
    ) -> None:
        super().__init__(model, client, ui)
        self._now = now
        self.of_agent: str | None = None
        """The agent whose handoffs are shown; None for all agents."""
        self._history = LoadedHistory(client)
        self._to_last = False
        self._has_loaded = False
        self._widest: dict[int, int] = {}
        self._entries: dict[str, Entry] = {}
        self._marked: list[str] = []
        self._searched = ""
        self._requested = False
        self._opens = False
        """Whether the selected match is opened once the search has ended."""
        self._soon: TimerHandle | None = None
        self._requests = Requests(self, client)
        self.list = Picker(self._say, empty="loading…", id="history")
        self.search = Field(placeholder="search the documents", id="search")
        self.search.display = False
        self.search.border_title = "search"
        self._list_frame = Vertical(id="history-frame")
        self._detail_frame = Vertical(id="history-detail-frame")
        self._heading = OneLine(self._head, id="history-title")
        self.detail = TextView(
            lambda width, height: history.detail(self.entry, width, height, ui.home),
            id="history-detail",
        )

    @property
    def entry(self) -> Entry | None:
        """The selected handoff."""
        return self._entries.get(self.list.selected or "")

    def compose(self) -> ComposeResult:
        yield self._heading
        with self._list_frame:
            yield self.list
        yield self.search
        with self._detail_frame:
            yield self.detail
        yield from self.footer()

    def on_mount(self) -> None:
        self._stop_listening = self.model.listen(self._heard)
        self.set_interval(MINUTE, self._draw)
        self.watch(self.list, "scroll_y", self._scrolled, init=False)
        self._ask()

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_resize(self) -> None:
        show_frames(self)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable actions while the search field has the focus."""
        return self.focused is not self.search or action != "act"

    @on(Picker.Picked)
    def _picked(self) -> None:
        self.action_act("history.open")

    @on(Picker.Moved)
    def _moved(self) -> None:
        self._show_detail()
        self._load_near_end()

    def _show_detail(self) -> None:
        """Show the selected handoff, and update the titles of the frames."""
        of = "matches" if self._searched else "handoffs"
        self._list_frame.border_title = f"{of}, newest first"
        title = history.title(self.entry) if self.entry else "no handoff"
        self._detail_frame.border_title = Content(title)
        self.detail.show()

    @on(Input.Changed, "#search")
    def _typed(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
        self._soon = call_after(self, TYPED, self._ask)

    def on_key(self, event: Key) -> None:
        """Leave the search field with Esc, Down or Up; Esc also clears the search."""
        if self.focused is self.search and event.key in {"escape", "down", "up"}:
            event.stop()
            if event.key == "escape":
                self.search.value = ""
            self._search_done()

    @on(Input.Submitted, "#search")
    def _submitted(self) -> None:
        """Open the selected match, once the matches of the typed words are listed."""
        if self.focused is self.search:
            self._opens = bool(self.search.value.strip())
            self._search_done()

    def _search_done(self) -> None:
        """Leave the search field, and run the search."""
        self.set_focus(self.list)
        self.search.display = bool(self.search.value.strip())
        self._ask()

    # Actions

    def handlers(self) -> Handlers:
        return {
            "history.open": self._open,
            "history.search": self._search,
            "history.continue": self._continue,
            "history.mark": self._mark,
            "history.compare": self._compare,
            "history.agent": self._agent,
            "history.down": self._down,
            "history.up": self._up,
            "history.page-down": self._page_down,
            "history.page-up": self._page_up,
            "history.first": self._first,
            "history.last": self._last,
            "history.help": self._help,
            "history.back": self._back,
        }

    def _open(self) -> None:
        entry = self._chosen_entry()
        if entry is None:
            return
        if not entry.can_open:
            show_reason(self, f"This handoff left no document: {entry.why or entry.outcome}.")
            return
        screen = ReadingScreen(self.model, self.client, self.ui, entry, self._go_on)
        self.app.push_screen(screen)

    def _mark(self) -> None:
        entry = self._chosen_entry()
        if entry is None:
            return
        if entry.id in self._marked:
            self._marked.remove(entry.id)
        elif not entry.can_open:
            show_reason(self, "This handoff has no document to compare.")
        else:
            self._marked = [*self._marked[-1:], entry.id]
        self._draw()

    def _compare(self) -> None:
        """Compare the two marked documents, or the marked document with the selected document."""
        entry = self.entry
        here = [entry.id] if entry is not None and entry.can_open else []
        pair = list(dict.fromkeys([*self._marked, *here]))[:2]
        chosen = [self._entries[ident] for ident in pair if ident in self._entries]
        if len(chosen) != 2:
            key = shown_key(BY_ID["history.mark"], self.ui.keys)
            show_reason(self, f"Mark two documents with {key}, or mark one and select another.")
            return
        older, newer = sorted(chosen, key=lambda entry: entry.created)
        screen = ComparingScreen(self.model, self.client, self.ui, older, newer)
        self.app.push_screen(screen)

    def _continue(self) -> None:
        entry = self._chosen_entry()
        if entry is not None:
            self._go_on(entry)

    def _go_on(self, entry: Entry) -> None:
        """Ask for a name, and start an agent from the handoff's document."""
        place = entry.document
        if place is None:
            show_reason(self, "There is no document to continue from.")
            return

        def filled_in(order: Continue | None) -> None:
            if order:
                self._requests.send(order, self._continued)

        agents = self.model.agents
        living = [name for name, agent in agents.items() if not has_ended(agent)]
        first, directory = _free(entry.agent, agents), self.ui.directory
        form = ContinueScreen(place, entry.agent, first, living, directory, self.model.host)
        form.opened_in = key_in_hand(self)
        self.app.push_screen(form, filled_in)

    def _continued(self, _done: object) -> None:
        self._ask()

    def _search(self) -> None:
        self.search.display = True
        self.set_focus(self.search)

    def _agent(self) -> None:
        """Show only the handoffs of the selected handoff's agent, or those of all agents again."""
        entry = self.entry
        if self.of_agent is None and entry is None:
            show_reason(self, "No handoff is selected.")
            return
        self.of_agent = entry.agent if self.of_agent is None and entry else None
        self._history.wanted = PAGE
        self._draw()
        self._ask()

    def _down(self) -> None:
        self._move(1)

    def _up(self) -> None:
        self._move(-1)

    def _first(self) -> None:
        self._move(-len(self.list.keys))

    def _last(self) -> None:
        """Select the oldest handoff, after loading all pages."""
        self._move(len(self.list.keys))
        if not self._history.is_complete:
            self._to_last = True
            self._load(EVERYTHING)

    def _page_down(self) -> None:
        self._move(self.list.page())

    def _page_up(self) -> None:
        self._move(-self.list.page())

    def _move(self, steps: int) -> None:
        self._to_last = False
        self.list.move(steps)

    def _back(self) -> None:
        """Clear the search if there is one; otherwise leave the screen."""
        if self._searched:
            self.search.value = ""
            self.search.display = False
            self._ask()
        else:
            self.dismiss()

    @property
    def has_items(self) -> bool:
        return bool(
            self._entries or self._searched or self.of_agent is not None or not self._has_loaded
        )

    def _chosen_entry(self) -> Entry | None:
        if self.entry is None:
            show_reason(self, "No handoff is selected.")
        return self.entry

    # Loading and drawing

    def _heard(self, change: Change, name: str | None) -> None:
        agent = self.model.agents.get(name or "")
        if change is Change.CONNECTION:
            self.set_class(not self.model.any_live, "-lost")
            self._keys.show()
        if change is Change.EVENT and self.model.events:
            if self.model.events[-1].kind.startswith("handoff."):
                self._ask()
        elif change in {Change.FLEET, Change.CONNECTION} and agent is None:
            self._ask()

    def _ask(self) -> None:
        """Load the list again, with the current search."""
        searched = self.search.value.strip()
        fetch = partial(self._fetch, searched, self.of_agent)
        in_background(self, fetch, group="fetch", exclusive=True)

    async def _fetch(self, searched: str, agent: str | None) -> None:
        try:
            await self._history.load(searched, agent)
        except CockpitError as error:
            if self.model.any_live or not self._requested:
                show_error(self, error)
            if not self._has_loaded:
                self.list.show([], empty=self.model.main.unreachable)
            return
        finally:
            self._requested = True
        self._has_loaded = True
        self._searched = searched
        self._draw()
        self._loaded()
        if self._opens:
            self._opens = False
            if self.is_active and self.entry is not None:
                self._open()

    def _load_near_end(self) -> None:
        """Load older handoffs if the selection is near the end, or if the list has free lines."""
        keys = self.list.keys
        if len(keys) < self.list.size.height or self.list.selected in keys[-NEAR_END:]:
            self._load(self._history.handoffs + PAGE)

    def _scrolled(self) -> None:
        """Load older handoffs if the end of the list is visible or near."""
        if self.list.scroll_offset.y + self.list.size.height + NEAR_END > len(self.list.keys):
            self._load(self._history.handoffs + PAGE)

    def _load(self, wanted: int) -> None:
        if self._history.is_complete or self._history.agent != self.of_agent:
            return
        self._history.wanted = max(self._history.wanted, wanted)
        in_background(self, self._follow, group="older", exclusive=True)

    async def _follow(self) -> None:
        try:
            added = await self._history.load_older()
        except CockpitError as error:
            show_error(self, error)
            return
        if added is None:
            return
        self._draw()
        if added:
            self._loaded()

    def _loaded(self) -> None:
        if self._to_last:
            self.list.move(len(self.list.keys))
            self._to_last = not self._history.is_complete
        self._load_near_end()

    def _draw(self) -> None:
        entries = history.folded(history.entries(self._history.chains, self.of_agent))
        self._entries = {entry.id: entry for entry in entries}
        self._widest.clear()
        self._marked = [ident for ident in self._marked if ident in self._entries]
        if self._has_loaded:
            self.list.show(list(self._entries), empty=NOT_FOUND if self._searched else EMPTY)
        self._heading.show()
        self._show_detail()
        self._keys.show()

    def _say(self, key: str, width: int) -> list[Any]:
        widest = self._widest.get(width)
        if widest is None:
            widest = self._widest[width] = history.widest_name(self._entries.values(), width)
        marked = key in self._marked
        terms = words(self._searched)
        return history.line(
            self._entries[key], width, self._now(), widest, marked=marked, terms=terms
        )

    def _head(self, width: int) -> list[Any]:
        loaded = self._history
        is_of_agent = loaded.agent == self.of_agent
        is_complete = loaded.is_complete and (is_of_agent or loaded.agent is None)
        known = self._has_loaded and (is_of_agent or is_complete)
        return history.heading(
            list(self._entries.values()) if known else None,
            width,
            agent=self.of_agent,
            searched=self._searched,
            marked=len(self._marked),
            without=self._without(),
            total=None if is_complete else loaded.total,
        )

    def _without(self) -> dict[str, str]:
        """Return the reason for each host that is missing from the list."""
        failed = self.client.without if isinstance(self.client, JoinedClient) else {}
        failures = {host: _why(error) for host, error in failed.items()}
        return failures | {part.host: part.connection.why for part in self.model.lost}


def _why(error: CockpitError) -> str:
    return ": ".join(filter(None, [error.title, *error.detail.splitlines()[:1]]))


def _free(name: str, taken: Any) -> str:
    """Return the agent's name, with a number appended if the name is taken."""
    host, own = host_and_name(name)
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{own[:28]}-{number}"
        free = far_name(host, free) if host else free
    return free

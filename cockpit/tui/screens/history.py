"""Every handoff there was: to be searched, read, compared and gone on from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Key
from textual.timer import Timer
from textual.widgets import Input

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.core.far_names import far_name, host_and_name
from cockpit.tui.actions import Context
from cockpit.tui.background import in_background
from cockpit.tui.bindings import bindings
from cockpit.tui.bursts import key_in_hand
from cockpit.tui.model import Change, Model
from cockpit.tui.present import history
from cockpit.tui.present.history import Entry
from cockpit.tui.reasons import has_ended
from cockpit.tui.screens.comparing import ComparingScreen
from cockpit.tui.screens.continuing import ContinueScreen
from cockpit.tui.screens.errands import Errands, cannot, tell
from cockpit.tui.screens.place import Place
from cockpit.tui.screens.reading import ReadingScreen
from cockpit.tui.widgets.field import Field
from cockpit.tui.widgets.line import OneLine
from cockpit.tui.widgets.passage import Passage
from cockpit.tui.widgets.picker import Picker
from cockpit.wire.verbs import Continue

if TYPE_CHECKING:
    from cockpit.tui.surroundings import Surroundings

MINUTE = 15.0
"""Seconds between two looks at the ages, which are drawn by the minute."""
TYPED = 0.2
"""Seconds without a letter after which what was typed is searched for."""
EMPTY = "No handoff yet. Each one that is made is kept here, with its document."
LOST = "No supervisor answers: cockpit up"
NOT_FOUND = "No document holds all these words."


def _now() -> datetime:
    return datetime.now(UTC)


class HistoryScreen(Place):
    """A line a handoff, newest first; what the selected one came to below."""

    CONTEXT: ClassVar[Context] = "history"
    BINDINGS: ClassVar[list[BindingType]] = bindings("history")
    AUTO_FOCUS = "#history"

    def __init__(
        self,
        model: Model,
        client: Client,
        around: Surroundings,
        *,
        now: Callable[[], datetime] = _now,
    ) -> None:
        super().__init__(model, client, around)
        self._now = now
        self.of_agent: str | None = None
        """The one whose handoffs alone are shown."""
        self._chains: list[dict[str, Any]] = []
        self._had = False
        self._entries: dict[str, Entry] = {}
        self._marked: list[str] = []
        self._searched = ""
        self._asked = False
        self._soon: Timer | None = None
        self._errands = Errands(self, client)
        self.list = Picker(self._say, empty="asking the supervisor…", id="history")
        self.search = Field(placeholder="words that its document holds", id="search")
        self.search.display = False
        self._heading = OneLine(self._head, id="history-title")
        self.detail = Passage(
            lambda width, height: history.detail(self.entry, width, height, around.home),
            id="history-detail",
        )

    @property
    def entry(self) -> Entry | None:
        """The one that is selected."""
        return self._entries.get(self.list.selected or "")

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self.list
        yield self.search
        yield self.detail
        yield from self.foot()

    def on_mount(self) -> None:
        self._stop_listening = self.model.listen(self._heard)
        self.set_interval(MINUTE, self._draw)
        self._ask()

    def on_unmount(self) -> None:
        self._stop_listening()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While words are typed, their field has all keys."""
        return self.focused is not self.search or action != "act"

    @on(Picker.Picked)
    def _picked(self) -> None:
        self.action_act("history.open")

    @on(Picker.Moved)
    def _moved(self) -> None:
        self.detail.show()

    @on(Input.Changed, "#search")
    def _typed(self) -> None:
        if self._soon is not None:
            self._soon.stop()
        self._soon = self.set_timer(TYPED, self._ask)

    def on_key(self, event: Key) -> None:
        """Out of the words with Esc, without them."""
        if self.focused is self.search and event.key in {"escape", "down", "up"}:
            event.stop()
            if event.key == "escape":
                self.search.value = ""
            self._search_done()

    @on(Input.Submitted, "#search")
    def _search_done(self) -> None:
        """A second Enter that came at once was meant for the list."""
        if self.focused is not self.search:
            self.action_act("history.open")
            return
        self.set_focus(self.list)
        self.search.display = bool(self.search.value.strip())
        self._ask()

    # Actions

    def _open(self) -> None:
        entry = self._chosen_entry()
        if entry is None:
            return
        if not entry.can_open:
            cannot(self, f"This handoff left no document: {entry.why or entry.outcome}.")
            return
        screen = ReadingScreen(self.model, self.client, self.around, entry, self._go_on)
        self.app.push_screen(screen)

    def _mark(self) -> None:
        entry = self._chosen_entry()
        if entry is None:
            return
        if entry.id in self._marked:
            self._marked.remove(entry.id)
        elif not entry.can_open:
            cannot(self, "This handoff left no document to compare.")
        else:
            self._marked = [*self._marked[-1:], entry.id]
        self._draw()

    def _compare(self) -> None:
        """The two that are marked; with one, it and the selected one."""
        entry = self.entry
        here = [entry.id] if entry is not None and entry.can_open else []
        pair = list(dict.fromkeys([*self._marked, *here]))[:2]
        chosen = [self._entries[ident] for ident in pair if ident in self._entries]
        if len(chosen) != 2:
            cannot(self, "Mark two documents with Space, or one and select another.")
            return
        older, newer = sorted(chosen, key=lambda each: each.created)
        screen = ComparingScreen(self.model, self.client, self.around, older, newer)
        self.app.push_screen(screen)

    def _continue(self) -> None:
        entry = self._chosen_entry()
        if entry is not None:
            self._go_on(entry)

    def _go_on(self, entry: Entry) -> None:
        """Start an agent from a document, once the pilot has given it a name."""
        place = entry.document
        if place is None:
            cannot(self, "There is no document to go on from.")
            return

        def filled_in(order: Continue | None) -> None:
            if order:
                self._errands.send(order, self._continued)

        agents = self.model.agents
        living = [name for name, agent in agents.items() if not has_ended(agent)]
        first, directory = _free(entry.agent, agents), self.around.directory
        form = ContinueScreen(place, entry.agent, first, living, directory)
        form.opened_in = key_in_hand(self)
        self.app.push_screen(form, filled_in)

    def _continued(self, _done: object) -> None:
        self._ask()

    def _search(self) -> None:
        self.search.display = True
        self.set_focus(self.search)

    def _agent(self) -> None:
        """Show the selected one's agent alone, or everybody again."""
        entry = self.entry
        if self.of_agent is None and entry is None:
            cannot(self, "No handoff is selected.")
            return
        self.of_agent = entry.agent if self.of_agent is None and entry else None
        self._draw()

    def _down(self) -> None:
        self.list.move(1)

    def _up(self) -> None:
        self.list.move(-1)

    def _first(self) -> None:
        self.list.move(-10_000)

    def _last(self) -> None:
        self.list.move(10_000)

    def _page_down(self) -> None:
        self.list.move(self.list.page())

    def _page_up(self) -> None:
        self.list.move(-self.list.page())

    def _back(self) -> None:
        """Out of the search first, then out of the screen."""
        if self._searched:
            self.search.value = ""
            self.search.display = False
            self._ask()
        else:
            self.dismiss()

    def _chosen_entry(self) -> Entry | None:
        if self.entry is None:
            cannot(self, "There is no handoff here.")
        return self.entry

    # What is shown

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
        """Have the list, and what is searched for in it, anew."""
        words = self.search.value.strip()
        in_background(self, partial(self._fetch, words), group="fetch", alone=True)

    async def _fetch(self, searched: str) -> None:
        try:
            self._chains = await self.client.history(search=searched or None)
        except CockpitError as error:
            if self.model.any_live or not self._asked:
                tell(self, error)
            if not self._had:
                self.list.show([], empty=LOST)
            return
        finally:
            self._asked = True
        self._had = True
        self._searched = searched
        self._draw()

    def _draw(self) -> None:
        found = history.folded(history.entries(self._chains, self.of_agent))
        self._entries = {entry.id: entry for entry in found}
        self._marked = [ident for ident in self._marked if ident in self._entries]
        if self._had:
            self.list.show(list(self._entries), empty=NOT_FOUND if self._searched else EMPTY)
        self._heading.show()
        self.detail.show()
        self._keys.show()

    def _say(self, key: str, width: int) -> list[Any]:
        widest = history.widest_name(self._entries.values(), width)
        marked = key in self._marked
        return history.line(self._entries[key], width, self._now(), widest, marked=marked)

    def _head(self, width: int) -> list[Any]:
        return history.heading(
            list(self._entries.values()) if self._had else None,
            width,
            agent=self.of_agent,
            searched=self._searched,
            marked=len(self._marked),
            without=[part.host for part in self.model.lost],
        )


def _free(name: str, taken: Any) -> str:
    """The agent's name, with a number if it is taken."""
    host, own = host_and_name(name)
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{own[:28]}-{number}"
        free = far_name(host, free) if host else free
    return free

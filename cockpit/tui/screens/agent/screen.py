"""The screen of one agent: live pane, context over time, chain, facts, diff and events.

The agents' screen runs the actions that change the agent. This screen makes no requests while
nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.tui.keys.action import Action, Context, Handlers
from cockpit.tui.keys.bindings import bindings
from cockpit.tui.keys.reasons import needs_supervisor, press
from cockpit.tui.present import agent as head
from cockpit.tui.present.cached_lines import CachedLines
from cockpit.tui.present.cost import per_hour
from cockpit.tui.present.detail import reason
from cockpit.tui.present.facts import fact_lines
from cockpit.tui.present.hosts import lost_reason
from cockpit.tui.present.keys import possible_with
from cockpit.tui.present.lineage import Link, link_spans
from cockpit.tui.present.outage import outage
from cockpit.tui.present.plot import plot
from cockpit.tui.present.span import Span
from cockpit.tui.screens.agent.commands import Commands
from cockpit.tui.screens.agent.diff_files import DiffFiles
from cockpit.tui.screens.agent.lookups import READ, Lookups
from cockpit.tui.screens.base_screen import BaseScreen
from cockpit.tui.screens.pane_follow import look
from cockpit.tui.screens.requests import show_error
from cockpit.tui.state.background import in_background
from cockpit.tui.state.model import Change, Model
from cockpit.tui.state.pace import Throttled
from cockpit.tui.widgets.feed import Feed
from cockpit.tui.widgets.line import KeyLine, OneLine, Wrapped
from cockpit.tui.widgets.pane_view import PaneView
from cockpit.tui.widgets.picker import Picker
from cockpit.tui.widgets.text_view import TextView
from cockpit.wire.status import AgentStatus

if TYPE_CHECKING:
    from cockpit.tui.state.context import UIContext

WIDE = 150
"""Minimum columns of a terminal that shows a section beside the pane."""
SHORT = 24
"""Minimum lines of a terminal in which the pane section also shows the context over time."""
ROOMY = 44
"""Minimum lines of a terminal that shows the facts below the chain, beside the pane."""
MOST_LIMIT_LINES = 6
"""Maximum lines for the features that the agent's CLI does not support."""
AFTER_WRITING = 2.0
"""Minimum seconds between two reads of data that the agent is changing."""
HISTORY = 1000
"""Lines of scrollback to load once the pane is scrolled to its top."""


class AgentScreen(BaseScreen):
    """Shows one agent, and acts on that agent, even if another agent is selected meanwhile."""

    CONTEXT: ClassVar[Context] = "agent"
    BINDINGS: ClassVar[list[BindingType]] = bindings("agent")

    def __init__(
        self, model: Model, client: Client, ui: UIContext, name: str, do: Callable[[str], None]
    ) -> None:
        """`do` runs an action for the agent `name`, or shows why the action cannot run."""
        super().__init__(model, client, ui)
        self.name_of_agent: str = name
        self.section = "pane"
        self.lookups = Lookups(client, self.name_of_agent, self.agent)
        self.shown_links: dict[str, Link] = {}
        self._history_lines = 0
        self._make_widgets()
        self._commands = Commands(self, do)
        self._rows = Throttled(self, lambda: ui.pace.rows, self._draw)
        self._lookings = Throttled(self, lambda: max(AFTER_WRITING, ui.pace.rows), self.read)

    def _make_widgets(self) -> None:
        keys = self.ui.keys
        self._head = OneLine(self._say_head, id="agent-title")
        self._reason = Wrapped(id="agent-reason")
        self._tabs = KeyLine(lambda width: head.tabs(self.section, keys, width), id="agent-tabs")
        self.pane = PaneView()
        lookups, why = self.lookups, self._why_unread
        strip, whole = (CachedLines(plot, partial(why, "course")) for _ in range(2))
        facts = CachedLines[dict[str, Any]](
            lambda data, width, _: fact_lines(data, width, self._folder()), partial(why, "facts")
        )
        self.strip = TextView(lambda *room: strip(lookups.course, *room), id="agent-strip")
        self.plot = TextView(lambda *room: whole(lookups.course, *room), id="agent-plot")
        self.chain = Picker(self._say_link, empty="No session yet.", id="agent-links")
        self.limits = Wrapped(most=MOST_LIMIT_LINES, id="agent-limits")
        self.facts = TextView(lambda *room: facts(lookups.facts, *room), id="agent-facts")
        self.feed = Feed(self.ui.home, of_one=True)
        self.files = DiffFiles(self.ui, lambda: lookups.diff, partial(why, "diff"))
        self.diff = self.files.text

    @property
    def agent(self) -> AgentStatus | None:
        return self.model.agents.get(self.name_of_agent)

    @property
    def shown(self) -> tuple[str, ...]:
        """The names of the data that the screen shows, such as `course` and `facts`; see `READ`."""
        if self.section == "pane":
            return ("course",)
        if self.section == "course" and self.has_class("-roomy"):
            return ("course", "facts")
        return (self.section,) if self.section in READ else ()

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._reason
        yield self._tabs
        with Horizontal(id="agent-body"):
            with Vertical(id="agent-left"):
                yield self.strip
                yield self.pane
            with Vertical(id="agent-right"):
                with Vertical(id="agent-course"):
                    yield self.plot
                    yield self.chain
                    yield self.limits
                yield self.facts
                yield self.files
                yield self.feed
        yield self._keys

    def on_mount(self) -> None:
        self._stop_listening = self.model.listen(self._heard)
        self.set_class(not self._live, "-lost")
        self._measure()
        self.open("course" if self.has_class("-wide") else "pane")
        self._look()

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_resize(self) -> None:
        self._measure()
        self._rows.want()
        self.read()

    def _measure(self) -> None:
        size = self.app.size
        self.set_class(size.width >= WIDE, "-wide")
        self.set_class(size.width >= WIDE and size.height >= ROOMY, "-roomy")
        self.set_class(size.height < SHORT, "-short")

    def open(self, section: str) -> None:
        """Show a section, beside the pane if there is room."""
        self.section = section
        for other in head.SECTIONS:
            self.set_class(other.key == section, f"-{other.key}")
        self.set_class(section != "pane", "-aside")
        self._draw()
        self.read()

    # Keys

    def hints(self) -> list[Action]:
        return possible_with(self.action_model, self.section, has_files=self.files.has_files)

    @on(Picker.Picked)
    def _picked(self) -> None:
        self._commands.read_document()

    def handlers(self) -> Handlers:
        return {
            **self._commands.handlers(),
            "agent.help": self._help,
            "agent.back": self._back,
        }

    # Model changes and reads

    def _heard(self, change: Change, name: str | None) -> None:
        if change is Change.SELECTION or (change is Change.AGENT and name != self.name_of_agent):
            return
        if change is Change.CONNECTION:
            self._connected()
        if change in {Change.AGENT, Change.FLEET}:
            pane = self._pane_looked_at
            self.lookups.take(self.agent)
            if pane != self._pane_now():
                self._look()
        if change is Change.EVENT and not self._is_event_of_ours():
            return
        if self.lookups.wanted(self.shown):
            self._lookings.want()
        self._rows.want()

    def _connected(self) -> None:
        was_lost = self.has_class("-lost")
        self.set_class(not self._live, "-lost")
        if self._live and was_lost:
            self.lookups.outdated.update(READ)
            self._look()

    def _is_event_of_ours(self) -> bool:
        events = self.model.events
        ours = bool(events) and events[-1].agent == self.name_of_agent
        if ours:
            self.lookups.outdated.add("course")
        return ours

    @property
    def _lost(self) -> list[Span]:
        return lost_reason(self.model, self.name_of_agent, monotonic())

    @property
    def _live(self) -> bool:
        return self.model.part_of(self.name_of_agent).connection.live

    def _why_unread(self, section: str) -> str:
        """Return why a section cannot be read; empty while the section is loading."""
        if not self._live:
            return needs_supervisor(self.action_model) or ""
        return self.lookups.troubles.get(section, "")

    def _pane_now(self) -> str | None:
        return self.agent.pane if self.agent else None

    def _look(self) -> None:
        """Show the pane from a new stream; end the earlier stream."""
        self._pane_looked_at = self._pane_now()
        every, lines = self.ui.pace, self._history_lines
        start = f"{press(self.model.on('agent'), 'start')} to start it."
        lost = self.model.part_of(self.name_of_agent).unreachable
        task = partial(
            look,
            self.client,
            self.agent,
            self.pane,
            every,
            start=start,
            unreachable=lost,
            history=lines,
        )
        in_background(self, task, group="pane", exclusive=True)

    def on_mouse_scroll_up(self) -> None:
        """Load scrollback. The event arrives here only once the pane is scrolled to its top."""
        if self.section == "pane":
            self.look_further_up()

    def look_further_up(self) -> None:
        """Show the pane with its scrollback. Idempotent."""
        if not self._history_lines:
            self._history_lines = HISTORY
            self._look()

    def read(self) -> None:
        """Load the outdated data that is on the screen; see `shown`."""
        if not self.is_attached or not self._live or self.agent is None:
            return
        for section in self.lookups.wanted(self.shown):
            task = partial(self._read_one, section)
            in_background(self, task, group=f"read-{section}", exclusive=True)

    async def _read_one(self, section: str) -> None:
        try:
            await self.lookups.read(section)
        except CockpitError as error:
            if self._live:
                show_error(self, error)
        self._rows.want()

    # Drawing

    def _draw(self) -> None:
        if not self.is_attached:
            return
        self._head.show()
        self._tabs.show()
        lost = [Span(" "), *self._lost[1:]] if self._lost else outage(self.model)
        self._reason.set_spans(lost or self._reasons())
        self._keys.show()
        shown = self.shown
        if "course" in shown:
            (self.strip if self.section == "pane" else self.plot).show()
            self._draw_chain()
            self._draw_limits()
        if "facts" in shown:
            self.facts.show()
        if "diff" in shown:
            self.files.show()
        if self.section == "events":
            ours = [event for event in self.model.events if event.agent == self.name_of_agent]
            self.feed.show(ours)

    def _folder(self) -> str:
        """Return the folder of the agent's work, to which the paths of facts are relative."""
        agent = self.agent
        return "" if agent is None else agent.worktree or agent.directory

    def _reasons(self) -> list[Span]:
        """Return why the agent waits, without the state, which the title shows."""
        return reason(self.agent, named=False)

    def _draw_chain(self) -> None:
        before = self.shown_links
        self.shown_links = {link.session: link for link in self.lookups.links()}
        if self.shown_links != before:
            self.chain.show(list(self.shown_links))
            if not before:
                self.chain.move(len(self.shown_links))

    def _draw_limits(self) -> None:
        course, agent = self.lookups.course, self.agent
        if course is not None and agent is not None:
            self.limits.set_spans(head.limit_spans(course.limits, agent.runtime))

    def _say_head(self, width: int) -> list[Span]:
        name, lost, agent = self.name_of_agent, self._lost, self.agent
        rate = per_hour(agent, self.lookups.course) if agent and self._live else None
        return head.head(name, agent, width, live=self._live, lost=lost, per_hour=rate)

    def _say_link(self, session: str, width: int) -> list[Span]:
        links = self.shown_links
        return link_spans(links[session], list(links.values()), width)

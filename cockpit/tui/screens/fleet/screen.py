"""The home screen: the agents, and the pane of the selected agent."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Key
from textual.screen import Screen
from textual.widgets import Input

from cockpit import __version__
from cockpit.client.client import Client
from cockpit.config.this_user import this_user
from cockpit.core.safetext import safe_line
from cockpit.tui.keys.action import Context
from cockpit.tui.keys.actions import BY_ID
from cockpit.tui.keys.bindings import bindings
from cockpit.tui.keys.reasons import press
from cockpit.tui.present.detail import reason, rule
from cockpit.tui.present.elsewhere import about_elsewhere
from cockpit.tui.present.hosts import lost_reason
from cockpit.tui.present.keys import key_line, marked_line, possible, shown_key
from cockpit.tui.present.span import Span, without_rule
from cockpit.tui.present.summary import joined_summary, summary, title
from cockpit.tui.present.tour import Step, step, step_spans
from cockpit.tui.present.welcome import welcome
from cockpit.tui.screens import lazy
from cockpit.tui.screens.fleet.commands import Commands
from cockpit.tui.screens.fleet.layout import PaneSplit
from cockpit.tui.screens.pane_follow import look
from cockpit.tui.screens.requests import COMMAND_SECONDS, show_reason
from cockpit.tui.state.background import in_background
from cockpit.tui.state.context import UIContext
from cockpit.tui.state.last_request import done_by_other
from cockpit.tui.state.model import Change, Model
from cockpit.tui.state.pace import Throttled
from cockpit.tui.state.remembered import ViewMemory
from cockpit.tui.state.shared_supervisors import duplicate_messages
from cockpit.tui.widgets.feed import Feed
from cockpit.tui.widgets.filter_line import FilterLine
from cockpit.tui.widgets.fleet_list import FleetList
from cockpit.tui.widgets.line import Divider, KeyLine, OneLine, Wrapped
from cockpit.tui.widgets.lines import Lines
from cockpit.tui.widgets.pane_view import PaneView

if TYPE_CHECKING:
    from cockpit.tui.screens.fleet.side_panels import ContextPanel

MINUTE = 15.0
"""Seconds between two updates of the ages, which are shown in minutes, and of the untrusted
settings."""


class FleetScreen(Screen[None]):
    """The list of agents with their context bars, and the selected agent's pane."""

    CONTEXT: ClassVar[Context] = "fleet"
    BINDINGS: ClassVar[list[BindingType]] = bindings("fleet")
    AUTO_FOCUS = "#fleet"

    def __init__(
        self, model: Model, client: Client, ui: UIContext, memory: ViewMemory | None = None
    ) -> None:
        super().__init__()
        self.model = model
        self.client = client
        self.ui = ui
        self.memory = memory or ViewMemory()
        self.fleet = FleetList(model, open_key=lambda: shown_key(BY_ID["attach"], ui.keys))
        self.fleet.sort = self.memory.view.sort
        self.split = PaneSplit(self, self.memory)
        self.left = Vertical(id="left")
        self.pane = PaneView()
        self.feed = Feed(ui.home)
        self.below = Vertical(id="below")
        self.context_panel: ContextPanel | None = None
        """The panel of the selected agent's context; None until the panel is first shown."""
        self.welcome = Lines(id="welcome")
        self.welcome.display = False
        self.filter_line = FilterLine(self._key_of_all, self._count)
        self.filter = self.filter_line.field
        self._looking_at: tuple[str | None, str | None] = (None, None)
        self._live = False
        """Whether the selected agent's host answers."""
        self._is_covered = False
        """Whether another screen covers this one, so that the pane is not streamed."""
        self.commands = Commands(self)
        self._summary = OneLine(self._summarise, id="summary")
        self._rule = Divider(self._say_rule, id="rule")
        self._reason = Wrapped(id="reason")
        self._keys = KeyLine(self._key_line)
        self._tour = Wrapped(id="tour")
        self._step: Step | None = None
        self._dismissed: set[str] = set()
        """The ids of the tour's steps that the user hid."""
        self._reported_version: str | None = None
        self._told_remarks: set[str] = set()
        self._afresh = True
        self._loaded = False
        """Whether the lazy screens are imported or being imported."""
        self._rows = Throttled(self, lambda: ui.pace.rows, self._draw)

    def compose(self) -> ComposeResult:
        yield self._summary
        with Horizontal(id="body"):
            with self.left:
                yield self.fleet
                yield self.filter_line
                with self.below:
                    yield self.feed
            with Vertical(id="right"):
                yield self._rule
                with Vertical(id="pane-frame"):
                    yield self._reason
                    yield self.pane
                    yield self.welcome
        yield self._tour
        yield self._keys

    def on_mount(self) -> None:
        self._stop_listening = self.model.listen(self._heard)
        self.set_interval(MINUTE, self._tick)
        self._draw()
        self._follow_selection()
        self._see_connection()

    def on_unmount(self) -> None:
        self._stop_listening()

    def on_resize(self) -> None:
        self.split.arrange()

    @on(FleetList.Grew)
    def _arrange_split(self) -> None:
        self.split.arrange()

    @on(Divider.Dragged)
    def _dragged(self, message: Divider.Dragged) -> None:
        self.split.drag_to(message.line, message.column, done=message.done)

    @on(FleetList.Picked)
    def _picked(self) -> None:
        self.commands.do("attach")

    @on(FleetList.Headed)
    def _headed(self) -> None:
        self.commands.do("sort")

    @on(KeyLine.Chosen)
    def _chosen(self, message: KeyLine.Chosen) -> None:
        self.commands.do(message.action)

    @on(Input.Changed, "#filter")
    def _filter_changed(self, message: Input.Changed) -> None:
        self.fleet.filter = message.value
        self.fleet.show()
        names = self.fleet.names
        if message.value and self.model.selected not in names:
            self.fleet.select(names[0] if names else None)
        self._draw()

    def on_key(self, event: Key) -> None:
        """Leave the filter field with Esc, Down or Up; Esc also clears the filter."""
        if self.focused is self.filter and event.key in {"escape", "down", "up"}:
            if event.key == "escape":
                self.filter.value = self.fleet.filter = ""
                self.fleet.show()
            self._filter_done()

    @on(Input.Submitted, "#filter")
    def _filter_done(self) -> None:
        self.set_focus(self.fleet)
        self.filter_line.display = bool(self.fleet.filter)
        names = self.fleet.names
        if names and self.model.selected not in names:
            self.fleet.select(names[0])

    def _count(self) -> tuple[int, int]:
        return len(self.fleet.names), len(self.model.agents)

    def _key_of_all(self) -> str:
        return shown_key(BY_ID["unfilter"], self.ui.keys)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable this screen's keys while the filter field has the focus."""
        return self.focused is not self.filter or action not in {"act", "jump"}

    def action_act(self, action: str) -> None:
        self.commands.do(action)

    def action_jump(self, number: int) -> None:
        self.commands.jump(number)

    def _heard(self, change: Change, name: str | None) -> None:
        if change is Change.SELECTION:
            self._follow_selection()
            self.follow_context()
            self._see_connection()
            self._welcome_if_empty()
        if change is Change.EVENT:
            self.show_events()
            return
        if change is Change.CONNECTION:
            self._see_connection()
        if change is Change.AGENT and name:
            self.fleet.outdated(name)
        if change in {Change.FLEET, Change.CONNECTION}:
            self._afresh = True
        self._rows.want()

    def _see_connection(self) -> None:
        """Grey out the list if no host answers, and the pane if the selected agent's host does not.

        Nothing is grey while the first connection is being made. Streams the selected agent's pane
        again once the agent's host is back.
        """
        connection = self.model.part.connection
        lost = any(part.connection.lost_at is not None for part in self.model.parts.values())
        self.set_class(lost and not self.model.any_live, "-lost")
        self.set_class(connection.lost_at is not None, "-pane-lost")
        if connection.live and not self._live:
            self._follow_selection()
        self._live = connection.live

    def _tick(self) -> None:
        self._afresh = True
        self._rows.want()
        if self.model.held:
            from cockpit.tui.state.held_settings import load_held

            task = partial(load_held, self.model, self.client)
            in_background(self, task, group="held", exclusive=True)

    def _draw(self) -> None:
        if not self.is_running:
            return
        self.fleet.show(afresh=self._afresh)
        self._afresh = False
        self.filter_line.show_count()
        if self.fleet.filter:
            if self.model.selected and self.model.selected not in self.fleet.names:
                # A key must not act on an agent that is hidden, or that the user did not select.
                self.fleet.select(None)
        elif not self.model.selected and self.fleet.names and not self.fleet.at_elsewhere:
            self.fleet.select(self.fleet.names[0])
        self._welcome_if_empty()
        self._tell_of_other_version()
        self._tell_of_connections()
        self._summary.show()
        self._rule.show()
        self._reason.set_spans(self._reasons())
        if self.has_class("-packed"):
            self.split.arrange()
        self._keys.show()
        self._show_step()
        self.follow_context()
        self.app.sub_title = title(self.model.agents.values())
        self.follow_visible_pane()
        if self.model.any_live and not self._loaded:
            self._loaded = True
            self.call_after_refresh(self._load_behind)

    def _load_behind(self) -> None:
        in_background(self, self._load_lazy, group="load")

    async def _load_lazy(self) -> None:
        await asyncio.to_thread(lazy.load)
        self.split.arrange()

    def show_events(self) -> None:
        """Update the recent events, if they are shown."""
        if self.feed.has_class("-open") or self.split.has_panels:
            self.feed.show(self.model.events)

    def follow_context(self) -> None:
        """Show the selected agent's context over time, if there is room. Idempotent."""
        if not self.split.has_panels:
            if self.context_panel is not None:
                self.context_panel.pause()
            return
        if self.context_panel is None:
            from cockpit.tui.screens.fleet.side_panels import ContextPanel

            self.context_panel = ContextPanel(self.client)
            self.below.mount(self.context_panel, before=self.feed)
        self.context_panel.follow(self.model.agent)

    @property
    def reason_lines(self) -> int:
        """Number of lines for the reason why the selected agent waits."""
        return self._reason.lines

    def _reasons(self) -> list[Any]:
        """Return why the selected agent waits, or why the agent's host does not answer.

        Adds the last request if another user made it.
        """
        agent = self.model.agent
        lost = lost_reason(self.model, agent.name, monotonic()) if agent else []
        return lost or [*reason(agent), *self._done_by_other()]

    def _done_by_other(self) -> list[Span]:
        agent = self.model.agent
        text = done_by_other(agent, this_user(), datetime.now(UTC)) if agent else ""
        return [Span(f" {text}", "muted")] if text else []

    def _welcome_if_empty(self) -> None:
        """Show a text in place of the pane, if there is no pane to show.

        Without agents, the text says how to start an agent. While the group of sessions that
        cockpit did not start is selected, the text describes the group.
        """
        empty = self.model.any_live and not self.model.agents
        at_elsewhere = self.fleet.at_elsewhere and not empty
        if (empty or at_elsewhere) != self.welcome.display:
            self.welcome.display = empty or at_elsewhere
            self.pane.display = self._rule.display = not self.welcome.display
            self.split.arrange()
        if empty:
            self.welcome.set_lines(welcome(self.ui.keys, held=bool(self.model.held)))
        elif at_elsewhere:
            self.welcome.set_lines(about_elsewhere(self.welcome.size.width or self.size.width))

    def on_screen_suspend(self) -> None:
        """Stop streaming the pane while another screen hides it."""
        self._is_covered = not self.app.screen.is_modal
        self.follow_visible_pane()

    def on_screen_resume(self) -> None:
        self._is_covered = False
        self.follow_visible_pane()

    def follow_visible_pane(self) -> None:
        """Stream the selected agent's pane while the pane is visible. Idempotent."""
        if self._pane_of() != self._looking_at:
            self._follow_selection()

    def _pane_of(self) -> tuple[str | None, str | None]:
        """Return the agent and the pane to stream.

        Both are None if the pane is not visible or no agent is selected. The pane is None if the
        agent has none.
        """
        hidden = self._is_covered or self.has_class("-cramped") or self.has_class("-packed")
        agent = None if hidden else self.model.agent
        return (agent.name, agent.pane) if agent else (None, None)

    def _follow_selection(self) -> None:
        """Stream the selected agent's pane, and end the previous stream."""
        self._looking_at = self._pane_of()
        agent = self.model.agents.get(self._looking_at[0] or "")
        start = f"{press(self.model, 'start')} to start it."
        lost = self.model.part_of(agent.name if agent else None).unreachable
        task = partial(
            look, self.client, agent, self.pane, self.ui.pace, start=start, unreachable=lost
        )
        in_background(self, task, group="pane", exclusive=True)

    def dismiss_step(self) -> None:
        """Hide the current step of the tour."""
        if self._step is not None:
            self._dismissed.add(self._step.id)
            self._show_step()

    def _show_step(self) -> None:
        if not self.ui.has_tour:
            return
        model = self.model
        agents = model.agents.values()
        self._step = step(agents, model.selected, self.ui.keys, self._dismissed)
        self._tour.set_spans(step_spans(self._step, self._key_of_all()))

    def _say_rule(self, width: int) -> list[Any]:
        framed = self.has_class("-framed")
        spans = rule(self.model.agent, width, self.ui.home, framed=framed)
        return without_rule(spans) if self.ui.pace.is_low else spans

    def _summarise(self, width: int) -> list[Any]:
        model = self.model
        # A filter without a match hides every row, but there are agents.
        shown_names = self.fleet.names if self.fleet.filter else []
        names = set(shown_names) or model.agents.keys()
        shown = [agent for name, agent in model.agents.items() if name in names]
        if model.is_joined:
            parts, held = list(model.parts.values()), len(model.held)
            return joined_summary(shown, parts, width, monotonic(), held)
        return summary(
            shown,
            model.host,
            model.connection,
            width,
            monotonic(),
            self._other_version,
            len(model.held),
            model.main.day,
        )

    @property
    def _other_version(self) -> str | None:
        """The supervisor's version; None if unknown or the same as the screen's."""
        version = self.model.main.version
        return version if version != __version__ else None

    def _tell_of_connections(self) -> None:
        """Show each message about a connection once."""
        for part in self.model.parts.values():
            if part.connection.live and part.remark and part.remark not in self._told_remarks:
                self._told_remarks.add(part.remark)
                show_reason(self, part.remark, seconds=COMMAND_SECONDS)
        for pair, message in duplicate_messages(self.model.parts).items():
            if pair not in self._told_remarks:
                self._told_remarks.add(pair)
                show_reason(self, message, seconds=COMMAND_SECONDS)

    def _tell_of_other_version(self) -> None:
        if (other := self._other_version) is None or other == self._reported_version:
            return
        self._reported_version = other
        main = self.model.main
        on_host = f" --host {safe_line(main.host, 32)}" if main.is_remote else ""
        show_reason(
            self,
            f"The supervisor is version {other}, this screen is {__version__}. Restart the "
            f"supervisor (agents keep running): cockpit restart{on_host}",
            seconds=COMMAND_SECONDS,
        )

    def refresh_keys(self) -> None:
        """Redraw the key line after a change of keys or marks."""
        self._keys.show()

    def _key_line(self, width: int) -> tuple[list[Any], list[Any]]:
        if marked := self.fleet.marked:
            return marked_line(len(marked), self.ui.keys, width)
        return key_line(possible(self.model, "fleet"), self.ui.keys, width)

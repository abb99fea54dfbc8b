"""The panels below the list of agents: the selected agent's context over time, and recent events.

The panels are shown while the pane is beside the list and the list leaves enough lines. The context
history is loaded when another agent is selected, and when the history may have changed by more than
a new token count. A new token count is appended without a request.
"""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.core.far_names import LONGEST_NAME
from cockpit.core.safetext import safe_line
from cockpit.tui.present.cached_lines import CachedLines
from cockpit.tui.present.plot import plot
from cockpit.tui.screens.agent.lookups import grown
from cockpit.tui.screens.requests import in_one_line
from cockpit.tui.state.background import in_background
from cockpit.tui.widgets.text_view import TextView
from cockpit.wire.course import Course
from cockpit.wire.status import AgentStatus


class ContextPanel(Vertical):
    """The context of one agent over time, with its thresholds."""

    def __init__(self, client: Client) -> None:
        super().__init__(id="context-panel")
        self._client = client
        self._agent: AgentStatus | None = None
        self._course: Course | None = None
        self._why = ""
        lines = CachedLines(plot, lambda: self._why)
        self._plot = TextView(lambda *room: lines(self._course, *room), id="context-plot")

    def compose(self) -> ComposeResult:
        yield self._plot

    def follow(self, agent: AgentStatus | None) -> None:
        """Show this agent's current context; for None, no context. Idempotent."""
        before, self._agent = self._agent, agent
        if agent is None or before is None or before.name != agent.name:
            self._course, self._why = None, "" if agent else "No agent is selected."
            name = safe_line(agent.name, LONGEST_NAME) if agent else ""
            self.border_title = Content(f"context of {name}" if name else "context")
            self._plot.show()
        if agent is None or agent == before:
            return
        if before is None or before.name != agent.name or _may_differ(before, agent):
            in_background(self, partial(self._read, agent.name), group="course", exclusive=True)
        elif agent.context.tokens != before.context.tokens:
            self._take(grown(self._course, agent))

    def pause(self) -> None:
        """Forget the agent, so that the next `follow` loads the context again."""
        self._agent = None

    async def _read(self, name: str) -> None:
        try:
            self._take(await self._client.course(name))
        except CockpitError as error:
            self._why = in_one_line(error)
            self._plot.show()

    def _take(self, course: Course | None) -> None:
        self._course = course
        self._plot.show()


def _may_differ(before: AgentStatus, agent: AgentStatus) -> bool:
    """Return whether the context history may have changed by more than a new token count."""
    rested = before.state != agent.state and agent.state != "working"
    # The thresholds are unknown until the CLI has reported the window.
    scales = [(status.context.window, status.context.marks) for status in (before, agent)]
    return rested or before.session_id != agent.session_id or scales[0] != scales[1]

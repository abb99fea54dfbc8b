"""Stream an agent's pane: at once, and after each change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response

from cockpit.core.errors import CockpitError
from cockpit.core.handoff.events import Turn
from cockpit.ports.panes import Panes, PanesSilent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.api.access import Access
from cockpit.supervisor.api.request_content import query_of
from cockpit.supervisor.api.streams import Line, stream
from cockpit.supervisor.sessions.refusals import pane_of
from cockpit.wire.stream import ScreenShot
from cockpit.wire.views import ScreenQuery

MOST_SCROLLBACK = 5000
"""Maximum lines of scrollback."""
SCREEN_BUSY = 0.25
"""Seconds between two captures of a pane whose agent is working or has not replied yet."""
SCREEN_IDLE = 1.0
SCREEN_AT_REST = 3.0
"""Seconds between two captures of an idle agent's pane, after more than ten captures without a
change."""


class ScreenView:
    def __init__(self, access: Access, fleet: Fleet, panes: Panes) -> None:
        self._access = access
        self._fleet = fleet
        self._panes = panes

    async def __call__(self, request: Request) -> Response:
        agent = await self._access.agent(request)
        pane_of(agent)
        history = min(query_of(request, ScreenQuery).history, MOST_SCROLLBACK)
        return stream(request, self._screen(str(agent.name), history))

    async def _screen(self, name: str, history: int) -> AsyncIterator[Line]:
        """Yield the pane's screen after each change. Captures only while a client is connected."""
        last, same = "", 0
        while True:
            agent = self._fleet.find(name)
            if agent is None or agent.record.pane is None:
                return
            try:
                seen = await self._panes.capture(agent.record.pane, history=history)
            except PanesSilent:
                await asyncio.sleep(SCREEN_IDLE)  # a busy machine; tmux may answer again
                continue
            except CockpitError:
                return  # the pane was closed; the agent's row says why
            cursor = (seen.cursor_column, seen.cursor_row) if seen.cursor_visible else None
            shot = ScreenShot(lines=list(seen.lines), cursor=cursor, pane=agent.record.pane)
            line = shot.model_dump_json()
            same = same + 1 if line == last else 0
            if line != last:
                last = line
                yield Line(line)
            busy = (
                agent.session_state.activity.turn is Turn.WORKING or not agent.session_state.replied
            )
            rest = SCREEN_AT_REST if same > 10 else SCREEN_IDLE
            await asyncio.sleep(SCREEN_BUSY if busy and agent.alive else rest)

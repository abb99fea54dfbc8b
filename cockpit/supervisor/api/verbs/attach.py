"""`cockpit attach`: find an agent's pane."""

from __future__ import annotations

from cockpit.core.handoff.events import Turn
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.sessions.refusals import pane_of
from cockpit.wire.verbs import (
    Attach,
    Done,
)

UNREAD = 1.0
"""Seconds for which keys in a pane with an open dialog are ignored after the user was switched to
that pane."""


class AttachHandler:
    """Tells a client which pane of an agent to attach to (`Attach`)."""

    def __init__(self, dependencies: Dependencies, fleet: Fleet) -> None:
        self._dependencies = dependencies
        self._fleet = fleet

    async def __call__(self, asked: Attach) -> Done:
        """Return the agent's pane and the socket of its tmux server.

        Raises `NotNow` if the agent has no pane.
        """
        agent = self._fleet.agent(asked.name)
        pane = pane_of(agent)
        asks = agent.session_state.activity.turn is Turn.DIALOG
        if agent.alive and (agent.troubles.dialog or asks):
            # A repeated key press must not answer a question that the user has not read.
            await self._dependencies.panes.hold_keys(pane, UNREAD)
        socket = str(self._dependencies.places.tmux_socket)
        return Done(message=pane, name=agent.name, pane=pane, socket=socket)

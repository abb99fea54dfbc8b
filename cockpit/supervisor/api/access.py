"""Identify the sender of a request, and check which agents the sender may see."""

from __future__ import annotations

from starlette.requests import Request

from cockpit.core.actors import HEADER
from cockpit.core.callers import Caller, forwarded, named
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.api.callers import Callers
from cockpit.supervisor.api.connections import ANCESTRY, PEER


class Access:
    """Identifies callers, and checks which agents a caller may see."""

    def __init__(self, callers: Callers, fleet: Fleet) -> None:
        self.callers = callers
        self._fleet = fleet

    async def caller(self, request: Request) -> Caller:
        peer = request.client
        pid = peer.port if peer is not None and peer.host == PEER else None
        caller = await self.callers.of(pid, getattr(request.state, ANCESTRY, []))
        caller = named(caller, request.headers.get(HEADER, ""), self.callers.own_user)
        return forwarded(caller, request.headers.get("forwarded", ""))

    async def only(self, request: Request) -> str | None:
        """Return the one agent that the caller may see; None for all agents, empty for no agent."""
        return self.callers.only(await self.caller(request))

    async def check_look(self, request: Request, name: str | None) -> None:
        """Raise `NotAllowed` unless the caller may see the agent `name` (None for all agents)."""
        self.callers.check_look(await self.caller(request), name)

    async def agent(self, request: Request) -> Agent:
        """Return the agent that the URL names.

        Raises `NotAllowed` if the caller may not see the agent, and `NoSuchAgent`.
        """
        name = request.path_params["name"]
        await self.check_look(request, name)
        return self._fleet.agent(name)

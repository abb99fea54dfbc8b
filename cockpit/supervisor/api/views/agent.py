"""Views of one agent: its dialog, continuation, facts, context history and changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.api.access import Access
from cockpit.supervisor.api.request_content import query_of
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.history.lookups import Lookups
from cockpit.supervisor.history.session_facts import SessionFacts
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.views import DiffQuery, FactsQuery


class AgentViews:
    def __init__(
        self,
        access: Access,
        engine: Engine,
        session_facts: SessionFacts,
        lookups: Lookups,
        dialog: Callable[[Agent], Awaitable[DialogStatus]],
    ) -> None:
        self._access = access
        self._engine = engine
        self._session_facts = session_facts
        self._lookups = lookups
        self._dialog = dialog

    async def dialog(self, request: Request) -> Response:
        agent = await self._access.agent(request)
        dialog = await self._dialog(agent)
        return Response(dialog.model_dump_json(), media_type="application/json")

    async def continuation(self, request: Request) -> Response:
        agent = await self._access.agent(request)
        return PlainTextResponse(self._engine.continuation(agent))

    async def facts(self, request: Request) -> Response:
        agent, session = await self._access.agent(request), query_of(request, FactsQuery).session
        if session is None or session == agent.record.session:
            return JSONResponse(await self._session_facts.of_agent(agent))
        return JSONResponse(await self._session_facts.of_earlier(agent, session))

    async def course(self, request: Request) -> Response:
        agent = await self._access.agent(request)
        course = await self._lookups.course(agent)
        return Response(course.model_dump_json(), media_type="application/json")

    async def diff(self, request: Request) -> Response:
        agent = await self._access.agent(request)
        of_job = query_of(request, DiffQuery).since == "job"
        diff = await self._lookups.diff(agent, of_job=of_job)
        return Response(diff.model_dump_json(), media_type="application/json")

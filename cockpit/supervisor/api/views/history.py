"""Jobs with their sessions and handoffs, and the documents of handoffs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from cockpit.core.callers import CallerKind
from cockpit.core.search import words
from cockpit.supervisor.api.access import Access
from cockpit.supervisor.api.request_content import query_of
from cockpit.supervisor.history.chains import SESSIONS_AT_ONCE, History, Page
from cockpit.wire.history import HistoryChain, to_json
from cockpit.wire.views import HistoryQuery

MOST_JOBS = 500
"""Maximum jobs on one page of the history."""
MOST_HANDOFFS = 500
"""Maximum handoffs on one page of the history."""
LONGEST_SEARCH = 1000
"""Maximum characters of a search; the rest is ignored."""


class HistoryViews:
    def __init__(self, access: Access, history: History) -> None:
        self._access = access
        self._history = history

    async def history(self, request: Request) -> Response:
        asked = query_of(request, HistoryQuery)
        name, typed = asked.name, asked.search
        only = await self._access.only(request)
        if only is not None:
            await self._access.check_look(request, name or only)
            name = only
        if typed is not None and words(typed):
            chains = await self._history.search(typed[:LONGEST_SEARCH], name)
            return JSONResponse([to_json(chain) for chain in chains])
        if asked.handoffs:
            limit = min(asked.handoffs, MOST_HANDOFFS)
            return _paged(self._history.handoff_page(name, limit, asked.before))
        if asked.limit:
            limit = min(asked.limit, MOST_JOBS)
            return _paged(self._history.page(name, limit, asked.before))
        jobs = self._history.jobs_of(name)
        listed = _listed(self._history.chains(jobs))
        return StreamingResponse(listed, media_type="application/json")

    async def document(self, request: Request) -> Response:
        caller, ident = await self._access.caller(request), request.path_params["ident"]
        callers, history = self._access.callers, self._history
        only = callers.only(caller)
        if only is not None:
            callers.check_look(caller, history.agent_of(ident, only))
        for_agent = caller.kind is CallerKind.AGENT
        return PlainTextResponse(await history.document(ident, only, for_agent=for_agent))


async def _listed(source: AsyncIterator[HistoryChain]) -> AsyncIterator[bytes]:
    """Yield a JSON list, encoded one element at a time so that a long list does not block."""
    between = b"["
    async for chain in source:
        yield between
        for piece in _pieces(chain):
            yield piece
        between = b","
    yield b"[]" if between == b"[" else b"]"


def _pieces(chain: HistoryChain) -> Iterator[bytes]:
    """Yield a chain as JSON, some sessions at a time: a job can have thousands of sessions."""
    sessions = chain.sessions
    if len(sessions) <= SESSIONS_AT_ONCE:
        yield json.dumps(to_json(chain)).encode()
        return
    yield json.dumps(to_json(chain, without="sessions")).encode()[:-1] + b', "sessions": ['
    for start in range(0, len(sessions), SESSIONS_AT_ONCE):
        some = [to_json(session) for session in sessions[start : start + SESSIONS_AT_ONCE]]
        yield (b", " if start else b"") + json.dumps(some).encode()[1:-1]
    yield b"]}"


def _paged(page: Page) -> Response:
    """Return a `wire.history.HistoryPage`, encoded chain by chain."""

    async def encoded() -> AsyncIterator[bytes]:
        yield b'{"chains": '
        async for piece in _listed(page.chains):
            yield piece
        yield b", " + json.dumps({"next": page.next, "total": page.total}).encode()[1:]

    return StreamingResponse(encoded(), media_type="application/json")

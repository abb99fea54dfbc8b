"""Handle the requests that change something: the verbs of `wire.verbs`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cockpit.core.errors import NotAllowed, NotNow
from cockpit.supervisor.api.access import Access
from cockpit.supervisor.api.last_requests import LastRequests
from cockpit.supervisor.api.request_content import body_of
from cockpit.supervisor.api.verbs.agent_lock import Perform
from cockpit.wire.verbs import Verb


class VerbRequests:
    """Checks each request's caller, runs the verb, and records the request and its sender."""

    def __init__(
        self,
        access: Access,
        perform: Mapping[type[Verb], Perform],
        last_requests: LastRequests,
    ) -> None:
        self._access = access
        self._perform = perform
        self._last_requests = last_requests

    def handler(self, kind: type[Verb]) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of one verb."""

        async def handle(request: Request) -> Response:
            asked = await body_of(request, kind)
            caller, callers = await self._access.caller(request), self._access.callers
            try:
                asked = callers.admit(caller, asked)
            except NotAllowed as refused:
                callers.note(caller, asked, refused)
                raise
            callers.note(caller, asked)
            last_requests = self._last_requests
            question = last_requests.question(asked)
            try:
                done = await self._perform[kind](asked)
            except NotNow as refused:
                raise last_requests.explained(refused, asked) from refused
            last_requests.note(asked, done, callers.actor(caller), question)
            return JSONResponse(done.model_dump())

        return handle

"""The caller of the request, as the supervisor identifies it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from cockpit.supervisor.api.access import Access
from cockpit.wire.caller import CallerStatus


class CallerView:
    def __init__(self, access: Access) -> None:
        self._access = access

    async def __call__(self, request: Request) -> Response:
        caller = await self._access.caller(request)
        status = CallerStatus(
            kind=caller.kind.value, name=caller.name or None, pid=caller.pid or None
        )
        return Response(status.model_dump_json(), media_type="application/json")

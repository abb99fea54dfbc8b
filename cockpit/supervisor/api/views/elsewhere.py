"""Stream the sessions that cockpit did not start: at once, and after each change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response

from cockpit.supervisor.api.access import Access
from cockpit.supervisor.api.request_content import query_of
from cockpit.supervisor.api.streams import Line, stream
from cockpit.supervisor.view.elsewhere import ElsewhereRows
from cockpit.wire.stream import Elsewhere
from cockpit.wire.views import ElsewhereQuery


class ElsewhereView:
    def __init__(self, access: Access, elsewhere: ElsewhereRows) -> None:
        self._access = access
        self._elsewhere = elsewhere

    async def __call__(self, request: Request) -> Response:
        beat = query_of(request, ElsewhereQuery).beat
        await self._access.check_look(request, None)
        return stream(request, self._lines(), beat)

    async def _lines(self) -> AsyncIterator[Line]:
        async with aclosing(self._elsewhere.follow()) as changes:
            async for sessions in changes:
                yield Line(Elsewhere(sessions=sessions).model_dump_json())

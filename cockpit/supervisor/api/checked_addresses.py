"""Reject a request whose URL is too long or is not valid text, before routing."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from cockpit.core.errors import BadUsage
from cockpit.supervisor.api.refusals import refusal
from cockpit.supervisor.api.request_checks import check_address


class CheckedAddresses:
    """ASGI middleware that checks the URL of each HTTP request with `check_address`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                check_address(scope.get("raw_path", b""), scope.get("query_string", b""))
            except BadUsage as wrong:
                await refusal(wrong)(scope, receive, send)
                return
        await self._app(scope, receive, send)

"""The HTTP API: one route for each verb and each view.

`wire.verbs` and `wire.views` define the API. Only the user and root can connect: the socket is 0600
in a private folder, and the peer's user is checked with the kernel before anything is read. An
error is sent as a problem document with a matching HTTP status (`core.problems`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from cockpit.core.errors import CockpitError, NotNow
from cockpit.supervisor.api.access import Access
from cockpit.supervisor.api.checked_addresses import CheckedAddresses
from cockpit.supervisor.api.connections import Connections
from cockpit.supervisor.api.refusals import Bug, client_gone, refused, unknown_request
from cockpit.supervisor.api.request_checks import as_bad_usage
from cockpit.supervisor.api.served import Served
from cockpit.supervisor.api.verb_requests import VerbRequests
from cockpit.supervisor.api.views.agent import AgentViews
from cockpit.supervisor.api.views.caller import CallerView
from cockpit.supervisor.api.views.elsewhere import ElsewhereView
from cockpit.supervisor.api.views.events import EventsView
from cockpit.supervisor.api.views.fleet import FleetViews
from cockpit.supervisor.api.views.history import HistoryViews
from cockpit.supervisor.api.views.screen import ScreenView
from cockpit.supervisor.api.views.worktrees import WorktreesView
from cockpit.supervisor.lifetime import Lifetime
from cockpit.wire.verbs import VERBS
from cockpit.wire.views import OPENAPI_PATH, VIEWS

Handler = Callable[[Request], Awaitable[Response]]


def application(served: Served) -> Starlette:
    """Return the ASGI application."""
    access = Access(served.callers, served.fleet)
    errors = ErrorResponses(served.life, served.dependencies.places.logs)
    verbs = VerbRequests(access, served.perform, served.last_requests)
    views = view_handlers(served, access)
    routes = [
        Route(
            f"/v1/{verb.verb}", errors.explained(verb.verb, verbs.handler(verb)), methods=["POST"]
        )
        for verb in VERBS
    ]
    routes += [
        Route(
            view.path.replace("{ident}", "{ident:path}"),
            errors.explained(view.name, views[view.name]),
        )
        for view in VIEWS
    ]
    routes.append(Route(OPENAPI_PATH, errors.explained("openapi", openapi)))
    app = Starlette(
        routes=routes,
        exception_handlers={
            CockpitError: refused,
            HTTPException: unknown_request,
            ClientDisconnect: client_gone,
        },
        middleware=[Middleware(CheckedAddresses)],
    )
    ancestry_of = served.dependencies.processes.ancestry
    app.state.connections = Connections(served.callers.agent_of, ancestry_of)
    return app


def view_handlers(served: Served, access: Access) -> Mapping[str, Handler]:
    """Return the handler of each view of `wire.views`, by the view's name."""
    event_log = served.dependencies.event_log
    fleet = FleetViews(
        access, served.rows, event_log, served.elsewhere, served.daily_costs, served.status
    )
    agent = AgentViews(access, served.engine, served.session_facts, served.lookups, served.dialog)
    history = HistoryViews(access, served.history)
    return {
        "status": fleet.status,
        "caller": CallerView(access),
        "events": EventsView(access, event_log),
        "watch": fleet.watch,
        "elsewhere": ElsewhereView(access, served.elsewhere),
        "screen": ScreenView(access, served.fleet, served.dependencies.panes),
        "dialog": agent.dialog,
        "history": history.history,
        "document": history.document,
        "worktrees": WorktreesView(access, served.worktrees, served.worktree_sizes),
        "continuation": agent.continuation,
        "facts": agent.facts,
        "course": agent.course,
        "diff": agent.diff,
    }


class ErrorResponses:
    """Turns every exception of a handler into an error response."""

    def __init__(self, life: Lifetime, logs: Path) -> None:
        self._life = life
        self._logs = logs

    def explained(self, name: str, handler: Handler) -> Handler:
        """Return a handler that turns unexpected exceptions into errors for the client.

        `name` is the name of the request.
        """

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except (CockpitError, HTTPException, ClientDisconnect):
                raise
            except asyncio.CancelledError:
                if not self._life.ended.is_set():
                    raise
                # The server is shutting down and cancels its requests: answer with the reason.
                raise NotNow(
                    "The supervisor is shutting down",
                    "Your request may be incomplete; the next supervisor completes or reverts it.",
                    "Start the supervisor and check: cockpit up; cockpit status",
                ) from None
            except Exception as bug:  # a bug in any handler
                if (wrong := as_bad_usage(bug)) is not None:
                    raise wrong from bug
                raise Bug(f"{name} failed inside the supervisor", self._logs, bug) from bug

        return handle


async def openapi(_: Request) -> Response:
    return Response(await asyncio.to_thread(_openapi), media_type="application/json")


@cache
def _openapi() -> bytes:
    from cockpit.wire.openapi import document  # imported here, because only this response needs it

    return json.dumps(document()).encode()

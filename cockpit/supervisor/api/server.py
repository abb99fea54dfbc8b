"""Serve the HTTP API on the supervisor's unix socket.

`wire.verbs` and `wire.views` define the API. Only the user and root can connect: the socket is 0600
in a private folder, and the peer's user is checked with the kernel before anything is read. An
error is sent as a problem document with a matching HTTP status (`core.problems`).
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cockpit.core.actors import HEADER
from cockpit.core.callers import Caller, CallerKind, forwarded, named
from cockpit.core.errors import BadUsage, CockpitError, Failed, NotAllowed, NotNow
from cockpit.core.handoff.events import Turn
from cockpit.core.search import words
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.api.callers import Callers, names_only
from cockpit.supervisor.api.connections import ANCESTRY, PEER, Connections, UserOnly
from cockpit.supervisor.api.last_requests import LastRequests
from cockpit.supervisor.api.listener import Listener
from cockpit.supervisor.api.refusals import Bug, client_gone, refusal, refused, unknown_request
from cockpit.supervisor.api.request_checks import (
    as_bad_usage,
    check_address,
    check_values,
    validated,
)
from cockpit.supervisor.api.streams import Line, last_event, merged, stream, wants_events
from cockpit.supervisor.api.verbs.agent_lock import Perform
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.history.chains import SESSIONS_AT_ONCE, History, Page
from cockpit.supervisor.history.lookups import Lookups
from cockpit.supervisor.history.session_facts import SessionFacts
from cockpit.supervisor.lifetime import Lifetime
from cockpit.supervisor.sessions.worktree_sizes import WorktreeSizes
from cockpit.supervisor.sessions.worktrees import AgentWorktrees
from cockpit.supervisor.view.elsewhere import ElsewhereRows
from cockpit.supervisor.view.publisher import RowPublisher
from cockpit.wire.caller import CallerStatus
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.history import HistoryChain, to_json
from cockpit.wire.status import Status
from cockpit.wire.stream import (
    AgentChanged,
    Elsewhere,
    ElsewhereCounted,
    Event,
    Happened,
    Resumed,
    ScreenShot,
    Snapshot,
)
from cockpit.wire.verbs import VERBS, Verb
from cockpit.wire.views import (
    OPENAPI_PATH,
    VIEWS,
    DiffQuery,
    ElsewhereQuery,
    EventsQuery,
    FactsQuery,
    HistoryQuery,
    Query,
    ScreenQuery,
    StatusQuery,
    WatchQuery,
    WorktreesQuery,
)
from cockpit.wire.worktrees import WorktreeStatus

LARGEST_REQUEST = 2 * 1024 * 1024
MOST_EVENTS = 5000
"""Maximum events in one response."""
MOST_SCROLLBACK = 5000
"""Maximum lines of scrollback."""
MOST_JOBS = 500
"""Maximum jobs on one page of the history."""
MOST_HANDOFFS = 500
"""Maximum handoffs on one page of the history."""
LONGEST_SEARCH = 1000
"""Maximum characters of a search."""
SCREEN_BUSY = 0.25
"""Seconds between two captures of a pane whose agent is working."""
SCREEN_IDLE = 1.0
SCREEN_AT_REST = 3.0
"""Seconds between two captures of a pane, after ten captures without a change."""

_Handler = Callable[[Request], Awaitable[Response]]
_AnyQuery = TypeVar("_AnyQuery", bound=Query)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """The components that handle requests."""

    perform: Mapping[type[Verb], Perform]
    """Contains every verb of `wire.verbs`."""
    dialog: Callable[[Agent], Awaitable[DialogStatus]]
    dependencies: Dependencies
    callers: Callers
    last_requests: LastRequests
    fleet: Fleet
    rows: RowPublisher
    elsewhere: ElsewhereRows
    engine: Engine
    history: History
    session_facts: SessionFacts
    lookups: Lookups
    worktrees: AgentWorktrees
    worktree_sizes: WorktreeSizes
    status: Callable[[], Status]
    life: Lifetime


def application(served: Served) -> Starlette:
    """Return the ASGI application, with a route for each verb and each view."""
    handlers = Views(served)
    routes = [
        Route(
            f"/v1/{verb.verb}", handlers.explained(verb.verb, handlers.verb(verb)), methods=["POST"]
        )
        for verb in VERBS
    ]
    routes += [
        Route(
            view.path.replace("{ident}", "{ident:path}"),
            handlers.explained(view.name, getattr(handlers, view.name)),
        )
        for view in VIEWS
    ]
    routes.append(Route(OPENAPI_PATH, handlers.explained("openapi", openapi)))
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


async def openapi(_: Request) -> Response:
    return Response(await asyncio.to_thread(_openapi), media_type="application/json")


@cache
def _openapi() -> bytes:
    from cockpit.wire.openapi import document  # imported here, because only this response needs it

    return json.dumps(document()).encode()


class CheckedAddresses:
    """Rejects a request whose URL is not valid text, before routing."""

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


class Views:
    """The handlers of all routes."""

    def __init__(self, served: Served) -> None:
        self._served = served

    def explained(self, name: str, handler: _Handler) -> _Handler:
        """Return the handler, with every exception in it turned into an error response."""

        async def handle(request: Request) -> Response:
            try:
                return await handler(request)
            except (CockpitError, HTTPException, ClientDisconnect):
                raise
            except asyncio.CancelledError:
                if not self._served.life.ended.is_set():
                    raise
                # The server is shutting down and cancels its requests: answer with the reason.
                raise NotNow(
                    "The supervisor is shutting down",
                    "Your request may be incomplete; the next supervisor completes or reverts it.",
                    "Start it again and check: cockpit up; cockpit status",
                ) from None
            except Exception as bug:  # around every request
                if (wrong := as_bad_usage(bug)) is not None:
                    raise wrong from bug
                logs = self._served.dependencies.places.logs
                raise Bug(f"{name} failed inside the supervisor", logs, bug) from bug

        return handle

    def verb(self, kind: type[Verb]) -> _Handler:
        """Return the handler of one verb."""

        async def handle(request: Request) -> Response:
            asked = await _body(request, kind)
            caller, callers = await self._caller(request), self._served.callers
            try:
                asked = callers.admit(caller, asked)
            except NotAllowed as refused:
                callers.note(caller, asked, refused)
                raise
            callers.note(caller, asked)
            last_requests = self._served.last_requests
            question = last_requests.question(asked)
            try:
                done = await self._served.perform[kind](asked)
            except NotNow as refused:
                raise last_requests.explained(refused, asked) from refused
            last_requests.note(asked, done, callers.actor(caller), question)
            return JSONResponse(done.model_dump())

        return handle

    async def _caller(self, request: Request) -> Caller:
        peer = request.client
        pid = peer.port if peer is not None and peer.host == PEER else None
        callers = self._served.callers
        caller = await callers.of(pid, getattr(request.state, ANCESTRY, []))
        caller = named(caller, request.headers.get(HEADER, ""), callers.own_user)
        return forwarded(caller, request.headers.get("forwarded", ""))

    async def _agent(self, request: Request) -> Agent:
        """Return the agent in the URL. Raises `NotAllowed` if the caller may not see it."""
        name = request.path_params["name"]
        self._served.callers.check_look(await self._caller(request), name)
        return self._served.fleet.agent(name)

    def _status(self, only: str | None) -> Status:
        status = self._served.status()
        if only is not None:  # other agents' costs are not an agent's to know
            own = status.supervisor.model_copy(
                update={"spent_today_usd": None, "budget_today_usd": None}
            )
            status = status.model_copy(update={"supervisor": own})
        return status.model_copy(update={"agents": names_only(status.agents, only)})

    async def status(self, request: Request) -> Response:
        only = self._served.callers.only(await self._caller(request))
        asked, status = _query(request, StatusQuery), self._status(only)
        if only is None and asked.elsewhere in ("1", "true"):
            others = await self._served.elsewhere.rows()
            status = status.model_copy(update={"elsewhere": others})
        return Response(status.model_dump_json(), media_type="application/json")

    async def caller(self, request: Request) -> Response:
        caller = await self._caller(request)
        found = CallerStatus(
            kind=caller.kind.value, name=caller.name or None, pid=caller.pid or None
        )
        return Response(found.model_dump_json(), media_type="application/json")

    async def events(self, request: Request) -> Response:
        asked = _query(request, EventsQuery)
        only = self._served.callers.only(await self._caller(request))
        if asked.follow in ("1", "true") or wants_events(request):
            after = last_event(request)
            return stream(
                request, self._follow(asked.after if after is None else after, only), asked.beat
            )
        limit = max(1, min(asked.limit, MOST_EVENTS))
        found = self._served.dependencies.event_log.since(asked.after, limit)
        return Response(
            "".join(f"{event.model_dump_json()}\n" for event in found if _is_visible(event, only)),
            media_type="application/x-ndjson",
        )

    async def _follow(self, after: int, only: str | None) -> AsyncIterator[Line]:
        listener = self._served.dependencies.event_log.listen()
        try:
            last, more = after, after > 0
            while more:
                past = self._served.dependencies.event_log.since(last, MOST_EVENTS)
                more = len(past) == MOST_EVENTS
                for event in past:
                    last = event.id
                    if _is_visible(event, only):
                        yield Line(event.model_dump_json(), event.id)
            yield Line("")
            async for event in listener.lines():
                if event.id > last and _is_visible(event, only):
                    yield Line(event.model_dump_json(), event.id)
        finally:
            self._served.dependencies.event_log.leave(listener)

    async def watch(self, request: Request) -> Response:
        asked = _query(request, WatchQuery)
        only = self._served.callers.only(await self._caller(request))
        counted = only is None and asked.elsewhere in ("1", "true")
        lines = self._watch(only, counted=counted, since=asked.since)
        return stream(request, lines, asked.beat)

    async def _watch(self, only: str | None, *, counted: bool, since: str) -> AsyncIterator[Line]:
        rows, events = self._served.rows.listen(), self._served.dependencies.event_log.listen()
        counts = self._served.elsewhere.counts()
        sources = [rows.lines(), events.lines(), *([counts] if counted else [])]
        try:
            yield Line(self._first_line(only, since).model_dump_json())
            async with aclosing(merged(*sources)) as lines:
                async for line in lines:
                    if isinstance(line, int):
                        line = ElsewhereCounted(count=line)
                    message = line if hasattr(line, "type") else Happened(event=line)
                    if only is not None and isinstance(message, AgentChanged):
                        message = AgentChanged(agent=names_only([message.agent], only)[0])
                    if not isinstance(message, Happened) or _is_visible(message.event, only):
                        yield Line(message.model_dump_json())
        finally:
            self._served.rows.leave(rows)
            self._served.dependencies.event_log.leave(events)
            await counts.aclose()

    def _first_line(self, only: str | None, since: str) -> Snapshot | Resumed:
        rows, status = self._served.rows, self._status(only)
        changes = rows.changes_since(since) if only is None else None
        if changes is None:
            return Snapshot(status=status, position=rows.position if only is None else None)
        changed, removed = changes
        return Resumed(
            status=status.model_copy(update={"agents": changed}),
            forgotten=removed,
            position=rows.position,
        )

    async def elsewhere(self, request: Request) -> Response:
        beat = _query(request, ElsewhereQuery).beat
        self._served.callers.check_look(await self._caller(request), None)
        return stream(request, self._elsewhere(), beat)

    async def _elsewhere(self) -> AsyncIterator[Line]:
        async with aclosing(self._served.elsewhere.follow()) as changes:
            async for sessions in changes:
                yield Line(Elsewhere(sessions=sessions).model_dump_json())

    async def screen(self, request: Request) -> Response:
        agent = await self._agent(request)
        if agent.record.pane is None:
            raise NotNow(f"{agent.name} has no pane", "", f"Start it: cockpit start {agent.name}")
        history = min(_query(request, ScreenQuery).history, MOST_SCROLLBACK)
        return stream(request, self._screen(str(agent.name), history))

    async def _screen(self, name: str, history: int) -> AsyncIterator[Line]:
        """Yield the pane's screen after each change. Captures only while a client is connected."""
        last, same = "", 0
        while True:
            agent = self._served.fleet.find(name)
            if agent is None or agent.record.pane is None:
                return
            try:
                seen = await self._served.dependencies.panes.capture(
                    agent.record.pane, history=history
                )
            except CockpitError:
                return
            cursor = (seen.cursor_column, seen.cursor_row) if seen.cursor_visible else None
            shot = ScreenShot(lines=list(seen.lines), cursor=cursor, pane=agent.record.pane)
            line = shot.model_dump_json()
            same = same + 1 if line == last else 0
            if line != last:
                last = line
                yield Line(line)
            busy = (
                agent.session_state.conduct.turn is Turn.WORKING or not agent.session_state.replied
            )
            rest = SCREEN_AT_REST if same > 10 else SCREEN_IDLE
            await asyncio.sleep(SCREEN_BUSY if busy and agent.alive else rest)

    async def dialog(self, request: Request) -> Response:
        agent = await self._agent(request)
        found = await self._served.dialog(agent)
        return Response(found.model_dump_json(), media_type="application/json")

    async def history(self, request: Request) -> Response:
        asked = _query(request, HistoryQuery)
        name, typed = asked.name, asked.search
        only = self._served.callers.only(await self._caller(request))
        if only is not None:
            self._served.callers.check_look(await self._caller(request), name or only)
            name = only
        if typed is not None and words(typed):
            found = await self._served.history.search(typed[:LONGEST_SEARCH], name)
            return JSONResponse([to_json(chain) for chain in found])
        if asked.handoffs:
            limit = min(asked.handoffs, MOST_HANDOFFS)
            return _paged(self._served.history.handoff_page(name, limit, asked.before))
        if asked.limit:
            limit = min(asked.limit, MOST_JOBS)
            return _paged(self._served.history.page(name, limit, asked.before))
        jobs = self._served.history.jobs_of(name)
        listed = _listed(self._served.history.chains(jobs))
        return StreamingResponse(listed, media_type="application/json")

    async def document(self, request: Request) -> Response:
        caller, ident = await self._caller(request), request.path_params["ident"]
        callers, history = self._served.callers, self._served.history
        only = callers.only(caller)
        if only is not None:
            callers.check_look(caller, history.agent_of(ident, only))
        for_agent = caller.kind is CallerKind.AGENT
        return PlainTextResponse(await history.document(ident, only, for_agent=for_agent))

    async def worktrees(self, request: Request) -> Response:
        only = self._served.callers.only(await self._caller(request))
        asked = _query(request, WorktreesQuery)
        found = await self._served.worktrees.listing(asked.directory)
        found = [tree for tree in found if only in (None, tree.agent)]
        if asked.sizes in ("1", "true"):
            # A stream, because only that ends when the client disconnects.
            measured = _listed_trees(self._served.worktree_sizes.measured(found))
            return StreamingResponse(measured, media_type="application/json")
        return JSONResponse([tree.model_dump() for tree in found])

    async def continuation(self, request: Request) -> Response:
        agent = await self._agent(request)
        return PlainTextResponse(self._served.engine.continuation(agent))

    async def facts(self, request: Request) -> Response:
        agent, session = await self._agent(request), _query(request, FactsQuery).session
        if session is None or session == agent.record.session:
            return JSONResponse(await self._served.session_facts.of_agent(agent))
        return JSONResponse(await self._served.session_facts.of_earlier(agent, session))

    async def course(self, request: Request) -> Response:
        agent = await self._agent(request)
        found = await self._served.lookups.course(agent)
        return Response(found.model_dump_json(), media_type="application/json")

    async def diff(self, request: Request) -> Response:
        agent = await self._agent(request)
        of_job = _query(request, DiffQuery).since == "job"
        found = await self._served.lookups.diff(agent, of_job=of_job)
        return Response(found.model_dump_json(), media_type="application/json")


async def _body(request: Request, kind: type[Verb]) -> Verb:
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST_REQUEST:
            raise BadUsage(
                "The request is too long",
                f"The maximum is {LARGEST_REQUEST // 1024} KiB.",
                hint="Put a long prompt into a file that the agent reads.",
            )
    title = f"The request {kind.verb} is not valid"
    try:
        found = json.loads(raw or b"{}")
    except RecursionError:
        raise BadUsage(
            title,
            "The body is nested too deeply.",
            hint="Send fewer levels; GET /openapi.json describes each request.",
        ) from None
    except ValueError:
        raise BadUsage(
            title,
            "The body is not JSON.",
            hint="Send a JSON object; GET /openapi.json describes each request.",
        ) from None
    check_values(found)
    return validated(kind, found, title)


def _query(request: Request, kind: type[_AnyQuery]) -> _AnyQuery:
    title = f"The query of {request.url.path} is not valid"
    return validated(kind, dict(request.query_params), title, of_address=True)


def _is_visible(event: Event, only: str | None) -> bool:
    return only is None or event.agent == only


async def _listed_trees(source: AsyncIterator[WorktreeStatus]) -> AsyncIterator[bytes]:
    """Yield a JSON list."""
    between = b"["
    async for tree in source:
        yield between + json.dumps(tree.model_dump()).encode()
        between = b","
    yield b"[]" if between == b"[" else b"]"


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
    """Yield a chain as JSON, some sessions at a time: a job can have thousands."""
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


def bind(path: Path) -> Listener:
    """Create a listening socket of mode 0600 at the path; replaces an existing file.

    Only the holder of the supervisor's lock may call this. Raises `Failed`.
    """
    listener = Listener(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # On Linux the file gets the mode of the socket. Setting the umask instead would affect
        # other threads of the process.
        os.fchmod(listener.fileno(), 0o600)
        path.unlink(missing_ok=True)
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise Failed(
            f"Cannot bind {path}",
            error.strerror or str(error),
            hint="Check the free disk space, and COCKPIT_HOME's permissions and length.",
        ) from error
    listener.listen(64)
    listener.setblocking(False)
    return listener


async def accept_on(serving: uvicorn.Server, listener: socket.socket) -> None:
    """Make a running server accept on this socket instead of its earlier ones.

    Open connections continue. Does what `uvicorn.Server.startup` does for its own sockets.
    """
    config = serving.config

    def protocol() -> asyncio.Protocol:
        return UserOnly(
            config=config, server_state=serving.server_state, app_state=serving.lifespan.state
        )

    loop = asyncio.get_running_loop()
    new = await loop.create_server(protocol, sock=listener, backlog=config.backlog)
    before, serving.servers = serving.servers, [new]
    for earlier in before:
        earlier.close()


def server(app: Starlette) -> uvicorn.Server:
    """Return a server that leaves signals, logging and process exit to its caller."""
    config = uvicorn.Config(
        app,
        http=UserOnly,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
        server_header=False,
        date_header=False,
    )
    return uvicorn.Server(config)

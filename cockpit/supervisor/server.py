"""HTTP and JSON on the supervisor's unix socket. See `wire.verbs` for what may be asked.

Only the pilot's own user is let in: the socket lies in a private folder, is 0600, and whoever
connects is asked of the kernel before a byte is read. A refusal is a `Refusal` with an HTTP status
that means the same.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from cockpit.core.errors import BadUsage, CockpitError, Failed, NotNow
from cockpit.core.handoff.events import Turn
from cockpit.supervisor import history, lookups, worktrees
from cockpit.supervisor.supervisor import Supervisor
from cockpit.supervisor.verbs import PERFORM
from cockpit.wire.stream import Happened, ScreenShot, Snapshot
from cockpit.wire.verbs import VERBS, Refusal, Verb

LARGEST_REQUEST = 2 * 1024 * 1024
LONGEST_SEARCH = 1000
"""Characters of what is searched for."""
SCREEN_BUSY = 0.25
"""Seconds between two looks at the pane of an agent that works."""
SCREEN_IDLE = 1.0
SCREEN_AT_REST = 3.0
"""After ten looks that found nothing new."""

_STATUS = {1: 500, 2: 400, 3: 404, 4: 503, 5: 409, 6: 424}
_PEER = struct.Struct("3i")
_log = logging.getLogger(__name__)


class PilotOnly(H11Protocol):
    """Closes a connection of another user before anything of it is read."""

    def connection_made(self, transport: Any) -> None:
        peer = transport.get_extra_info("socket")
        raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        _, uid, _ = _PEER.unpack(raw)
        if uid not in (os.geteuid(), 0):
            transport.abort()
            return
        super().connection_made(transport)


def application(supervisor: Supervisor) -> Starlette:
    """Every route; a verb has its own, by its name."""
    views = Views(supervisor)
    routes = [Route(f"/v1/{verb.verb}", views.verb(verb), methods=["POST"]) for verb in VERBS]
    routes += [
        Route("/v1/status", views.status),
        Route("/v1/events", views.events),
        Route("/v1/watch", views.watch),
        Route("/v1/screen/{name}", views.screen),
        Route("/v1/history", views.history),
        Route("/v1/document/{ident:path}", views.document),
        Route("/v1/continuation/{name}", views.continuation),
        Route("/v1/facts/{name}", views.facts),
        Route("/v1/worktrees", views.worktrees),
        Route("/v1/course/{name}", views.course),
        Route("/v1/diff/{name}", views.diff),
    ]
    return Starlette(
        routes=routes,
        exception_handlers={CockpitError: _refused, HTTPException: _no_such_thing},
    )


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, CockpitError)
    return refusal(error)


async def _no_such_thing(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = Refusal(
        exit_code=2,
        title="The supervisor does not know this request",
        detail=str(error.detail),
        hint="Is it another version? cockpit doctor",
    )
    return JSONResponse(told.model_dump(), status_code=error.status_code)


def refusal(error: CockpitError) -> Response:
    told = Refusal(
        exit_code=error.exit_code, title=error.title, detail=error.detail, hint=error.hint
    )
    return JSONResponse(told.model_dump(), status_code=_STATUS.get(error.exit_code, 500))


class Views:
    """What is answered, for one supervisor."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._of = supervisor

    def verb(self, kind: type[Verb]) -> Any:
        """The handler of one verb. A bug in it is this request's alone."""

        async def handle(request: Request) -> Response:
            asked = await _body(request, kind)
            try:
                done = await PERFORM[kind](self._of, asked)
            except CockpitError:
                raise
            except Exception as bug:  # the one place around one request
                _log.exception("%s failed", kind.verb)
                raise Failed(
                    f"{kind.verb} failed inside the supervisor",
                    repr(bug),
                    f"The log has more: {self._of.instruments.places.logs}",
                ) from bug
            return JSONResponse(done.model_dump())

        return handle

    async def status(self, _: Request) -> Response:
        return Response(self._of.status().model_dump_json(), media_type="application/json")

    async def events(self, request: Request) -> Response:
        after, limit = _number(request, "after", 0), _number(request, "limit", 200)
        if not request.query_params.get("follow"):
            found = self._of.feed.since(after, max(1, min(limit, 5000)))
            return Response(
                "".join(f"{event.model_dump_json()}\n" for event in found),
                media_type="application/x-ndjson",
            )
        return _lines(self._follow(after))

    async def _follow(self, after: int) -> AsyncIterator[str]:
        listener = self._of.feed.listen()
        try:
            last = after
            for event in self._of.feed.since(after, 5000) if after else []:
                last = event.id
                yield event.model_dump_json()
            yield ""
            async for event in listener.lines():
                if event.id > last:
                    yield event.model_dump_json()
        finally:
            self._of.feed.leave(listener)

    async def watch(self, request: Request) -> Response:
        beat = _number(request, "beat", 0)
        return _lines(_beating(self._watch(), beat) if beat > 0 else self._watch())

    async def _watch(self) -> AsyncIterator[str]:
        rows, events = self._of.board.listen(), self._of.feed.listen()
        try:
            yield Snapshot(status=self._of.status()).model_dump_json()
            async for line in _merged(rows.lines(), events.lines()):
                told = line if hasattr(line, "type") else Happened(event=line)
                yield told.model_dump_json()
        finally:
            self._of.board.leave(rows)
            self._of.feed.leave(events)

    async def screen(self, request: Request) -> Response:
        seat = self._of.fleet.seat(request.path_params["name"])
        if seat.record.pane is None:
            raise NotNow(f"{seat.name} has no pane", "", f"Start it: cockpit start {seat.name}")
        history = max(0, min(_number(request, "history", 0), 5000))
        return _lines(self._screen(str(seat.name), history))

    async def _screen(self, name: str, history: int) -> AsyncIterator[str]:
        """A picture whenever it differs from the last; captured only while somebody looks."""
        last, same = "", 0
        while True:
            seat = self._of.fleet.find(name)
            if seat is None or seat.record.pane is None:
                return
            try:
                seen = await self._of.instruments.panes.capture(seat.record.pane, history=history)
            except CockpitError:
                return
            cursor = (seen.cursor_column, seen.cursor_row) if seen.cursor_visible else None
            shot = ScreenShot(lines=list(seen.lines), cursor=cursor, pane=seat.record.pane)
            told = shot.model_dump_json()
            same = same + 1 if told == last else 0
            if told != last:
                last = told
                yield told
            busy = seat.sitting.conduct.turn is Turn.WORKING or not seat.sitting.replied
            rest = SCREEN_AT_REST if same > 10 else SCREEN_IDLE
            await asyncio.sleep(SCREEN_BUSY if busy and seat.alive else rest)

    async def history(self, request: Request) -> Response:
        name, typed = (request.query_params.get(each) for each in ("name", "search"))
        if typed is None:
            return JSONResponse(history.chains(self._of, name))
        return JSONResponse(await history.search(self._of, typed[:LONGEST_SEARCH], name))

    async def document(self, request: Request) -> Response:
        return PlainTextResponse(history.document(self._of, request.path_params["ident"]))

    async def worktrees(self, request: Request) -> Response:
        found = await worktrees.listing(self._of, request.query_params.get("directory"))
        return JSONResponse([tree.model_dump() for tree in found])

    async def continuation(self, request: Request) -> Response:
        seat = self._of.fleet.seat(request.path_params["name"])
        return PlainTextResponse(self._of.engine.continuation(seat))

    async def facts(self, request: Request) -> Response:
        seat = self._of.fleet.seat(request.path_params["name"])
        return JSONResponse(await history.facts(self._of, seat))

    async def course(self, request: Request) -> Response:
        seat = self._of.fleet.seat(request.path_params["name"])
        found = await lookups.course(self._of, seat)
        return Response(found.model_dump_json(), media_type="application/json")

    async def diff(self, request: Request) -> Response:
        seat = self._of.fleet.seat(request.path_params["name"])
        of_job = request.query_params.get("since") == "job"
        found = await lookups.diff(self._of, seat, of_job=of_job)
        return Response(found.model_dump_json(), media_type="application/json")


async def _body(request: Request, kind: type[Verb]) -> Verb:
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST_REQUEST:
            raise BadUsage(
                "The request is too long", f"{LARGEST_REQUEST // 1024} KiB is the limit."
            )
    try:
        return kind.model_validate(json.loads(raw or b"{}"))
    except (ValueError, ValidationError) as wrong:
        raise BadUsage(f"The request {kind.verb} does not read", str(wrong)) from None


def _number(request: Request, name: str, otherwise: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else otherwise


def _lines(source: AsyncIterator[str]) -> Response:
    async def encoded() -> AsyncIterator[bytes]:
        async for line in source:
            yield f"{line}\n".encode("utf-8", "replace")

    return StreamingResponse(encoded(), media_type="application/x-ndjson")


async def _beating(source: AsyncIterator[str], seconds: float) -> AsyncIterator[str]:
    """The lines, and an empty one whenever nothing was said for so long: proof of a living line."""
    said = asyncio.ensure_future(anext(source))
    try:
        while True:
            ready, _ = await asyncio.wait({said}, timeout=seconds)
            if not ready:
                yield ""
                continue
            try:
                line = said.result()
            except StopAsyncIteration:
                return
            yield line
            said = asyncio.ensure_future(anext(source))
    finally:
        said.cancel()
        await asyncio.gather(said, return_exceptions=True)


async def _merged(*sources: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Lines of several sources as they come; ends with the first that ends."""
    waiting = {asyncio.ensure_future(anext(source)): source for source in sources}
    try:
        while True:
            ready, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in ready:
                source = waiting.pop(task)
                try:
                    line = task.result()
                except StopAsyncIteration:
                    return
                yield line
                waiting[asyncio.ensure_future(anext(source))] = source
    finally:
        for task in waiting:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*waiting, return_exceptions=True)


def bind(path: Path) -> socket.socket:
    """A listening socket at the path, 0600 from its first moment; a dead one is replaced.

    Only the holder of the supervisor's lock may call this.
    """
    with suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise Failed(f"{path} cannot be bound", error.strerror or str(error)) from error
    finally:
        os.umask(before)
    listener.listen(64)
    listener.setblocking(False)
    return listener


def server(app: Starlette) -> uvicorn.Server:
    """A server that leaves signals, logging and the end of the process to its caller."""
    config = uvicorn.Config(
        app,
        http=PilotOnly,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
        server_header=False,
        date_header=False,
    )
    return uvicorn.Server(config)

"""The supervisor's API for `cockpit serve`: decide who may ask what, and pass the request on.

A request needs a token in its `Authorization` header, which no page of another site can send
without asking first, and nothing here answers such a question (no CORS). The browser's cookie is
good for reading only, and only for our own page: a page at another port of this machine, such as
the development server of an agent, counts as the same site and would send it. `Host` must name this
machine, because another site's name may resolve to it. Listens to nothing, uses no library.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from cockpit.adapters.browser.access import AccessCheck
from cockpit.core.errors import BadUsage, NotAllowed

PREFIX = "/v1/"
LARGEST_BODY = 2 * 1024 * 1024
"""Bytes; the supervisor takes no more either."""
MOST_OPEN = 128
"""Requests at a time: half of what the supervisor allows one process."""
READING = frozenset({"GET", "HEAD"})
SERVER_SENT = "text/event-stream"
_SENT = ("accept", "content-type", "last-event-id")
_RETURNED = frozenset({"allow", "cache-control", "content-length", "content-type"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, without its body."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    """Names in lower case."""
    cookie: str = ""
    """The value of our cookie."""
    address: str = ""
    """The client's."""
    upgrades: bool = False
    """It wants a WebSocket."""


class Answer(Protocol):
    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Names in lower case."""

    @property
    def blocks(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""


@dataclass(frozen=True, slots=True)
class _Returned:
    status: int
    headers: Mapping[str, str]
    blocks: AsyncIterator[bytes]


class Upstream(Protocol):
    """The supervisor that is asked."""

    def ask(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> AbstractAsyncContextManager[Answer]:
        """Send a request; the response is read inside the block. Raises `NoSupervisor`."""


class Denied(NotAllowed):
    """The request may not be made here."""

    def __init__(
        self, status: int, kind: str, title: str, detail: str = "", hint: str = ""
    ) -> None:
        """`kind` is one of `core.problems.KINDS`."""
        super().__init__(title, detail, hint)
        self.status = status
        self.kind = kind


class Gateway:
    """Checks requests, and passes them on to one supervisor."""

    def __init__(
        self, access: AccessCheck, upstream: Upstream, description: bytes, *, write: bool
    ) -> None:
        """`description` answers `/openapi.json`; `write` allows requests that change something."""
        self._access = access
        self._upstream = upstream
        self._write = write
        self._open = 0
        self.description = description

    def check(self, asked: Asked) -> None:
        """Raise `Denied` unless the request may be made. Looks at nothing but its head."""
        self._check_page(asked)
        reads = asked.method in READING
        if self._has_token(asked):
            if not reads and not self._write:
                raise Denied(
                    403, "read-only", "The API of this server is read-only",
                    "It was started without --write.", "Start it with: cockpit serve --write",
                )  # fmt: skip
        elif not (reads and self._is_our_page(asked)):
            raise Denied(
                401, "not-let-in", "The token is missing or wrong", "",
                "Send the one that `cockpit serve` printed: Authorization: Bearer TOKEN",
            )  # fmt: skip

    def _check_page(self, asked: Asked) -> None:
        host, origin = asked.headers.get("host", ""), asked.headers.get("origin")
        if not self._access.is_known_host(host):
            raise Denied(403, "foreign-page", "This is not a name of this machine")
        site = asked.headers.get("sec-fetch-site", "none")
        ours = origin is None or self._access.is_ours(origin, host)
        if not ours or site not in ("none", "same-origin"):
            raise Denied(403, "foreign-page", "A page of another site asks")

    def _has_token(self, asked: Asked) -> bool:
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and (
            self._access.is_api_token(token.strip()) or self._access.is_token(token.strip())
        )

    def _is_our_page(self, asked: Asked) -> bool:
        """Whether the user's browser asks, for our page or for the address in its address bar."""
        # A browser sends at least one of these; a request without any has no proof of its page.
        told = "origin" in asked.headers or "sec-fetch-site" in asked.headers
        return told and self._access.is_session_cookie(asked.cookie)

    @asynccontextmanager
    async def answer(
        self, asked: Asked, body: Callable[[], Awaitable[bytes]]
    ) -> AsyncIterator[Answer]:
        """Return the supervisor's response to a checked request. Raises `NoSupervisor` and
        `Denied`.

        The request counts as open while `body` reads its body, too.
        """
        if self._open >= MOST_OPEN:
            raise Denied(
                503, "not-now", "Too many requests at a time", f"{MOST_OPEN} are open.",
                "Close some of them.",
            )  # fmt: skip
        sent = {name: asked.headers[name] for name in _SENT if name in asked.headers}
        if asked.upgrades:
            sent["accept"] = SERVER_SENT
        address = f"[{asked.address}]" if ":" in asked.address else asked.address
        sent["forwarded"] = f'for="{address}"'
        target = f"{asked.path}?{asked.query}" if asked.query else asked.path
        self._open += 1
        try:
            async with self._upstream.ask(asked.method, target, sent, await body()) as answer:
                kept = {name: text for name, text in answer.headers.items() if name in _RETURNED}
                if asked.upgrades and answer.status == 200 and not is_stream(answer):
                    raise BadUsage("This address is no stream", "It has nothing for a WebSocket.")
                yield _Returned(answer.status, kept, answer.blocks)
        finally:
            self._open -= 1


def is_stream(answer: Answer) -> bool:
    """Whether the response is server-sent events."""
    return answer.headers.get("content-type", "").startswith(SERVER_SENT)


async def messages(answer: Answer) -> AsyncIterator[str]:
    """The data of server-sent events, each in one line, as the supervisor writes them."""
    held = b""
    async for block in answer.blocks:
        *whole, held = (held + block).split(b"\n")
        for line in whole:
            if line.startswith(b"data: "):
                yield line[len(b"data: ") :].decode("utf-8", "replace")

"""The supervisor's API for `cockpit serve`: check requests and forward them.

A request needs a token in its `Authorization` header. A page of another site cannot send the
header, because the gateway refuses the browser's CORS preflight request. The browser's cookie
allows only reading, and only for cockpit's own page and the address bar. A page at another port of
this machine, such as an agent's development server, is on the same site, so the browser sends the
cookie with that page's requests too.

`Host` must name this machine, because another site's name may resolve to this machine. This module
does no network I/O and uses no library.
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
"""Maximum bytes of a request's body; the supervisor has the same limit."""
MOST_OPEN = 128
"""Maximum concurrent requests: half of the supervisor's limit for one process."""
READING = frozenset({"GET", "HEAD"})
SERVER_SENT = "text/event-stream"
_SENT = ("accept", "content-type", "last-event-id")
_RETURNED = frozenset({"allow", "cache-control", "content-length", "content-type"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to the API, without its body."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    """Header values by name; names are in lower case."""
    cookie: str = ""
    """The value of cockpit's cookie."""
    address: str = ""
    """The client's IP address."""
    upgrades: bool = False
    """Whether the request asks for a WebSocket."""


class Answer(Protocol):
    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Header values by name; names are in lower case."""

    @property
    def blocks(self) -> AsyncIterator[bytes]:
        """The response's body, in pieces as they arrive."""


@dataclass(frozen=True, slots=True)
class _Returned:
    status: int
    headers: Mapping[str, str]
    blocks: AsyncIterator[bytes]


class Upstream(Protocol):
    """Sends the gateway's requests to the supervisor."""

    def ask(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> AbstractAsyncContextManager[Answer]:
        """Send a request. The response can be read in the `async with` block. Raises
        `NoSupervisor`."""


class Denied(NotAllowed):
    """The gateway refuses the request: it is not allowed, or too many requests are open."""

    def __init__(
        self, status: int, kind: str, title: str, detail: str = "", hint: str = ""
    ) -> None:
        """`kind` is one of `core.problems.KINDS`."""
        super().__init__(title, detail, hint)
        self.status = status
        self.kind = kind


class Gateway:
    """Checks requests, and forwards them to one supervisor."""

    def __init__(
        self, access: AccessCheck, upstream: Upstream, description: bytes, *, write: bool
    ) -> None:
        """`description` is the response of `/openapi.json`; `write` allows requests that change
        something."""
        self._access = access
        self._upstream = upstream
        self._write = write
        self._open = 0
        self.description = description

    def check(self, asked: Asked) -> None:
        """Raise `Denied` unless the request is allowed. Reads only the headers."""
        self._check_page(asked)
        reads = asked.method in READING
        if self._has_token(asked):
            if not reads and not self._write:
                raise Denied(
                    403, "read-only", "The API of this server is read-only",
                    "The server was started without --write.",
                    "Start the server with: cockpit serve --write",
                )  # fmt: skip
        elif not (reads and self._is_our_page(asked)):
            raise Denied(
                401, "not-let-in", "The token is missing or wrong", "",
                "Send the token that `cockpit serve` printed: Authorization: Bearer TOKEN",
            )  # fmt: skip

    def _check_page(self, asked: Asked) -> None:
        host, origin = asked.headers.get("host", ""), asked.headers.get("origin")
        if not self._access.is_known_host(host):
            raise Denied(
                403, "foreign-page", "Unknown Host header",
                "The request's Host is not an address of this server.",
                "Use the address that `cockpit serve` printed.",
            )  # fmt: skip
        site = asked.headers.get("sec-fetch-site", "none")
        ours = origin is None or self._access.is_ours(origin, host)
        if not ours or site not in ("none", "same-origin"):
            raise Denied(
                403, "foreign-page", "Cross-origin request refused",
                "A page of another origin sent the request.",
                "Send the request from a program, without the headers Origin and Sec-Fetch-Site.",
            )  # fmt: skip

    def _has_token(self, asked: Asked) -> bool:
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and (
            self._access.is_api_token(token.strip()) or self._access.is_token(token.strip())
        )

    def _is_our_page(self, asked: Asked) -> bool:
        """Return whether the request has a valid cookie, and an `Origin` or `Sec-Fetch-Site`
        header. `_check_page` has already refused pages other than cockpit's own."""
        # A browser sends at least one of these headers. Without one, the page is unknown.
        names_its_page = "origin" in asked.headers or "sec-fetch-site" in asked.headers
        return names_its_page and self._access.is_session_cookie(asked.cookie)

    @asynccontextmanager
    async def answer(
        self, asked: Asked, body: Callable[[], Awaitable[bytes]]
    ) -> AsyncIterator[Answer]:
        """Yield the supervisor's response to a checked request.

        Raises `NoSupervisor`, `Denied` if `MOST_OPEN` requests are open, `BadUsage` for a WebSocket
        to a path without a stream, and what `body` raises.

        The request counts toward `MOST_OPEN` from the call of `body` to the end of the response.
        """
        if self._open >= MOST_OPEN:
            raise Denied(
                503, "not-now", "Too many concurrent requests", f"The limit is {MOST_OPEN}.",
                "Close some requests, then try again.",
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
                    raise BadUsage(
                        "WebSocket is not supported for this path",
                        hint="Use HTTP; /v1/events can send Server-Sent Events.",
                    )
                yield _Returned(answer.status, kept, answer.blocks)
        finally:
            self._open -= 1


def is_stream(answer: Answer) -> bool:
    """Return whether the response is a stream of server-sent events."""
    return answer.headers.get("content-type", "").startswith(SERVER_SENT)


async def messages(answer: Answer) -> AsyncIterator[str]:
    """Yield the data of server-sent events; the supervisor writes an event's data in one line."""
    held = b""
    async for block in answer.blocks:
        *whole, held = (held + block).split(b"\n")
        for line in whole:
            if line.startswith(b"data: "):
                yield line[len(b"data: ") :].decode("utf-8", "replace")

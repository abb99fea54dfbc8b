"""Limit the number of connections to the supervisor, and the time to receive a request.

The limits keep an agent from locking out the user. There are limits for each agent, for all agents
together, for each process of the user, and for all processes together. A connection above a limit
gets a response with the reason.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
from collections import Counter
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from cockpit.adapters.process.peers import peer_of, while_alive
from cockpit.core.errors import BadUsage, CockpitError, NotNow
from cockpit.core.problems import MEDIA_TYPE, problem
from cockpit.ports.processes import Ancestor

HEAD_SECONDS = 10.0
"""Time limit for receiving the headers, in seconds."""
BODY_SECONDS = 60.0
"""Time limit for receiving the body, in seconds; a long prompt over ssh can be slow."""
MOST_OF_AGENT = 64
"""Maximum connections of all processes of one agent."""
MOST_OF_PROCESS = 256
"""Maximum connections of one process of the user, such as a screen or a script."""
MOST_OF_ALL = 1_024
"""Maximum connections in total; fewer if the supervisor may open only few files. All agents
together may have half of the maximum."""
SPARE = 256
"""Number of file descriptors that are reserved for other uses."""
LOOKED_AT_FROM = 32
"""The limits are checked only if at least this many connections are open."""
REFUSED_AT_ONCE = 64
"""Maximum number of refused connections that may send their request before they get the refusal."""
REFUSED_SECONDS = 1.0

PEER = "process"
"""The host in a request's `client`; the port in `client` is the process id."""

_PHRASES = {400: "Bad Request", 408: "Request Timeout", 503: "Service Unavailable"}

ANCESTRY = "ancestry"
"""Key in a request's `state` for the process that connected, its parent, and so on.

Read when the connection is accepted, so that a process that ends later is still known. Empty if
the process had already ended.
"""

AgentOf = Callable[[int], str | None]
"""Returns the agent that runs the process with this pid; None for no agent, empty if unknown."""
AncestryOf = Callable[[int], list[Ancestor]]


class Connections:
    """Counts the open connections of one supervisor by client process."""

    def __init__(self, agent_of: AgentOf, ancestry_of: AncestryOf) -> None:
        self._agent_of = agent_of
        self.ancestry_of = ancestry_of
        self._open: Counter[int] = Counter()
        self._agents: dict[int, str | None] = {}
        self.refused = 0
        """Number of refused connections that are still open."""

    def __len__(self) -> int:
        return self._open.total()

    def add(self, pid: int) -> None:
        """Count a connection of this process. Raises `NotNow` if the connection exceeds a limit."""
        if len(self) >= LOOKED_AT_FROM:
            self._check(pid)
        self._open[pid] += 1

    def remove(self, pid: int) -> None:
        """Stop counting a connection of this process."""
        self._open[pid] -= 1
        if self._open[pid] <= 0:
            del self._open[pid]
            self._agents.pop(pid, None)

    def _check(self, pid: int) -> None:
        agent, most = self._agent(pid), _most()
        if agent is None:
            if self._open[pid] >= MOST_OF_PROCESS:
                raise _too_many(f"Process {pid} has {self._open[pid]} connections", MOST_OF_PROCESS)
        else:
            agents = {other: self._agent(other) for other in self._open}
            own = sum(self._open[other] for other, name in agents.items() if name == agent)
            if own >= MOST_OF_AGENT:
                raise _too_many(
                    f"{agent or 'An unknown agent'} has {own} connections", MOST_OF_AGENT
                )
            together = sum(self._open[other] for other, name in agents.items() if name is not None)
            if together >= most // 2:
                raise _too_many(f"All agents together have {together} connections", most // 2)
        if len(self) >= most:
            pid, count = self._open.most_common(1)[0]
            raise _too_many(f"{len(self)} connections are open, {count} by process {pid}", most)

    def _agent(self, pid: int) -> str | None:
        if pid not in self._agents:
            self._agents[pid] = self._agent_of(pid)
        return self._agents[pid]


def _most() -> int:
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST_OF_ALL if soft == resource.RLIM_INFINITY else max(2, min(MOST_OF_ALL, soft - SPARE))


def _too_many(who: str, most: int) -> NotNow:
    return NotNow(
        "Too many connections to the supervisor",
        f"{who}; the maximum is {most}.",
        "Close connected screens or scripts, and try again.",
    )


class UserOnly(H11Protocol):
    """A connection of the user or of root. Connections of other users are closed unread."""

    _pid: int | None = None
    """The process whose count includes this connection; None if not counted."""
    _refused: NotNow | None = None
    _deadline: asyncio.TimerHandle | None = None
    _waits_for: str | None = None
    """The state of the request for which the deadline was set; None without a deadline."""

    def connection_made(self, transport: Any) -> None:
        peer = transport.get_extra_info("socket")
        try:
            pid, uid = peer_of(peer)
        except OSError:  # macOS reports no peer after it has disconnected
            transport.abort()
            return
        if uid not in (os.geteuid(), 0):
            transport.abort()
            return
        super().connection_made(transport)
        # The request's `client`; uvicorn does not set it on a unix socket.
        self.client = (PEER, pid)
        try:
            self._table.add(pid)
        except NotNow as refused:
            self._refuse(refused)
            return
        self._pid = pid
        above = while_alive(peer, lambda: self._table.ancestry_of(pid)) or []
        self.app_state = {**self.app_state, ANCESTRY: above}
        self._update_deadline()

    @property
    def _table(self) -> Connections:
        table: Connections = self.config.app.state.connections  # type: ignore[union-attr]
        return table

    def connection_lost(self, exc: Exception | None) -> None:
        if self.transport is None:
            return  # a connection of another user
        self._clear_deadline()
        if self._pid is not None:
            self._table.remove(self._pid)
        if self._refused is not None:
            self._table.refused -= 1
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused is not None:
            self._answer(503, self._refused)
            return
        super().data_received(data)
        self._update_deadline()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update_deadline()

    # Refusals

    def _refuse(self, why: NotNow) -> None:
        """Refuse the connection after its first data, or after a short wait.

        A client that is still writing its request cannot read a response. Refuses at once if more
        than `REFUSED_AT_ONCE` refused connections are open.
        """
        self._refused = why
        self._table.refused += 1
        if self._table.refused > REFUSED_AT_ONCE:
            self._answer(503, why)
        else:
            self._deadline = self.loop.call_later(REFUSED_SECONDS, self._answer, 503, why)

    def _answer(self, status: int, why: CockpitError) -> None:
        if self.transport.is_closing():
            return
        body = json.dumps(problem(why, status=status)).encode()
        head = f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: {MEDIA_TYPE}\r\n"
        self.transport.write(f"{head}Connection: close\r\n".encode())
        self.transport.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Respond to data that is not HTTP, with cockpit's own message instead of uvicorn's."""
        self._answer(
            400,
            BadUsage(
                "Invalid HTTP/1.1 request",
                hint="Send an HTTP/1.1 request; GET /openapi.json describes each request.",
            ),
        )

    # The time limit of a request

    def _update_deadline(self) -> None:
        """Set the time limit for the current state of the request."""
        state = repr(self.conn.their_state)  # `repr` gives the name of an h11 state
        idle = state == "IDLE" and self.cycle is not None and not self.conn.trailing_data[0]
        if idle or state not in ("IDLE", "SEND_BODY") or self.transport.is_closing():
            self._clear_deadline()
        elif state != self._waits_for:
            self._clear_deadline()
            self._waits_for = state
            seconds = HEAD_SECONDS if state == "IDLE" else BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self._too_late, seconds)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self._waits_for = None

    def _too_late(self, seconds: float) -> None:
        why = NotNow(
            "The request was not received in time", f"The maximum is {seconds:g} s.", "Try again."
        )
        if repr(self.conn.our_state) in ("IDLE", "SEND_RESPONSE"):
            self._answer(408, why)
        self.transport.close()

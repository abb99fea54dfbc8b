"""The client of a running supervisor: HTTP/1.1 and JSON, over a unix socket or another connection.

This module has the URL paths of all requests. The client keeps no connection or state between
calls, so a restarted supervisor can answer the next call. Callers retry if needed. Each request has
a connection of its own, so h11 on asyncio streams suffices; a client with a connection pool, such
as httpx, would only add to the start-up time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from cockpit.client.connection import Address
from cockpit.client.exchange import Exchange
from cockpit.client.foreign_answers import ForeignAnswers
from cockpit.client.parsing import Parsed, WatchLines, parsed
from cockpit.core.errors import BadUsage
from cockpit.wire.caller import CallerStatus
from cockpit.wire.course import Course
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.facts import SessionFacts
from cockpit.wire.history import HistoryChain, HistoryPage
from cockpit.wire.status import ElsewhereSession, Status
from cockpit.wire.stream import Event, Resumed, ScreenShot, Snapshot, WatchLine
from cockpit.wire.verbs import DocumentSession, Done, RemoveWorktree, Verb
from cockpit.wire.worktrees import WorktreeStatus

STATE_SECONDS = 10.0
"""Time limit in seconds for responses about the current state."""
TRANSCRIPT_SECONDS = 60.0
"""Time limit in seconds for reading whole transcripts, or a large repository."""
VERB_SECONDS = 90.0
"""Time limit in seconds for a verb, because ending an agent may take SIGTERM and SIGKILL. The same
limit applies to reading worktrees, a dialog, or the sessions that no cockpit started."""
REMOVAL_SECONDS = 1800.0
"""Time limit in seconds for requests that read or copy a worktree of many gigabytes, or that wait
until a copy of a session has written a document."""
PAGE_JOBS = 100
"""Jobs per request when reading the whole history."""
MISSED_BEATS = 3
"""Number of missing keepalive messages after which the connection counts as lost."""
MOST_PAGES = 1000
"""Maximum number of pages of history that are read from another machine."""


def in_path(name: str) -> str:
    """Return a name quoted for a URL path. A name that is not UTF-8 then matches no agent."""
    return quote(name, safe="", errors="replace")


def _page(answer: Any) -> HistoryPage:
    """Parse the response to a page request.

    An older supervisor has no pages and returns the whole history.
    """
    if not isinstance(answer, list):
        return HistoryPage.model_validate(answer)
    chains = [HistoryChain.model_validate(chain) for chain in answer]
    handoffs = [len(session.handoffs) for chain in chains for session in chain.sessions]
    return HistoryPage(chains=chains, total=sum(handoffs))


class HttpClient:
    """A client of one supervisor. All errors are `CockpitError`s."""

    def __init__(self, address: Path | Address, host: str | None = None, beat: int = 0) -> None:
        """`host` is the user's name for another machine. It replaces `local`, the name that the
        machine's own supervisor reports.

        With a `beat`, in seconds, the supervisor sends a keepalive message when it has nothing else
        to send. After `MISSED_BEATS` missing messages the connection counts as lost, because a
        connection to another machine can break without an error.
        """
        self.address = address
        self.host = host
        self.beat = beat
        self._foreign = None if isinstance(address, Path) else ForeignAnswers(address.name)

    @property
    def remark(self) -> str:
        return "" if isinstance(self.address, Path) else self.address.remark

    async def status(self) -> Status:
        """Return the current state of all agents."""
        status = parsed(Status.model_validate_json, await self._get("/v1/status"))
        return self._named(status if self._foreign is None else self._foreign.status(status))

    async def watch(
        self, *, elsewhere: bool = False, day: bool = False, since: str | None = None
    ) -> AsyncIterator[WatchLine]:
        """Yield a snapshot (or `Resumed`, see `Supervisor.watch`), then changes and events.

        Raises `NoSupervisor` when the supervisor ends, and `Failed` for an invalid snapshot. Skips
        other lines that this version cannot parse.
        """
        parameters = {
            "beat": self.beat,
            "elsewhere": int(elsewhere),
            "day": int(day),
            "since": since,
        }
        query = urlencode({name: value for name, value in parameters.items() if value})
        target = f"/v1/watch?{query}" if query else "/v1/watch"
        stream = WatchLines(self._foreign)
        async for line in self._lines(target, self.beat * MISSED_BEATS or None):
            message = stream.parse(line)
            if message is None:
                continue
            if isinstance(message, Snapshot | Resumed):
                named = self._named(message.status)
                message = message.model_copy(update={"status": named})
            yield message

    async def screen(self, name: str, history: int = 0) -> AsyncIterator[ScreenShot]:
        """Yield an agent's pane each time the pane changes, until the pane no longer exists.

        Each capture includes `history` lines of scrollback.
        """
        target = f"/v1/screen/{in_path(name)}?history={history}"
        async for line in self._lines(target, can_end=True):
            yield self._checked(parsed(ScreenShot.model_validate_json, line))

    async def ask(self, verb: Verb) -> Done:
        """Send a request. Returns when the supervisor has completed or accepted the request.

        Raises `BadUsage` for a path or text that is not UTF-8.
        """
        try:
            body = verb.model_dump_json(exclude_none=True).encode()
        except ValueError as error:
            raise BadUsage(
                "A path or text in this request is not valid UTF-8",
                "cockpit cannot send the path or text to the supervisor.",
                "Rename the directory or file, or use another one.",
            ) from error
        patience = (
            REMOVAL_SECONDS if isinstance(verb, RemoveWorktree | DocumentSession) else VERB_SECONDS
        )
        answer = await self._fetch("POST", f"/v1/{verb.verb}", body, patience)
        return self._checked(parsed(Done.model_validate_json, answer))

    async def events(self, *, after: int = 0, limit: int = 200) -> list[Event]:
        """Return at most `limit` events with an id above `after`, oldest first; with `after` 0, the
        newest events."""
        query = urlencode({"after": after, "limit": limit})
        lines = (await self._get(f"/v1/events?{query}")).splitlines()
        if self._foreign is not None:
            self._foreign.count("events", len(lines), max(limit, 1))  # 0 asks for 1
        return [self._event(line) for line in lines if line.strip()]

    async def follow(self, *, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events with an id above `after`, oldest first, then each new event."""
        query = urlencode({"after": after, "follow": 1})
        async for line in self._lines(f"/v1/events?{query}"):
            yield self._event(line)

    async def document(self, handoff: str) -> str:
        """Return the text of a handoff's document, or of its draft."""
        return parsed(bytes.decode, await self._get(f"/v1/document/{in_path(handoff)}"))

    async def continuation(self, name: str) -> str:
        """Return the prompt for the agent's next session.

        Raises `NotNow` if there is no document.
        """
        return parsed(bytes.decode, await self._get(f"/v1/continuation/{in_path(name)}"))

    async def caller(self) -> CallerStatus:
        """Return how the supervisor identifies this process: as the user, or as an agent."""
        return parsed(CallerStatus.model_validate_json, await self._get("/v1/caller"))

    async def facts(self, name: str, session: str | None = None) -> dict[str, Any]:
        """Return the facts of the agent's session, as `cockpit facts --json` prints them.

        `session` is the id of an earlier session of the agent's job; None for the current session.
        """
        query = "" if session is None else "?" + urlencode({"session": session})
        target = f"/v1/facts/{in_path(name)}{query}"
        body = await self._get(target, STATE_SECONDS if session is None else TRANSCRIPT_SECONDS)
        facts: dict[str, Any] = parsed(json.loads, body)
        if self._foreign is not None:
            parsed(SessionFacts.model_validate, facts)
        return self._checked(facts)

    async def history(
        self, name: str | None = None, search: str | None = None
    ) -> list[HistoryChain]:
        """Return the chains of sessions that `cockpit history --json` prints, of one agent or all.

        With `search`, returns only sessions with a document that contains all words of `search`.
        Only the 200 newest matching documents count.
        """
        if search is not None:
            matches = await self._history(name=name, search=search)
            return self._named_chains(
                [parsed(HistoryChain.model_validate, match) for match in matches]
            )
        chains: list[HistoryChain] = []
        before: str | None = None
        pages = 0
        while True:
            pages += 1
            if self._foreign is not None:
                self._foreign.count("pages of history", pages, MOST_PAGES)
            answer = await self._history(name=name, limit=PAGE_JOBS, before=before)
            page = parsed(_page, answer)
            chains = [*self._named_chains(page.chains), *chains]
            if page.next is None:
                return chains
            before = page.next

    async def history_page(
        self, limit: int, before: str | None = None, name: str | None = None
    ) -> HistoryPage:
        """Return a page of `limit` handoffs: the newest, or with `before` the next older ones.

        `before` is the `next` of the page with the newer handoffs.
        """
        answer = await self._history(name=name, handoffs=limit, before=before)
        page = parsed(_page, answer)
        self._named_chains(page.chains)
        return page

    async def _history(self, **options: str | int | None) -> Any:
        parameters = {key: value for key, value in options.items() if value is not None}
        query = urlencode(parameters, errors="replace")
        body = await self._get(f"/v1/history?{query}", TRANSCRIPT_SECONDS)
        return self._numbers_checked(parsed(json.loads, body))

    async def course(self, name: str) -> Course:
        """Return an agent's context use over all sessions of its job."""
        body = await self._fetch("GET", f"/v1/course/{in_path(name)}", b"", TRANSCRIPT_SECONDS)
        return self._checked(parsed(Course.model_validate_json, body))

    async def diff(self, name: str, *, of_job: bool = False) -> WorktreeDiff:
        """Return the diff of the agent's directory since HEAD; `of_job`: since the job began."""
        target = f"/v1/diff/{in_path(name)}" + ("?since=job" if of_job else "")
        body = await self._fetch("GET", target, b"", TRANSCRIPT_SECONDS)
        return self._numbers_checked(parsed(WorktreeDiff.model_validate_json, body))

    async def dialog(self, name: str) -> DialogStatus:
        """Return the permission dialog or question that is open in the agent's pane."""
        body = await self._get(f"/v1/dialog/{in_path(name)}", VERB_SECONDS)
        return self._checked(parsed(DialogStatus.model_validate_json, body))

    async def worktrees(
        self, directory: str | None = None, *, sizes: bool = False
    ) -> list[WorktreeStatus]:
        """Return the worktrees of all agents' repositories, and of the repository that contains
        `directory`. With `sizes`, also their disk space, which can take half a minute.
        """
        asked = {} if directory is None else {"directory": directory}
        asked |= {"sizes": "1"} if sizes else {}
        query = "?" + urlencode(asked) if asked else ""
        body = parsed(json.loads, await self._get(f"/v1/worktrees{query}", VERB_SECONDS))
        trees = [parsed(WorktreeStatus.model_validate, tree) for tree in self._checked(body)]
        return trees if self._foreign is None else self._foreign.worktrees(trees)

    async def elsewhere(self) -> list[ElsewhereSession] | None:
        """Return the sessions that no cockpit started; None if `[elsewhere] show` is off."""
        body = await self._get("/v1/status?elsewhere=1", VERB_SECONDS)
        return self._checked(parsed(Status.model_validate_json, body).elsewhere)

    def _event(self, line: bytes) -> Event:
        event = parsed(Event.model_validate_json, line)
        return event if self._foreign is None else self._foreign.event(event)

    def _named_chains(self, chains: list[HistoryChain]) -> list[HistoryChain]:
        """Return the chains unchanged. Raises `Failed` for invalid names from another machine."""
        return chains if self._foreign is None else self._foreign.chains(chains)

    def _checked(self, answer: Parsed) -> Parsed:
        """Return the answer, with `--host` added to the commands in another machine's answer.

        Raises `Failed` if another machine's answer is too large.
        """
        return answer if self._foreign is None else self._foreign.answer(answer)

    def _numbers_checked(self, answer: Parsed) -> Parsed:
        """Return the answer unchanged.

        Raises `Failed` if another machine sent a number above `LARGEST_NUMBER`, or too much data.
        """
        return answer if self._foreign is None else self._foreign.large_answer(answer)

    def _named(self, status: Status) -> Status:
        return status if self.host is None else status.model_copy(update={"host": self.host})

    async def _get(self, target: str, patience: float = STATE_SECONDS) -> bytes:
        return await self._fetch("GET", target, b"", patience)

    async def _opened(self, patience: float) -> Exchange:
        exchange = await Exchange.open(self.address, patience)
        if self._foreign is not None:
            exchange.allowance = self._foreign.allowance
        return exchange

    async def _fetch(self, method: str, target: str, body: bytes, patience: float) -> bytes:
        exchange = await self._opened(patience)
        try:
            async with asyncio.timeout(patience):
                await exchange.ask(method, target, body)
                return await exchange.body()
        except TimeoutError:
            raise exchange.silent(patience) from None
        finally:
            await exchange.close()

    async def _lines(
        self, target: str, silence: float | None = None, *, can_end: bool = False
    ) -> AsyncIterator[bytes]:
        """Yield the lines of a stream.

        Raises `NoSupervisor` if the connection is lost or silent for too long, and, unless the
        stream `can_end`, when the supervisor ends the stream.
        """
        exchange = await self._opened(STATE_SECONDS)
        try:
            try:
                async with asyncio.timeout(STATE_SECONDS):
                    await exchange.ask("GET", target)
            except TimeoutError:
                raise exchange.silent(STATE_SECONDS) from None
            exchange.longest_silence = silence
            async for line in exchange.lines():
                yield line
            if not can_end:
                raise await exchange.broken()
        finally:
            await exchange.close()

"""The client of a running supervisor: HTTP/1.1 and JSON, on its unix socket or by another way.

Each verb and each view has its address here, and nowhere else on this side. It keeps no
connection and no state between calls, so a supervisor that comes back is simply asked again;
waiting and trying again is the caller's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from pydantic import Field, TypeAdapter, ValidationError

from cockpit.client.exchange import Exchange
from cockpit.client.line import Way
from cockpit.wire.course import Course
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.status import Status
from cockpit.wire.stream import Event, ScreenShot, Snapshot, WatchLine
from cockpit.wire.verbs import Done, RemoveWorktree, Verb
from cockpit.wire.worktrees import WorktreeStatus

LOOKING_SECONDS = 10.0
"""How long an answer about the present may take."""
READING_SECONDS = 60.0
"""How long whole records, or a large repository, may take to be read."""
DOING_SECONDS = 90.0
"""How long a verb may take: ending a stubborn agent is TERM, a wait, KILL and a wait."""
REMOVING_SECONDS = 1800.0
"""How long a worktree of many gigabytes may take: git reads all of it twice."""
MISSED_BEATS = 3

_watch_line: TypeAdapter[WatchLine] = TypeAdapter(Annotated[WatchLine, Field(discriminator="type")])


def in_path(name: str) -> str:
    """A name as a part of an address. What a shell passed on that is no text matches nothing."""
    return quote(name, safe="", errors="replace")


class HttpClient:
    """One supervisor, by its socket or a way to it. Every refusal is a `CockpitError`."""

    def __init__(self, way: Path | Way, host: str | None = None, beat: int = 0) -> None:
        """`host` is our name for another machine, which calls itself local.

        With a `beat`, in seconds, it has the supervisor say that it is there whenever it said
        nothing else, and takes three that are missing for the end: a connection to another
        machine can die without a word.
        """
        self.way = way
        self.host = host
        self.beat = beat

    async def status(self) -> Status:
        """Everything, now."""
        return self._named(Status.model_validate_json(await self._get("/v1/status")))

    async def watch(self) -> AsyncIterator[WatchLine]:
        """A snapshot, then what changes; ends with `NoSupervisor` when the supervisor does.

        A line of a kind that this version does not know is left out.
        """
        query = f"?beat={self.beat}" if self.beat else ""
        async for line in self._lines(f"/v1/watch{query}", self.beat * MISSED_BEATS or None):
            with contextlib.suppress(ValidationError):
                said = _watch_line.validate_json(line)
                if isinstance(said, Snapshot):
                    said = Snapshot(status=self._named(said.status))
                yield said

    async def screen(self, name: str, history: int = 0) -> AsyncIterator[ScreenShot]:
        """An agent's pane whenever its picture changes, with `history` lines from above it."""
        async for line in self._lines(f"/v1/screen/{in_path(name)}?history={history}"):
            yield ScreenShot.model_validate_json(line)

    async def ask(self, verb: Verb) -> Done:
        """Have something done; answers when it is done or under way."""
        body = verb.model_dump_json(exclude_none=True).encode()
        patience = REMOVING_SECONDS if isinstance(verb, RemoveWorktree) else DOING_SECONDS
        answer = await self._fetch("POST", f"/v1/{verb.verb}", body, patience)
        return Done.model_validate_json(answer)

    async def events(self, *, after: int = 0, limit: int = 200) -> list[Event]:
        """What happened after an event, oldest first; `after=0` gives the newest `limit`."""
        query = urlencode({"after": after, "limit": limit})
        lines = (await self._get(f"/v1/events?{query}")).splitlines()
        return [Event.model_validate_json(line) for line in lines if line.strip()]

    async def follow(self, *, after: int = 0) -> AsyncIterator[Event]:
        """Events after an event, oldest first, and then each as it happens."""
        query = urlencode({"after": after, "follow": 1})
        async for line in self._lines(f"/v1/events?{query}"):
            yield Event.model_validate_json(line)

    async def document(self, handoff: str) -> str:
        """The text of a handoff's document (or its draft of facts)."""
        return (await self._get(f"/v1/document/{in_path(handoff)}")).decode()

    async def continuation(self, name: str) -> str:
        """What the new session of an agent that is handed off will be told; `NotNow` before."""
        return (await self._get(f"/v1/continuation/{in_path(name)}")).decode()

    async def facts(self, name: str) -> dict[str, Any]:
        """`cockpit facts --json` of the agent's session, now."""
        found: dict[str, Any] = json.loads(await self._get(f"/v1/facts/{in_path(name)}"))
        return found

    async def history(
        self, name: str | None = None, search: str | None = None
    ) -> list[dict[str, Any]]:
        """`cockpit history --json`, of one agent or of all; `search` gives what has all words."""
        asked = {"name": name, "search": search}
        said = urlencode(
            {key: value for key, value in asked.items() if value is not None}, errors="replace"
        )
        query = f"?{said}" if said else ""
        found: list[dict[str, Any]] = json.loads(await self._get(f"/v1/history{query}"))
        return found

    async def course(self, name: str) -> Course:
        """How full an agent's context was, over every session of its job."""
        body = await self._fetch("GET", f"/v1/course/{in_path(name)}", b"", READING_SECONDS)
        return Course.model_validate_json(body)

    async def diff(self, name: str, *, of_job: bool = False) -> WorktreeDiff:
        """How its worktree differs from the last commit, or from where the job began."""
        target = f"/v1/diff/{in_path(name)}" + ("?since=job" if of_job else "")
        body = await self._fetch("GET", target, b"", READING_SECONDS)
        return WorktreeDiff.model_validate_json(body)

    async def worktrees(self, directory: str | None = None) -> list[WorktreeStatus]:
        """The worktrees of every agent's repository, and of the one of a directory."""
        query = "" if directory is None else "?" + urlencode({"directory": directory})
        found = json.loads(await self._get(f"/v1/worktrees{query}", DOING_SECONDS))
        return [WorktreeStatus.model_validate(tree) for tree in found]

    def _named(self, status: Status) -> Status:
        return status if self.host is None else status.model_copy(update={"host": self.host})

    async def _get(self, target: str, patience: float = LOOKING_SECONDS) -> bytes:
        return await self._fetch("GET", target, b"", patience)

    async def _fetch(self, method: str, target: str, body: bytes, patience: float) -> bytes:
        exchange = await Exchange.open(self.way, patience)
        try:
            async with asyncio.timeout(patience):
                await exchange.ask(method, target, body)
                return await exchange.body()
        except TimeoutError:
            raise exchange.silent(patience) from None
        finally:
            await exchange.close()

    async def _lines(self, target: str, silence: float | None = None) -> AsyncIterator[bytes]:
        """The lines of a stream; `NoSupervisor` where it ends, or is silent for so long."""
        exchange = await Exchange.open(self.way, LOOKING_SECONDS)
        try:
            try:
                async with asyncio.timeout(LOOKING_SECONDS):
                    await exchange.ask("GET", target)
            except TimeoutError:
                raise exchange.silent(LOOKING_SECONDS) from None
            exchange.longest_silence = silence
            async for line in exchange.lines():
                yield line
            raise await exchange.broken()
        finally:
            await exchange.close()

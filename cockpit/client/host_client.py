"""A supervisor on another machine, with the host's name before each agent and handoff.

In responses, agents become `host/name`; handoffs, documents and sessions that cockpit did not start
become `host/id`. Requests remove the host's name. Paths, branches and other session ids are
unchanged, because they are only valid on that machine.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Protocol, cast

from cockpit.client.client import Supervisor
from cockpit.client.foreign_answers import MOST_AGENTS
from cockpit.core.errors import BadUsage, Failed, NoSuchAgent
from cockpit.core.far_names import far_name, host_and_name
from cockpit.core.ids import agent_name
from cockpit.core.safetext import quoted
from cockpit.wire.course import Course
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.history import HistoryChain, HistoryPage, HistorySession
from cockpit.wire.status import AgentStatus, ElsewhereSession, Status
from cockpit.wire.stream import (
    AgentChanged,
    AgentForgotten,
    DaySpent,
    ElsewhereCounted,
    Event,
    Happened,
    Resumed,
    ScreenShot,
    Snapshot,
    WatchLine,
)
from cockpit.wire.verbs import Done, Verb
from cockpit.wire.worktrees import WorktreeStatus

_NAMES = ("name", "handoff", "tree", "session")
"""Fields of verbs that contain the name of an agent, or the id of a handoff or session. `tree` can
also contain a path; a path without a host starts with `/`."""


class HostClient:
    """A client of the supervisor on another machine. `host` is the user's name for the machine."""

    def __init__(self, host: str, client: Supervisor) -> None:
        self.host = host
        self._client = client
        self.answers: bool | None = None
        """Whether the host's event stream is connected; None before the first attempt."""

    @property
    def remark(self) -> str:
        return self._client.remark

    async def status(self) -> Status:
        return self._status(await self._client.status())

    async def watch(
        self, *, elsewhere: bool = False, day: bool = False, since: str | None = None
    ) -> AsyncIterator[WatchLine]:
        self.answers = False
        lines = self._client.watch(elsewhere=elsewhere, day=day, since=since)
        names: set[str] = set()
        try:
            async with aclosing(cast("_Closing", lines)):
                async for line in lines:
                    self._count(line, names)
                    self.answers = True
                    yield self._line(line)
        finally:
            self.answers = False

    async def screen(self, name: str, history: int = 0) -> AsyncIterator[ScreenShot]:
        shots = self._client.screen(self._without_host(name), history)
        async with aclosing(cast("_Closing", shots)):
            async for shot in shots:
                yield shot

    async def ask(self, verb: Verb) -> Done:
        values = {field: getattr(verb, field, None) for field in _NAMES}
        own = {
            field: self._without_host(value)
            for field, value in values.items()
            if isinstance(value, str) and not value.startswith("/")
        }
        done = await self._client.ask(verb.model_copy(update=own))
        name = None if done.name is None else far_name(self.host, done.name)
        return done.model_copy(update={"name": name})

    async def events(self, *, after: int = 0, limit: int = 200) -> list[Event]:
        events = await self._client.events(after=after, limit=limit)
        return [self._event(event) for event in events]

    async def document(self, handoff: str) -> str:
        return await self._client.document(self._without_host(handoff))

    async def continuation(self, name: str) -> str:
        return await self._client.continuation(self._without_host(name))

    async def facts(self, name: str) -> dict[str, Any]:
        return await self._client.facts(self._without_host(name))

    async def history(
        self, name: str | None = None, search: str | None = None
    ) -> list[HistoryChain]:
        own = None if name is None else self._without_host(name)
        return [self._chain(chain) for chain in await self._client.history(own, search)]

    async def history_page(
        self, limit: int, before: str | None = None, name: str | None = None
    ) -> HistoryPage:
        own = None if name is None else self._without_host(name)
        page = await self._client.history_page(limit, before, own)
        return page.model_copy(update={"chains": [self._chain(chain) for chain in page.chains]})

    async def course(self, name: str) -> Course:
        course = await self._client.course(self._without_host(name))
        return course.model_copy(update={"agent": name})

    async def dialog(self, name: str) -> DialogStatus:
        return await self._client.dialog(self._without_host(name))

    async def worktrees(
        self, directory: str | None = None, *, sizes: bool = False
    ) -> list[WorktreeStatus]:
        trees = await self._client.worktrees(directory, sizes=sizes)
        return [self._tree(tree) for tree in trees]

    async def elsewhere(self) -> list[ElsewhereSession] | None:
        """Return the host's sessions that no cockpit started, with the host's name before each id;
        None if `[elsewhere] show` is off on the host."""
        sessions = await self._client.elsewhere()
        if sessions is None:
            return None
        return [
            session.model_copy(
                update={"host": self.host, "session_id": far_name(self.host, session.session_id)}
            )
            for session in sessions
        ]

    async def diff(self, name: str, *, of_job: bool = False) -> WorktreeDiff:
        return await self._client.diff(self._without_host(name), of_job=of_job)

    def _without_host(self, name: str) -> str:
        """Return the name without the host. Raises `NoSuchAgent` for a name on another machine."""
        host, own_name = host_and_name(name)
        if host != self.host:
            raise NoSuchAgent(
                f"{quoted(name)} is not on host {self.host}",
                hint=f"List the agents of {self.host}: cockpit status --host {self.host}",
            )
        return own_name

    def _status(self, status: Status) -> Status:
        return status.model_copy(
            update={
                "host": self.host,
                "agents": [self._agent(agent) for agent in status.agents],
                "held": [held.model_copy(update={"host": self.host}) for held in status.held],
            }
        )

    def _count(self, line: WatchLine, names: set[str]) -> None:
        """Add the agents in a line of the event stream to `names`, or remove a forgotten agent.

        Raises `Failed` if `names` then has too many names.
        """
        match line:
            case Snapshot() | Resumed():
                names.update(agent.name for agent in line.status.agents)
            case AgentChanged():
                names.add(line.agent.name)
            case AgentForgotten():
                names.discard(line.name)
        if len(names) > MOST_AGENTS:
            raise Failed(
                f"Host {self.host} has too many agents",
                f"The maximum is {MOST_AGENTS}.",
                f"Check which program answers on {self.host}: cockpit doctor --host {self.host}",
            )

    def _full_name(self, name: str) -> str:
        """Return an agent's name with the host. Raises `Failed` for an invalid name."""
        try:
            return far_name(self.host, agent_name(name))
        except BadUsage as error:
            raise Failed(
                f"Host {self.host} sent an invalid agent name",
                f"{quoted(name, 60)} is not a valid agent name; this host's agents are not shown.",
                f"Check which program answers on {self.host}: cockpit doctor --host {self.host}",
            ) from error

    def _line(self, line: WatchLine) -> WatchLine:
        match line:
            case Snapshot():
                return line.model_copy(update={"status": self._status(line.status)})
            case Resumed():
                forgotten = [self._full_name(name) for name in line.forgotten]
                status = self._status(line.status)
                return line.model_copy(update={"status": status, "forgotten": forgotten})
            case AgentChanged():
                return line.model_copy(update={"agent": self._agent(line.agent)})
            case AgentForgotten():
                return line.model_copy(update={"name": self._full_name(line.name)})
            case ElsewhereCounted() | DaySpent():
                return line
            case Happened():
                return Happened(event=self._event(line.event))

    def _agent(self, agent: AgentStatus) -> AgentStatus:
        handoff = agent.handoff and agent.handoff.model_copy(
            update={"id": far_name(self.host, agent.handoff.id)}
        )
        last = agent.last_request
        if last is not None and last.handoff is not None:
            last = last.model_copy(update={"handoff": far_name(self.host, last.handoff)})
        name = self._full_name(agent.name)
        return agent.model_copy(update={"name": name, "handoff": handoff, "last_request": last})

    def _event(self, event: Event) -> Event:
        """Return the event with the host's name before the agent and before the text.

        The text has the host's name too, because the screen can show the text without the agent.
        """
        agent = event.agent and self._full_name(event.agent)
        return event.model_copy(update={"agent": agent, "text": f"{self.host}: {event.text}"})

    def _tree(self, tree: WorktreeStatus) -> WorktreeStatus:
        agent = tree.agent and far_name(self.host, tree.agent)
        return tree.model_copy(update={"host": self.host, "agent": agent})

    def _chain(self, chain: HistoryChain) -> HistoryChain:
        update = {
            "host": self.host,
            "agent": far_name(self.host, chain.agent),
            "sessions": [self._session(session) for session in chain.sessions],
        }
        return chain.model_copy(update=update)

    def _session(self, session: HistorySession) -> HistorySession:
        handoffs = [
            handoff.model_copy(update={"id": far_name(self.host, handoff.id)})
            for handoff in session.handoffs
        ]
        documents = [
            document.model_copy(update={"id": far_name(self.host, document.id)})
            for document in session.documents
        ]
        last = session.handoff and far_name(self.host, session.handoff)
        return session.model_copy(
            update={"handoffs": handoffs, "documents": documents, "handoff": last}
        )


class _Closing(Protocol):
    """An async iterator with `aclose`, which `AsyncIterator` does not declare."""

    async def aclose(self) -> None: ...

"""A supervisor that exists only in memory: for tests and benchmarks of screens without any process.

It holds a `Status`, remembers what it was asked, and does what it was told to: change agents,
let things happen, show screens, refuse, go away and come back. It decides nothing: a verb
changes no agent unless a rule was given for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from cockpit.core.errors import CockpitError, NoSuchAgent, NoSupervisor, NotNow
from cockpit.core.front_matter import load
from cockpit.core.search import excerpt, holds_all, words
from cockpit.wire.course import Course
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.history import HistoryPage
from cockpit.wire.status import AgentStatus, HeldSetting, Status
from cockpit.wire.stream import (
    AgentChanged,
    AgentForgotten,
    Event,
    Happened,
    ScreenShot,
    Snapshot,
    WatchLine,
)
from cockpit.wire.verbs import Done, Verb
from cockpit.wire.worktrees import WorktreeStatus

Answer = Callable[[Verb], Done | None]
"""What to do about a verb; None leaves it to the plain answer, an error refuses it."""


class MemoryClient:
    """A `Client` whose world is scripted by whoever holds it. One event loop only."""

    def __init__(self, status: Status | None = None) -> None:
        first = status or Status()
        self._host, self._supervisor = first.host, first.supervisor
        self._agents = {agent.name: agent for agent in first.agents}
        self._held = first.held
        self._events: deque[Event] = deque(maxlen=2000)
        self._last_event = 0
        self._screens: dict[str, ScreenShot] = {}
        self._documents: dict[str, str] = {}
        self._continuations: dict[str, str] = {}
        self._facts: dict[str, dict[str, Any]] = {}
        self._history: list[dict[str, Any]] = []
        self._courses: dict[str, Course] = {}
        self._diffs: dict[tuple[str, bool], WorktreeDiff] = {}
        self._rules: dict[type[Verb], Answer] = {}
        self._watchers: set[asyncio.Queue[WatchLine | None]] = set()
        self._onlookers: dict[str, set[asyncio.Queue[ScreenShot | None]]] = {}
        self._away = False
        self.looked_up: list[tuple[str, str]] = []
        """Every `facts`, `course` and `diff` that was asked for, and of whom."""
        self.pages: list[tuple[int, str | None, str | None]] = []
        """Every page of the history that was asked for: size, cursor and agent."""
        self.trees: list[WorktreeStatus] = []
        self.asked: list[Verb] = []
        """Every verb, in order, also those that were refused."""

    # What a client does.

    async def status(self) -> Status:
        self._must_be_there()
        return Status(
            host=self._host,
            supervisor=self._supervisor,
            agents=list(self._agents.values()),
            held=self._held,
        )

    async def watch(self) -> AsyncIterator[WatchLine]:
        lines: asyncio.Queue[WatchLine | None] = asyncio.Queue()
        snapshot = Snapshot(status=await self.status())
        self._watchers.add(lines)
        try:
            yield snapshot
            while (line := await lines.get()) is not None:
                yield line
        finally:
            self._watchers.discard(lines)
        raise self._gone()

    async def screen(self, name: str, history: int = 0) -> AsyncIterator[ScreenShot]:
        self._must_be_there()
        if name not in self._agents:
            raise NoSuchAgent(f"no agent is called {name}")
        if self._agents[name].pane is None:
            raise NotNow(f"{name} has no pane", "It is not running.")
        shots: asyncio.Queue[ScreenShot | None] = asyncio.Queue()
        self._onlookers.setdefault(name, set()).add(shots)
        try:
            yield self._screens.get(name, ScreenShot(lines=[]))
            while (shot := await shots.get()) is not None:
                yield shot
        finally:
            self._onlookers[name].discard(shots)
        raise self._gone()

    async def ask(self, verb: Verb) -> Done:
        self._must_be_there()
        self.asked.append(verb)
        rule = self._rules.get(type(verb))
        answer = rule(verb) if rule else None
        return answer or Done(message=f"{verb.verb}: done", name=getattr(verb, "name", None))

    async def events(self, *, after: int = 0, limit: int = 200) -> list[Event]:
        self._must_be_there()
        later = [event for event in self._events if event.id > after]
        return later[:limit] if after else later[-limit:]

    async def document(self, handoff: str) -> str:
        self._must_be_there()
        if handoff not in self._documents:
            raise NotNow("there is no document yet", "The handoff has no document yet.")
        return self._documents[handoff]

    async def continuation(self, name: str) -> str:
        self._must_be_there()
        if name not in self._continuations:
            raise NotNow("there is no document yet", "The handoff has no document yet.")
        return self._continuations[name]

    async def facts(self, name: str) -> dict[str, Any]:
        self._must_be_there()
        self._look_up("facts", name)
        return self._facts.get(name, {})

    async def course(self, name: str) -> Course:
        self._must_be_there()
        self._look_up("course", name)
        return self._courses.get(name, Course(agent=name))

    async def worktrees(self, directory: str | None = None) -> list[WorktreeStatus]:
        self._must_be_there()
        return self.trees

    async def diff(self, name: str, *, of_job: bool = False) -> WorktreeDiff:
        self._must_be_there()
        self._look_up("diff", name)
        nothing = WorktreeDiff(directory=self._agents[name].directory)
        return self._diffs.get((name, of_job), nothing)

    def _look_up(self, what: str, name: str) -> None:
        self.looked_up.append((what, name))
        if name not in self._agents:
            raise NoSuchAgent(f"no agent is called {name}")

    async def history(
        self, name: str | None = None, search: str | None = None
    ) -> list[dict[str, Any]]:
        self._must_be_there()
        chains = [chain for chain in self._history if name in (None, chain.get("agent"))]
        wanted = words(search or "")
        if not wanted:
            return chains
        return [held for chain in chains if (held := self._holding(chain, wanted))]

    async def history_page(
        self, limit: int, before: str | None = None, name: str | None = None
    ) -> HistoryPage:
        self.pages.append((limit, before, name))
        chains = await self.history(name)
        every = [
            (str(each["created"]), str(each["id"]))
            for chain in chains
            for session in chain["sessions"]
            for each in session.get("handoffs", ())
        ]
        newest = [ident for _, ident in sorted(every, reverse=True)]
        start = 0 if before is None else newest.index(before) + 1
        wanted = set(newest[start : start + limit])
        more = start + limit < len(newest)
        return HistoryPage(
            chains=[held for chain in chains if (held := _only(chain, wanted))],
            next=newest[start + limit - 1] if more else None,
            total=len(newest),
        )

    def _holding(self, chain: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, Any] | None:
        """The chain with those sessions and handoffs alone whose documents hold the words."""
        sessions = []
        for session in chain["sessions"]:
            found = [
                {**each, "found": excerpt(text, wanted)}
                for each in session.get("handoffs", ())
                if holds_all(text := load(self._documents.get(each["id"], ""))[1], wanted)
            ]
            if found:
                sessions.append({**session, "handoffs": found})
        return {**chain, "sessions": sessions} if sessions else None

    # What whoever holds it does.

    def agent(self, name: str) -> AgentStatus:
        return self._agents[name]

    def put(self, agent: AgentStatus) -> None:
        """Add an agent, or replace the one of that name."""
        self._agents[agent.name] = agent
        self._tell(AgentChanged(agent=agent))

    def change(self, name: str, **fields: Any) -> AgentStatus:
        """Change fields of an agent; nested models are given whole."""
        changed = self._agents[name].model_copy(update=fields)
        self.put(changed)
        return changed

    def forget(self, name: str) -> None:
        del self._agents[name]
        self._tell(AgentForgotten(name=name))

    def happen(
        self, kind: str, text: str, agent: str | None = None, at: str | None = None
    ) -> Event:
        """Let something happen: watchers hear of it, `events` remembers it."""
        self._last_event += 1
        moment = at or datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        event = Event(id=self._last_event, at=moment, agent=agent, kind=kind, text=text)
        self._events.append(event)
        self._tell(Happened(event=event))
        return event

    def show(
        self, name: str, lines: Sequence[str], cursor: tuple[int, int] | None = None
    ) -> ScreenShot:
        """Put a picture into an agent's pane."""
        shot = ScreenShot(lines=list(lines), cursor=cursor, pane=self._agents[name].pane)
        self._screens[name] = shot
        for onlooker in self._onlookers.get(name, ()):
            onlooker.put_nowait(shot)
        return shot

    def onlookers(self, name: str) -> int:
        """How many are looking at an agent's pane at this moment."""
        return len(self._onlookers.get(name, ()))

    def hold(self, held: list[HeldSetting]) -> None:
        """Settings that an untrusted file asked for."""
        self._held = held

    def lay(self, handoff: str, text: str) -> None:
        """Put a handoff's document there."""
        self._documents[handoff] = text

    def continue_with(self, name: str, text: str) -> None:
        """What the agent's next session will be told."""
        self._continuations[name] = text

    def know(self, name: str, facts: dict[str, Any]) -> None:
        """What `facts` answers for an agent."""
        self._facts[name] = facts

    def chart(self, course: Course) -> None:
        """What `course` answers for its agent."""
        self._courses[course.agent] = course

    def differ(self, name: str, diff: WorktreeDiff) -> None:
        """What `diff` answers for an agent, about the last commit or about the whole job."""
        self._diffs[name, diff.of_job] = diff

    def remember(self, history: list[dict[str, Any]]) -> None:
        """What `history` answers."""
        self._history = history

    def when(self, kind: type[Verb], rule: Answer) -> None:
        """Answer a kind of verb by a rule; a rule may change agents, or raise to refuse."""
        self._rules[kind] = rule

    def refuse(self, kind: type[Verb], error: CockpitError) -> None:
        """Refuse a kind of verb from now on."""

        def refusal(_verb: Verb) -> Done:
            raise error

        self._rules[kind] = refusal

    def disconnect(self) -> None:
        """Go away: streams end with `NoSupervisor`, and so does every call until `reconnect`."""
        self._away = True
        for watcher in self._watchers:
            watcher.put_nowait(None)
        for onlookers in self._onlookers.values():
            for onlooker in onlookers:
                onlooker.put_nowait(None)

    def reconnect(self) -> None:
        self._away = False

    def _tell(self, line: WatchLine) -> None:
        for watcher in self._watchers:
            watcher.put_nowait(line)

    def _must_be_there(self) -> None:
        if self._away:
            raise self._gone()

    @staticmethod
    def _gone() -> NoSupervisor:
        return NoSupervisor("no supervisor answers", "Its socket is closed.", "Run: cockpit up")


def _only(chain: dict[str, Any], wanted: set[str]) -> dict[str, Any] | None:
    """The chain with these handoffs alone and their sessions."""
    sessions = []
    for session in chain["sessions"]:
        handoffs = [each for each in session.get("handoffs", ()) if each["id"] in wanted]
        if handoffs:
            sessions.append({**session, "handoffs": handoffs})
    return {**chain, "sessions": sessions} if sessions else None

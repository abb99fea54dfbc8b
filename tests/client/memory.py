"""A supervisor that exists only in memory: for tests and benchmarks of screens without any process.

It holds a `Status`, remembers what it was asked, and does what it was told to: change agents,
let things happen, show screens, refuse, go away and come back. It decides nothing: a verb
changes no agent unless a rule was given for it. `test_contract.py` holds it to what a client of
a real supervisor does.
"""

from __future__ import annotations

import asyncio
import difflib
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cockpit.client.refusals import lost, not_running
from cockpit.core.errors import BY_EXIT_CODE, BadUsage, CockpitError, Failed, NoSuchAgent, NotNow
from cockpit.core.front_matter import load
from cockpit.core.ids import agent_name
from cockpit.core.search import excerpt, holds_all, words
from cockpit.supervisor.api.request_checks import check_values
from cockpit.wire.course import Course
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.history import HistoryChain, HistoryHandoff, HistoryPage, HistorySession
from cockpit.wire.status import AgentStatus, ElsewhereSession, HeldSetting, Status
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
from cockpit.wire.verbs import Continue, Done, RemoveWorktree, Rename, Start, Verb
from cockpit.wire.worktrees import WorktreeStatus

SOCKET = Path("/run/cockpit.sock")
"""Where it would be."""

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
        self._history: list[HistoryChain] = []
        self._courses: dict[str, Course] = {}
        self._diffs: dict[tuple[str, bool], WorktreeDiff] = {}
        self._rules: dict[type[Verb], Answer] = {}
        self._watchers: set[asyncio.Queue[WatchLine | CockpitError]] = set()
        self._onlookers: dict[str, set[asyncio.Queue[ScreenShot | CockpitError | None]]] = {}
        self._away = False
        self.remark = ""
        """What the user should know about the connection."""
        self._changes: list[str] = []
        """The agent of each change."""
        self.looked_up: list[tuple[str, str]] = []
        """Every `facts`, `course` and `diff` that was asked for, and of whom."""
        self.pages: list[tuple[int, str | None, str | None]] = []
        """Every page of the history that was asked for: size, cursor and agent."""
        self.trees: list[WorktreeStatus] = []
        self.measuring = asyncio.Event()
        """Set while sizes of worktrees are answered at once; cleared to let them wait."""
        self.measuring.set()
        self.sizes_fail = False
        self.others: list[ElsewhereSession] | None = []
        """Sessions elsewhere; None for a user who switched them off."""
        self.dialogs: dict[str, DialogStatus] = {}
        """The open dialog of each agent."""
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

    def spend(self, spent: float | None, budget: float | None) -> None:
        """Set what all agents cost today, and the budget of the day."""
        values = {"spent_today_usd": spent, "budget_today_usd": budget}
        self._supervisor = self._supervisor.model_copy(update=values)
        self._tell(self._day())

    def _day(self) -> DaySpent:
        said = self._supervisor
        return DaySpent(
            spent_today_usd=said.spent_today_usd, budget_today_usd=said.budget_today_usd
        )

    @property
    def watched(self) -> bool:
        """Whether anybody follows it."""
        return bool(self._watchers)

    async def watch(
        self, *, elsewhere: bool = False, day: bool = False, since: str | None = None
    ) -> AsyncIterator[WatchLine]:
        lines: asyncio.Queue[WatchLine | CockpitError] = asyncio.Queue()
        status = await self.status()
        self._watchers.add(lines)
        try:
            yield self._first_line(status, since)
            if elsewhere:
                yield ElsewhereCounted(count=len(self.others or ()))
            if day:
                yield self._day()
            while not isinstance(line := await lines.get(), CockpitError):
                yield line
            raise line
        finally:
            self._watchers.discard(lines)

    @property
    def _position(self) -> str:
        return f"memory.{len(self._changes)}"

    def _first_line(self, status: Status, since: str | None) -> Snapshot | Resumed:
        run, _, number = (since or "").partition(".")
        if run != "memory":
            return Snapshot(status=status, position=self._position)
        changed = self._changes[int(number) :]
        return Resumed(
            status=status.model_copy(
                update={"agents": [agent for agent in status.agents if agent.name in changed]}
            ),
            forgotten=[name for name in dict.fromkeys(changed) if name not in self._agents],
            position=self._position,
        )

    async def screen(self, name: str, history: int = 0) -> AsyncIterator[ScreenShot]:
        self._must_be_there()
        if self._known(name).pane is None:
            raise NotNow(f"{name} has no pane", "", f"Start the agent: cockpit start {name}")
        shots: asyncio.Queue[ScreenShot | CockpitError | None] = asyncio.Queue()
        self._onlookers.setdefault(name, set()).add(shots)
        try:
            yield self._screens.get(name, ScreenShot(lines=[]))
            while (shot := await shots.get()) is not None:
                if isinstance(shot, CockpitError):
                    raise shot
                yield shot
        finally:
            self._onlookers[name].discard(shots)

    async def ask(self, verb: Verb) -> Done:
        verb = _over_the_wire(verb)
        self._must_be_there()
        self.asked.append(verb)
        self._check_name(verb)
        rule = self._rules.get(type(verb))
        answer = rule(verb) if rule else None
        name = verb.to if isinstance(verb, Rename) else getattr(verb, "name", None)
        return answer or Done(message=f"{verb.verb}: done", name=name)

    async def events(self, *, after: int = 0, limit: int = 200) -> list[Event]:
        self._must_be_there()
        later = [event for event in self._events if event.id > after]
        limit = max(1, limit)
        return later[:limit] if after else later[-limit:]

    async def document(self, handoff: str) -> str:
        self._must_be_there()
        if handoff not in self._documents:
            hint = "List the handoffs: cockpit history"
            raise NoSuchAgent(f"There is no handoff {handoff!r}", "", hint)
        return self._documents[handoff]

    async def continuation(self, name: str) -> str:
        self._must_be_there()
        agent = self._known(name)
        if name not in self._continuations:
            raise NotNow(
                f"There is no document for a new session of {name}",
                "The handoff has no document yet."
                if agent.handoff
                else "No handoff is in progress.",
            )
        return self._continuations[name]

    async def facts(self, name: str) -> dict[str, Any]:
        self._must_be_there()
        self._look_up("facts", name)
        return self._facts.get(name, {})

    async def course(self, name: str) -> Course:
        self._must_be_there()
        self._look_up("course", name)
        return self._courses.get(name, Course(agent=name))

    async def dialog(self, name: str) -> DialogStatus:
        self._must_be_there()
        self._known(name)
        if (found := self.dialogs.get(name)) is None:
            raise NotNow(
                f"{name} is not asking anything",
                "No permission dialog or question is open in the agent's pane.",
                f"See: cockpit status {name}",
            )
        return found

    async def elsewhere(self) -> list[ElsewhereSession] | None:
        self._must_be_there()
        return self.others

    async def worktrees(
        self, directory: str | None = None, *, sizes: bool = False
    ) -> list[WorktreeStatus]:
        self._must_be_there()
        if not sizes:
            nothing = {"size": None, "size_partial": False}
            return [tree.model_copy(update=nothing) for tree in self.trees]
        await self.measuring.wait()
        if self.sizes_fail:
            raise Failed("The disk does not answer")
        return self.trees

    async def diff(self, name: str, *, of_job: bool = False) -> WorktreeDiff:
        self._must_be_there()
        self._look_up("diff", name)
        nothing = WorktreeDiff(directory=self._known(name).directory)
        return self._diffs.get((name, of_job), nothing)

    def _look_up(self, what: str, name: str) -> None:
        self.looked_up.append((what, name))
        self._known(name)

    def _known(self, name: str) -> AgentStatus:
        """The agent of that name, or the refusal that a supervisor has for others."""
        if (found := self._agents.get(name)) is not None:
            return found
        close = difflib.get_close_matches(name, list(self._agents), n=1)
        hint = f"Did you mean {close[0]}?" if close else "List the agents: cockpit status"
        raise NoSuchAgent(f"There is no agent {name!a}", "", hint)

    def _check_name(self, verb: Verb) -> None:
        """A new agent needs a name that is allowed; any other verb is for one that is there."""
        name: str | None = getattr(verb, "name", None)
        if name is None or isinstance(verb, Continue | RemoveWorktree):
            return
        if isinstance(verb, Start):
            agent_name(name)
        else:
            self._known(name)

    async def history(
        self, name: str | None = None, search: str | None = None
    ) -> list[HistoryChain]:
        self._must_be_there()
        chains = [chain for chain in self._history if name in (None, chain.agent)]
        if name is not None and not chains:
            self._known(name)
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
            (handoff.created, handoff.id)
            for chain in chains
            for session in chain.sessions
            for handoff in session.handoffs
        ]
        newest = [ident for _, ident in sorted(every, reverse=True)]
        if before is not None and before not in newest:
            raise BadUsage("Unknown cursor: no handoff has this id", "", "Leave out `before`.")
        start = 0 if before is None else newest.index(before) + 1
        wanted = set(newest[start : start + limit])
        more = start + limit < len(newest)
        return HistoryPage(
            chains=[held for chain in chains if (held := _only(chain, wanted))],
            next=newest[start + limit - 1] if more else None,
            total=len(newest),
        )

    def _holding(self, chain: HistoryChain, wanted: tuple[str, ...]) -> HistoryChain | None:
        """The chain with those sessions and handoffs alone whose documents hold the words.

        As in a supervisor's index, the name of the agent belongs to each of its documents.
        """

        def text_of(handoff: HistoryHandoff) -> str:
            return load(self._documents.get(handoff.id, ""))[1]

        sessions = []
        for session in chain.sessions:
            found = [
                each.model_copy(update={"found": excerpt(text_of(each), wanted)})
                for each in session.handoffs
                if each.id in self._documents
                and holds_all(f"{chain.agent}\n{text_of(each)}", wanted)
            ]
            if found:
                sessions.append(_with_only(session, found))
        return chain.model_copy(update={"sessions": sessions}) if sessions else None

    # What whoever holds it does.

    def agent(self, name: str) -> AgentStatus:
        return self._agents[name]

    def put(self, agent: AgentStatus) -> None:
        """Add an agent, or replace the one of that name; nobody is told of what is the same."""
        if self._agents.get(agent.name) == agent:
            return
        self._agents[agent.name] = agent
        self._changes.append(agent.name)
        self._tell(AgentChanged(agent=agent, position=self._position))
        if agent.pane is None:
            self._close_pane(agent.name)

    def change(self, name: str, **fields: Any) -> AgentStatus:
        """Change fields of an agent; nested models are given whole."""
        changed = self._agents[name].model_copy(update=fields)
        self.put(changed)
        return changed

    def forget(self, name: str) -> None:
        del self._agents[name]
        self._close_pane(name)
        self._changes.append(name)
        self._tell(AgentForgotten(name=name, position=self._position))

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

    def remember(self, history: Sequence[HistoryChain]) -> None:
        """What `history` answers."""
        self._history = list(history)

    def when(self, kind: type[Verb], rule: Answer) -> None:
        """Answer a kind of verb by a rule; a rule may change agents, or raise to refuse."""
        self._rules[kind] = rule

    def refuse(self, kind: type[Verb], error: CockpitError) -> None:
        """Refuse a kind of verb from now on; the wire knows an error by its exit code alone."""
        kind_there = BY_EXIT_CODE[error.exit_code]

        def refusal(_verb: Verb) -> Done:
            raise kind_there(error.title, error.detail, error.hint)

        self._rules[kind] = refusal

    def live_elsewhere(self, sessions: Sequence[ElsewhereSession]) -> None:
        """The sessions that no cockpit started; watchers are told how many."""
        self.others = list(sessions)
        self._tell(ElsewhereCounted(count=len(self.others)))

    def disconnect(self) -> None:
        """Go away: streams end with `NoSupervisor`, and so does every call until `reconnect`."""
        self._away = True
        for watcher in self._watchers:
            watcher.put_nowait(lost(SOCKET))
        for onlookers in self._onlookers.values():
            for onlooker in onlookers:
                onlooker.put_nowait(lost(SOCKET))

    def reconnect(self) -> None:
        self._away = False

    def _close_pane(self, name: str) -> None:
        """End the streams of a pane that is gone."""
        for onlooker in self._onlookers.get(name, ()):
            onlooker.put_nowait(None)

    def _tell(self, line: WatchLine) -> None:
        for watcher in self._watchers:
            watcher.put_nowait(line)

    def _must_be_there(self) -> None:
        if self._away:
            raise not_running(SOCKET)


def _over_the_wire(verb: Verb) -> Verb:
    """The verb as a supervisor would read it. Raises `BadUsage` as its client or it would."""
    try:
        body = verb.model_dump_json(exclude_none=True)
    except ValueError as error:
        raise BadUsage("A path or text in this request is not valid UTF-8") from error
    check_values(json.loads(body))
    try:
        return type(verb).model_validate_json(body)
    except ValidationError as wrong:
        raise BadUsage(f"The request {verb.verb} is not valid", str(wrong)) from None


def _only(chain: HistoryChain, wanted: set[str]) -> HistoryChain | None:
    """The chain with these handoffs alone and their sessions, without what counts all of them."""
    sessions = [
        _with_only(session, handoffs)
        for session in chain.sessions
        if (handoffs := [each for each in session.handoffs if each.id in wanted])
    ]
    if not sessions:
        return None
    return HistoryChain(
        agent=chain.agent,
        job=chain.job,
        goal=chain.goal,
        started_at=chain.started_at,
        sessions=sessions,
    )


def _with_only(session: HistorySession, handoffs: list[HistoryHandoff]) -> HistorySession:
    idents = {each.id for each in handoffs}
    papers = [one for one in session.documents if one.id in idents]
    return session.model_copy(update={"handoffs": handoffs, "documents": papers})

"""What the screens know: the last picture of the fleet, who is selected, who answers.

A fleet has one supervisor, or one on each of several hosts: a `Part` is what is known of one.

Plain values and callbacks: nothing here knows Textual, waits, or asks the supervisor.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cockpit.core.far_names import LOCAL, host_and_name
from cockpit.wire.status import AgentStatus, HeldSetting, Status
from cockpit.wire.stream import AgentChanged, AgentForgotten, Event, Happened, Snapshot, WatchLine

KEPT_EVENTS = 500


class Change(StrEnum):
    """What a listener is told: which part of the model is not what it was."""

    FLEET = "fleet"
    """Agents came or went, or the whole picture is new."""
    AGENT = "agent"
    """One agent differs; its name comes with it."""
    SELECTION = "selection"
    CONNECTION = "connection"
    EVENT = "event"
    """The list of what happened is another."""
    HAPPENED = "happened"
    """The newest event is news, and not history that was asked for."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Whether the supervisor answers. Times are seconds of the monotonic clock."""

    live: bool = False
    lost_at: float | None = None
    """When it stopped answering; None before the first answer ever, and while it answers."""
    why: str = ""
    retry_at: float | None = None
    strange: bool = False
    """Somebody answers, and is not understood: a supervisor of another version."""


Listener = Callable[[Change, str | None], None]


class Part:
    """What is known of one supervisor. One writer (`follow`)."""

    def __init__(self, model: Model, host: str) -> None:
        self._model = model
        self.host = host
        """The pilot's name for the machine that it is on."""
        self.version: str | None = None
        """Of the supervisor, as it says."""
        self.connection = Connection()
        self.held: list[HeldSetting] = []
        """What an untrusted file asked for, as of when that was last asked."""
        self.last_event = 0

    @property
    def is_far(self) -> bool:
        """Whether it is another machine, whose files are not here."""
        return self.host != LOCAL

    def take(self, line: WatchLine, now: float) -> None:
        """Take up one line of `watch`; `now` is monotonic."""
        match line:
            case Snapshot():
                self.host = line.status.host
                self.version = line.status.supervisor.version
                self.held = line.status.held
                self._model.replace(self, line.status, now)
            case AgentChanged():
                self._model.put(line.agent, now)
            case AgentForgotten():
                self._model.forget(line.name)
            case Happened():
                if fresh := self._fresh([line.event]):
                    self._model.happened(fresh[0])

    def remember(self, events: list[Event]) -> None:
        """Add what happened before, as far as it is newer than the newest known event."""
        if fresh := self._fresh(events):
            self._model.remember(fresh)

    def forget_events(self) -> None:
        """Another supervisor counts its events from the beginning."""
        self.last_event = 0
        self._model.forget_events(self)

    def answered(self) -> None:
        self._connect(Connection(live=True))

    def lost(self, now: float, why: str, retry_at: float, *, strange: bool = False) -> None:
        """Nobody answers; the first loss keeps its time through every retry."""
        since = self.connection.lost_at
        if self.connection.live or since is None:
            since = now
        self._connect(Connection(False, since, why, retry_at, strange))

    def _fresh(self, events: list[Event]) -> list[Event]:
        fresh = [event for event in events if event.id > self.last_event]
        self.last_event = fresh[-1].id if fresh else self.last_event
        return fresh

    def _connect(self, connection: Connection) -> None:
        if connection != self.connection:
            self.connection = connection
            self._model.tell(Change.CONNECTION)


class Model:
    """The last picture, kept current part by part; many listeners."""

    def __init__(
        self, selected: str | None = None, host: str = LOCAL, others: Sequence[str] = ()
    ) -> None:
        """`host` is the machine that is looked at, `others` are those that are joined to it."""
        self.main = Part(self, host)
        self.parts = {host: self.main, **{other: Part(self, other) for other in others}}
        """By the pilot's name for the machine, in the order in which they are told."""
        self.agents: dict[str, AgentStatus] = {}
        """By name, in each supervisor's order."""
        self.heard_at: dict[str, float] = {}
        """When each agent was last heard of, so that an age can go on growing."""
        self.selected = selected
        """The name that is selected; kept while that agent is away, so that it comes back."""
        self.events: deque[Event] = deque(maxlen=KEPT_EVENTS)
        """Oldest first."""
        self._listeners: list[Listener] = []

    @property
    def agent(self) -> AgentStatus | None:
        """The selected agent, if it is there."""
        return self.agents.get(self.selected) if self.selected else None

    @property
    def host(self) -> str:
        """The machine that is looked at, as it is called."""
        return self.main.host

    @property
    def connection(self) -> Connection:
        """To the machine that is looked at."""
        return self.main.connection

    @property
    def part(self) -> Part:
        """Where the selected agent is; where nobody is selected, the machine looked at."""
        return self.part_of(self.selected)

    @property
    def held(self) -> list[HeldSetting]:
        """What untrusted files asked for, on every host."""
        return [one for part in self.parts.values() for one in part.held]

    @property
    def is_joined(self) -> bool:
        return len(self.parts) > 1

    @property
    def any_live(self) -> bool:
        return any(part.connection.live for part in self.parts.values())

    @property
    def lost(self) -> list[Part]:
        """Of several, those that answered or were asked in vain, and do not answer now."""
        parts = self.parts.values() if self.is_joined else ()
        return [part for part in parts if part.connection.lost_at is not None]

    def part_of(self, name: str | None) -> Part:
        """Where the agent of that name is."""
        host = host_and_name(name)[0] if name else None
        return self.parts.get(host, self.main) if host else self.main

    def is_lost(self, name: str) -> bool:
        """Whether the agent's host is one of those."""
        return self.part_of(name) in self.lost

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Be told of every change from now on; answers how to stop (twice is the same as once)."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def select(self, name: str | None) -> None:
        """Select an agent by name. Twice is the same as once."""
        if name != self.selected:
            self.selected = name
            self.tell(Change.SELECTION, name)

    def hold(self, held: list[HeldSetting]) -> None:
        """These settings are held until their files are trusted, and no others of who answers."""
        before = self.held
        for part in self.parts.values():
            if part.connection.live:
                ours = (part.host, None) if part is self.main else (part.host,)
                part.held = [one for one in held if one.host in ours]
        if self.held != before:
            self.tell(Change.FLEET)

    # Who there is.

    def have(self, hosts: Sequence[str]) -> None:
        """These are the hosts beside the one that is looked at; of others nothing is left."""
        main = next(host for host, part in self.parts.items() if part is self.main)
        gone = [part for host, part in self.parts.items() if host not in (main, *hosts)]
        lost = {name for name in self.agents if self.part_of(name) in gone}
        for part in gone:
            self.forget_events(part)
        known = self.parts
        self.parts = {main: self.main, **{h: known.get(h) or Part(self, h) for h in hosts}}
        for name in lost:
            del self.agents[name]
            self.heard_at.pop(name, None)
        if self.selected in lost:
            self.select(None)
        self.tell(Change.CONNECTION)
        self.tell(Change.FLEET)

    # What a part hears.

    def replace(self, part: Part, status: Status, now: float) -> None:
        """This is all that the part has; what others have stays where it stands."""
        fresh = {agent.name: agent for agent in status.agents}
        others = {n: agent for n, agent in self.agents.items() if self.part_of(n) is not part}
        heard = {name: self.heard_at[name] for name in others}
        order = list(self.parts.values())
        together = {**others, **fresh}
        self.agents = {
            name: together[name]
            for name in sorted(together, key=lambda name: order.index(self.part_of(name)))
        }
        self.heard_at = {**heard, **dict.fromkeys(fresh, now)}
        self.tell(Change.FLEET)

    def put(self, agent: AgentStatus, now: float) -> None:
        known = agent.name in self.agents
        self.agents[agent.name] = agent
        self.heard_at[agent.name] = now
        self.tell(Change.AGENT if known else Change.FLEET, agent.name)

    def forget(self, name: str) -> None:
        self.agents.pop(name, None)
        self.heard_at.pop(name, None)
        self.tell(Change.FLEET)

    def happened(self, event: Event) -> None:
        """It is the newest, as it was heard last: clocks of machines differ."""
        self.events.append(event)
        self.tell(Change.EVENT)
        self.tell(Change.HAPPENED)

    def remember(self, events: list[Event]) -> None:
        """These happened some time; what is known of others goes between them."""
        self.events.extend(events)
        if self.is_joined:
            self.events = deque(sorted(self.events, key=lambda event: event.at), KEPT_EVENTS)
        self.tell(Change.EVENT)

    def forget_events(self, part: Part) -> None:
        kept = [event for event in self.events if self.part_of(event.agent) is not part]
        self.events = deque(kept, KEPT_EVENTS)
        self.tell(Change.EVENT)

    def tell(self, change: Change, name: str | None = None) -> None:
        for listener in list(self._listeners):
            listener(change, name)

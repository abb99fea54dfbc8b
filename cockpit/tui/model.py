"""What the screens know: the last picture of the fleet, who is selected, who answers.

Plain values and callbacks: nothing here knows Textual, waits, or asks the supervisor.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from cockpit.wire.status import AgentStatus, HeldSetting, Status
from cockpit.wire.stream import AgentChanged, AgentForgotten, Event, Happened, Snapshot, WatchLine

KEPT_EVENTS = 500
LOCAL = "local"
"""What this machine is called."""


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


class Model:
    """The last picture, kept current line by line. One writer (`follow`), many listeners."""

    def __init__(self, selected: str | None = None, host: str = LOCAL) -> None:
        self.host = host
        """The pilot's name for the machine that is looked at."""
        self.version: str | None = None
        """Of the supervisor, as it says."""
        self.agents: dict[str, AgentStatus] = {}
        """By name, in the supervisor's order."""
        self.heard_at: dict[str, float] = {}
        """When each agent was last heard of, so that an age can go on growing."""
        self.selected = selected
        """The name that is selected; kept while that agent is away, so that it comes back."""
        self.held: list[HeldSetting] = []
        """What an untrusted file asked for, as of when that was last asked."""
        self.connection = Connection()
        self.events: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self._listeners: list[Listener] = []

    @property
    def agent(self) -> AgentStatus | None:
        """The selected agent, if it is there."""
        return self.agents.get(self.selected) if self.selected else None

    @property
    def is_far(self) -> bool:
        """Whether it is another machine, whose files are not here."""
        return self.host != LOCAL

    @property
    def last_event(self) -> int:
        return self.events[-1].id if self.events else 0

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Be told of every change from now on; answers how to stop (twice is the same as once)."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def take(self, line: WatchLine, now: float) -> None:
        """Take up one line of `watch`; `now` is monotonic."""
        match line:
            case Snapshot():
                self._take_snapshot(line.status, now)
            case AgentChanged():
                known = line.agent.name in self.agents
                self.agents[line.agent.name] = line.agent
                self.heard_at[line.agent.name] = now
                self._tell(Change.AGENT if known else Change.FLEET, line.agent.name)
            case AgentForgotten():
                self.agents.pop(line.name, None)
                self.heard_at.pop(line.name, None)
                self._tell(Change.FLEET)
            case Happened():
                if self.remember([line.event]):
                    self._tell(Change.HAPPENED)

    def remember(self, events: list[Event]) -> bool:
        """Add events that are newer than the newest known one; whether there were any."""
        fresh = [event for event in events if event.id > self.last_event]
        self.events.extend(fresh)
        if fresh:
            self._tell(Change.EVENT)
        return bool(fresh)

    def forget_events(self) -> None:
        """Another supervisor counts its events from the beginning."""
        self.events.clear()
        self._tell(Change.EVENT)

    def select(self, name: str | None) -> None:
        """Select an agent by name. Twice is the same as once."""
        if name != self.selected:
            self.selected = name
            self._tell(Change.SELECTION, name)

    def hold(self, held: list[HeldSetting]) -> None:
        """These settings are held until their files are trusted, and no others."""
        if held != self.held:
            self.held = held
            self._tell(Change.FLEET)

    def answered(self) -> None:
        self._connect(Connection(live=True))

    def lost(self, now: float, why: str, retry_at: float, *, strange: bool = False) -> None:
        """Nobody answers; the first loss keeps its time through every retry."""
        since = self.connection.lost_at
        if self.connection.live or since is None:
            since = now
        self._connect(Connection(False, since, why, retry_at, strange))

    def _take_snapshot(self, status: Status, now: float) -> None:
        self.host = status.host
        self.version = status.supervisor.version
        self.held = status.held
        self.agents = {agent.name: agent for agent in status.agents}
        self.heard_at = dict.fromkeys(self.agents, now)
        self._tell(Change.FLEET)

    def _connect(self, connection: Connection) -> None:
        if connection != self.connection:
            self.connection = connection
            self._tell(Change.CONNECTION)

    def _tell(self, change: Change, name: str | None = None) -> None:
        for listener in list(self._listeners):
            listener(change, name)

"""The screens' model: the last known agents, the selected agent and the connections.

Each host has one supervisor; a `Part` is the state of one supervisor. Plain values and callbacks:
no Textual, no waiting, no requests.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Sequence
from copy import copy
from enum import StrEnum

from cockpit.config.key_names import DEFAULT_KEYS
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.far_names import LOCAL, command_name, host_and_name
from cockpit.core.safetext import safe_line
from cockpit.tui.state.shared_supervisors import settle_duplicates
from cockpit.wire.status import AgentStatus, HeldSetting, Status, SupervisorStatus
from cockpit.wire.stream import (
    AgentChanged,
    AgentForgotten,
    DaySpent,
    ElsewhereCounted,
    Event,
    Happened,
    Resumed,
    Snapshot,
    WatchLine,
)

KEPT_EVENTS = 500


class Change(StrEnum):
    """The kind of change that a listener is called with."""

    FLEET = "fleet"
    """Agents were added, removed or replaced, or another part of a host's status changed."""
    AGENT = "agent"
    """One agent changed; the listener gets the agent's name."""
    SELECTION = "selection"
    CONNECTION = "connection"
    EVENT = "event"
    """The list of events changed."""
    DAY = "day"
    """Today's cost of the agents or the day's budget changed."""
    HAPPENED = "happened"
    """The newest event has just happened; it was not loaded from history."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The connection to a supervisor. Times are monotonic seconds."""

    live: bool = False
    lost_at: float | None = None
    """When the connection was lost, or first failed; None while connected or before any failure."""
    why: str = ""
    incompatible: bool = False
    """Whether the supervisor is reachable but runs another version."""


@dataclass(frozen=True, slots=True)
class Day:
    """Today's cost of all agents of a supervisor, and the day's budget, in US dollars."""

    spent: float | None = None
    budget: float | None = None
    """The day's budget; None if no budget is configured."""

    @classmethod
    def of(cls, status: SupervisorStatus | DaySpent) -> Day:
        return cls(status.spent_today_usd, status.budget_today_usd)


Listener = Callable[[Change, str | None], None]


def default_key(action: str) -> str:
    """Return an action's first default key, as printed on a keyboard."""
    key = DEFAULT_KEYS[action][0]
    return key if len(key) == 1 else key.capitalize()


class Part:
    """The state of one supervisor. `follow` updates it from the supervisor's stream."""

    def __init__(self, model: Model, host: str) -> None:
        self._model = model
        self.host = host
        """The user's name for the host."""
        self.version: str | None = None
        """The version that the supervisor reports."""
        self.connection = Connection()
        self.held: list[HeldSetting] = []
        """The settings that are ignored because their file is not trusted, as last reported."""
        self.day = Day()
        """Today's cost and budget, as last reported."""
        self.elsewhere = 0
        """The number of sessions that no cockpit started, as last reported."""
        self.last_event = 0
        self.remark = ""
        """A note for the user on the live connection; empty without one."""
        self.position: str | None = None
        """The position of the last line received from the supervisor. Sent when the screen
        reconnects, to get only later changes."""
        self.instance: str | None = None
        """The id of the running supervisor; another part with the same id has the same agents."""
        self.same_as: str | None = None
        """The other host that shows this supervisor's agents; None if this host shows them."""
        self.rows: dict[str, tuple[AgentStatus, float]] = {}
        """Each agent's status and its time of arrival, by name; kept while another host shows the
        agents."""

    @property
    def is_remote(self) -> bool:
        """Whether the supervisor runs on another machine."""
        return self.host != LOCAL

    @property
    def unreachable(self) -> str:
        """Why this supervisor cannot be used while its connection is lost, and the next step."""
        if self.is_remote:
            host = safe_line(self.host, 32)
            wrong = "runs another version" if self.connection.incompatible else "does not answer"
            return f"{host} {wrong}. To check: cockpit doctor --host {host}"
        if self.connection.incompatible:
            return "The supervisor runs another version. Run: cockpit restart"
        return "The supervisor is not responding. Run: cockpit up"

    def take(self, line: WatchLine, now: float) -> None:
        """Process one line of `watch`. `now` is in monotonic seconds."""
        match line:
            case Snapshot():
                self._take_supervisor(line.status)
                self.elsewhere = 0  # a new count follows, unless the supervisor is older
                self.position = line.position
                self.day = Day.of(line.status.supervisor)
                self.rows = {agent.name: (agent, now) for agent in line.status.agents}
                settle_duplicates(self._model)
                if not self.same_as:
                    self._model.replace(self)
            case Resumed():
                self._resume(line, now)
            case AgentChanged():
                self.position = line.position or self.position
                self._put(line.agent, now)
            case ElsewhereCounted():
                self._count_elsewhere(line.count)
            case DaySpent():
                self._take_day(Day.of(line))
            case AgentForgotten():
                self.position = line.position or self.position
                self._forget(line.name)
            case Happened():
                if (fresh := self._fresh([line.event])) and not self.same_as:
                    self._model.happened(fresh[0])

    def remember(self, events: list[Event]) -> None:
        """Add the events that are newer than the newest known event."""
        if (fresh := self._fresh(events)) and not self.same_as:
            self._model.remember(fresh)

    def forget_events(self) -> None:
        """Drop this supervisor's events, because the supervisor has begun to number them again."""
        self.last_event = 0
        self._model.forget_events(self)

    def answered(self) -> None:
        self._connect(Connection(live=True))

    def lost(self, now: float, why: str, *, incompatible: bool = False) -> None:
        """Record that the supervisor does not answer; keeps the time of the first failure."""
        since = self.connection.lost_at
        if self.connection.live or since is None:
            since = now
        self._connect(Connection(False, since, why, incompatible))

    def _resume(self, line: Resumed, now: float) -> None:
        self._take_supervisor(line.status)
        self.position = line.position
        self._take_day(Day.of(line.status.supervisor))
        for name in line.forgotten:
            self._forget(name)
        for agent in line.status.agents:
            self._put(agent, now)
        settle_duplicates(self._model)

    def _take_supervisor(self, status: Status) -> None:
        self.host = status.host
        self.version = status.supervisor.version
        self.instance = status.supervisor.instance
        self.held = status.held

    def _put(self, agent: AgentStatus, now: float) -> None:
        self.rows[agent.name] = agent, now
        if not self.same_as:
            self._model.put(agent, now)

    def _forget(self, name: str) -> None:
        self.rows.pop(name, None)
        if not self.same_as:
            self._model.forget(name)

    def _take_day(self, day: Day) -> None:
        if day != self.day:
            self.day = day
            self._model.notify(Change.DAY)

    def _count_elsewhere(self, count: int) -> None:
        if count != self.elsewhere:
            self.elsewhere = count
            self._model.notify(Change.FLEET)

    def _fresh(self, events: list[Event]) -> list[Event]:
        fresh = [event for event in events if event.id > self.last_event]
        self.last_event = fresh[-1].id if fresh else self.last_event
        return fresh

    def _connect(self, connection: Connection) -> None:
        if connection != self.connection:
            self.connection = connection
            settle_duplicates(self._model)
            self._model.notify(Change.CONNECTION)


def review_of(agent: AgentStatus) -> tuple[str, str, str]:
    """Return what identifies the agent's question: the agent, the handoff and the question's time.

    A document that is shown again, because it changed, is another question.
    """
    handoff = agent.handoff
    return (agent.name, handoff.id, handoff.since) if handoff else (agent.name, "", "")


class Model:
    """The state of all supervisors, with listeners for changes."""

    def __init__(
        self, selected: str | None = None, host: str = LOCAL, others: Sequence[str] = ()
    ) -> None:
        """`host` is the main host: this machine, or the host given with `--host`. `others` are the
        hosts shown together with the main host.
        """
        self.main = Part(self, host)
        self.parts = {host: self.main, **{other: Part(self, other) for other in others}}
        """Parts in display order, by the user's name for the host."""
        self.agents: dict[str, AgentStatus] = {}
        """Agents by name, in each supervisor's order."""
        self.received_at: dict[str, float] = {}
        """The monotonic time in seconds at which each agent's status last arrived. The age in a
        status is relative to this time."""
        self.selected = selected
        """The name of the selected agent. Kept if a new list lacks the agent; cleared when the
        agent or its host is removed."""
        self.events: deque[Event] = deque(maxlen=KEPT_EVENTS)
        """Events, oldest first."""
        self.key_of: Callable[[str], str] = default_key
        """Returns an action's key as printed on a keyboard, with the user's `[keys]`; empty
        without a key."""
        self.screen = "fleet"
        """The action context of the screen whose keys the messages of `keys.reasons` name."""
        self.read_reviews: set[tuple[str, str, str]] = set()
        """The questions (see `review_of`) whose document was shown on this screen."""
        self._listeners: list[Listener] = []

    @property
    def agent(self) -> AgentStatus | None:
        """The selected agent; None if no agent is selected, or the selected one is missing."""
        return self.agents.get(self.selected) if self.selected else None

    def at(self, name: str) -> Model:
        """Return a copy of this state with another agent selected; the copy has no listeners."""
        other = copy(self)
        other.selected, other._listeners = name, []
        return other

    def on(self, screen: str) -> Model:
        """Return a copy of this state for another screen, without listeners, so that the messages
        of `keys.reasons` name that screen's keys.

        Returns this state itself for the same screen. `screen` is an action context, such as
        `agent`.
        """
        if screen == self.screen:
            return self
        other = copy(self)
        other.screen, other._listeners = screen, []
        return other

    @property
    def host(self) -> str:
        """The name of the main host."""
        return self.main.host

    @property
    def connection(self) -> Connection:
        """The connection to the main host."""
        return self.main.connection

    @property
    def part(self) -> Part:
        """The part of the selected agent; without a selected agent, the main part."""
        return self.part_of(self.selected)

    @property
    def held(self) -> list[HeldSetting]:
        """Settings of all hosts that are ignored because their file is not trusted."""
        return [setting for part in self.shown_parts for setting in part.held]

    @property
    def elsewhere(self) -> int:
        """The number of sessions that no cockpit started, on the hosts that answer."""
        return sum(part.elsewhere for part in self.shown_parts if part.connection.live)

    @property
    def is_joined(self) -> bool:
        return len(self.parts) > 1

    @property
    def shown_parts(self) -> list[Part]:
        """The parts whose agents no other host shows; see `Part.same_as`."""
        return [part for part in self.parts.values() if not part.same_as]

    @property
    def any_live(self) -> bool:
        return any(part.connection.live for part in self.parts.values())

    @property
    def lost(self) -> list[Part]:
        """The parts whose connection failed; without parts that were not tried yet.

        Always empty if there is only one host.
        """
        parts = self.parts.values() if self.is_joined else ()
        return [part for part in parts if part.connection.lost_at is not None]

    def part_of(self, name: str | None) -> Part:
        """Return the part of the agent with that name; the main part without a name."""
        host = host_and_name(name)[0] if name else None
        return self.parts.get(host, self.main) if host else self.main

    def command_name(self, name: str) -> str:
        """Return an agent's name as typed in a command: `NAME`, or `NAME --host HOST`."""
        return safe_line(command_name(name, self.main.host), 100)

    def is_lost(self, name: str) -> bool:
        """Return whether the agent's host does not answer; always False with only one host."""
        return self.is_joined and self.part_of(name).connection.lost_at is not None

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; return an idempotent function that removes it."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def select(self, name: str | None) -> None:
        """Select an agent by name. Idempotent."""
        if name != self.selected:
            self.selected = name
            self.notify(Change.SELECTION, name)

    def hold(self, held: list[HeldSetting], without: Container[str] = ()) -> None:
        """Replace the untrusted settings of all connected hosts, except the hosts in `without`.

        The settings of all other hosts stay as last reported. `without` are hosts that did
        not answer the request for the status.
        """
        before = self.held
        for host, part in self.parts.items():
            if part.connection.live and host not in without:
                ours = (part.host, None) if part is self.main else (part.host,)
                part.held = [setting for setting in held if setting.host in ours]
        if self.held != before:
            self.notify(Change.FLEET)

    # Hosts

    def set_hosts(self, hosts: Sequence[str]) -> None:
        """Replace the hosts other than the main one; drop the state of the removed hosts."""
        main = next(host for host, part in self.parts.items() if part is self.main)
        removed = [part for host, part in self.parts.items() if host not in (main, *hosts)]
        lost = {name for name in self.agents if self.part_of(name) in removed}
        for part in removed:
            self.forget_events(part)
        known = self.parts
        self.parts = {main: self.main, **{h: known.get(h) or Part(self, h) for h in hosts}}
        for name in lost:
            del self.agents[name]
            self.received_at.pop(name, None)
        if self.selected in lost:
            self.select(None)
        settle_duplicates(self)
        self.notify(Change.CONNECTION)
        self.notify(Change.FLEET)

    # Called by the parts

    def replace(self, part: Part) -> None:
        """Replace the agents of one part with the part's rows."""
        rows = {} if part.same_as else part.rows
        fresh = {name: agent for name, (agent, _) in rows.items()}
        others = {n: agent for n, agent in self.agents.items() if self.part_of(n) is not part}
        received = {name: self.received_at[name] for name in others}
        order = list(self.parts.values())
        together = {**others, **fresh}
        self.agents = {
            name: together[name]
            for name in sorted(together, key=lambda name: order.index(self.part_of(name)))
        }
        self.received_at = {**received, **{name: at for name, (_, at) in rows.items()}}
        self.notify(Change.FLEET)

    def put(self, agent: AgentStatus, now: float) -> None:
        known = agent.name in self.agents
        self.agents[agent.name] = agent
        self.received_at[agent.name] = now
        self.notify(Change.AGENT if known else Change.FLEET, agent.name)

    def forget(self, name: str) -> None:
        self.agents.pop(name, None)
        self.received_at.pop(name, None)
        if self.selected == name:
            self.select(None)
        self.notify(Change.FLEET)

    def happened(self, event: Event) -> None:
        """Append a new event, in the order of arrival, because the clocks of hosts differ."""
        self.events.append(event)
        self.notify(Change.EVENT)
        self.notify(Change.HAPPENED)

    def remember(self, events: list[Event]) -> None:
        """Add past events, sorted by time together with the events of other hosts."""
        self.events.extend(events)
        if self.is_joined:
            self.events = deque(sorted(self.events, key=lambda event: event.at), KEPT_EVENTS)
        self.notify(Change.EVENT)

    def forget_events(self, part: Part) -> None:
        kept = [event for event in self.events if self.part_of(event.agent) is not part]
        self.events = deque(kept, KEPT_EVENTS)
        self.notify(Change.EVENT)

    def notify(self, change: Change, name: str | None = None) -> None:
        for listener in list(self._listeners):
            listener(change, name)

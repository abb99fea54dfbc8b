"""The lines of the list of agents, kept in order while single agents change."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from cockpit.tui.present.fleet import AgentLine, Gap, Heading, ListedLine
from cockpit.tui.present.matching import match
from cockpit.tui.present.sorting import sort_key
from cockpit.tui.present.states import GROUPS, group_of
from cockpit.wire.status import AgentStatus

_NUMBERS = {group.key: number for number, group in enumerate(GROUPS)}


class _Place(NamedTuple):
    """An agent's sort key inside its group; the fields are compared in this order."""

    not_by_name: bool
    key: Any
    arrival: int
    """The agent's position in the supervisor's order; unique."""
    name: str


class _Listed(NamedTuple):
    group: int
    place: _Place
    letters: tuple[int, ...]


class Listing:
    """One line per agent, in groups; with a filter, only agents that match all its words.

    Inside a group, agents whose name matches come first. The default order inside a group is the
    supervisor's, so that an agent's line moves only when the agent's state changes. `change` does
    not visit the other agents, and `line` builds only the requested line.
    """

    def __init__(self) -> None:
        self.airy = False
        """Whether there is an empty line between two groups."""
        self._wanted: list[str] = []
        self._sort = ""
        self._arrivals: dict[str, int] = {}
        self._listed: dict[str, _Listed] = {}
        self._groups: list[list[_Place]] = [[] for _ in GROUPS]
        self._names: list[str] | None = []

    def fill(
        self, agents: Iterable[AgentStatus], words_wanted: str = "", sort: str = "need"
    ) -> None:
        """Replace all agents; `agents` are in the supervisor's order."""
        self._wanted, self._sort = words_wanted.lower().split(), sort
        self._arrivals, self._listed = {}, {}
        self._groups = [[] for _ in GROUPS]
        self._names = None
        for arrival, agent in enumerate(agents):
            self._arrivals[agent.name] = arrival
            if listed := self._place_of(agent):
                self._listed[agent.name] = listed
                self._groups[listed.group].append(listed.place)
        for places in self._groups:
            places.sort()

    def holds(self, agents: Mapping[str, AgentStatus], words_wanted: str, sort: str) -> bool:
        """Return whether the listing has these agents, this filter and this order."""
        same = self._arrivals.keys() == agents.keys() and self._sort == sort
        return same and self._wanted == words_wanted.lower().split()

    def change(self, agent: AgentStatus) -> None:
        """Show, move or hide an agent after a change of the agent.

        The agent must have been in the last `fill`.
        """
        before, after = self._listed.get(agent.name), self._place_of(agent)
        if before == after:
            return
        if before:
            places = self._groups[before.group]
            del places[bisect_left(places, before.place)]
            del self._listed[agent.name]
        if after:
            insort(self._groups[after.group], after.place)
            self._listed[agent.name] = after
        self._names = None

    @property
    def names(self) -> list[str]:
        """The names of the listed agents, from the top. Callers must not change the list."""
        if self._names is None:
            self._names = [place.name for places in self._groups for place in places]
        return self._names

    def __contains__(self, name: object) -> bool:
        return name in self._listed

    @property
    def headings(self) -> int:
        return sum(map(bool, self._groups))

    @property
    def gaps(self) -> int:
        return max(0, self.headings - 1) if self.airy else 0

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self._listed) + self.headings + self.gaps

    def line(self, line: int) -> ListedLine:
        """Return the line with this number, from 0. Raises `IndexError` after the last line."""
        number = 0
        for group, places in zip(GROUPS, self._groups, strict=True):
            if not places:
                continue
            if number and self.airy:
                if not line:
                    return Gap()
                line -= 1
            if not line:
                return Heading(group, len(places), first=not number)
            line -= 1
            if line < len(places):
                name = places[line].name
                return AgentLine(name, number + line + 1, self._listed[name].letters)
            line -= len(places)
            number += len(places)
        raise IndexError(line)

    def line_of(self, name: str | None) -> int | None:
        """Return the number of an agent's line; None if the agent is not listed."""
        listed = self._listed.get(name) if name else None
        if listed is None:
            return None
        above = [len(places) + 1 + self.airy for places in self._groups[: listed.group] if places]
        return sum(above) + 1 + bisect_right(self._groups[listed.group], listed.place) - 1

    def _place_of(self, agent: AgentStatus) -> _Listed | None:
        """Return where the agent is listed; None if the filter hides the agent."""
        matched = match(agent, self._wanted)
        if matched is None:
            return None
        by_name = matched.by_name or not self._wanted
        arrival = self._arrivals[agent.name]
        place = _Place(not by_name, sort_key(agent, self._sort), arrival, agent.name)
        return _Listed(_NUMBERS[group_of(agent).key], place, matched.letters)

"""What was read about one agent for its screen, and which of it is no longer sure to be true.

It draws nothing. Readings that come with the row are added to the course, so that a working agent
costs no question; everything else waits until something happened that may have changed it.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import time
from typing import Any

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.tui.present.agent import files_may_differ
from cockpit.tui.present.history import Entry, entries
from cockpit.tui.present.lineage import Link, chain_of, links
from cockpit.tui.screens.errands import in_one_line
from cockpit.wire.course import Course, CoursePoint
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.status import AgentStatus

READ = ("course", "facts", "diff")
"""What can be read; the sections of the screen that need it have these names."""


class Lookups:
    """Of one agent. Each is None until it was read."""

    def __init__(self, client: Client, name: str, agent: AgentStatus | None) -> None:
        self._client = client
        self._name = name
        self._agent = agent
        self._sessions: list[Any] = []
        self.course: Course | None = None
        self.papers: list[Entry] = []
        self.facts: dict[str, Any] | None = None
        self.diff: WorktreeDiff | None = None
        self.of_job = False
        """The diff is of the whole job, not of what is not committed."""
        self.outdated: set[str] = set(READ)
        self.troubles: dict[str, str] = {}
        """Why a section could not be read when that was last tried."""

    def take(self, agent: AgentStatus | None) -> None:
        """Take the agent's row as it is now."""
        before, self._agent = self._agent, agent
        if agent is None or before is None:
            return
        if files_may_differ(before, agent):
            self.outdated |= {"facts", "diff"}
        rested = before.state != agent.state and agent.state != "working"
        if rested or before.session_id != agent.session_id:
            self.outdated.add("course")
        elif agent.context.tokens is not None and agent.context.tokens != before.context.tokens:
            self.course = grown(self.course, agent)

    def turn(self) -> None:
        """The diff of the whole job instead of what is not committed, or the other way round."""
        self.of_job = not self.of_job
        self.diff = None
        self.outdated.add("diff")

    def links(self) -> list[Link]:
        """The chain, with what the row says now."""
        return links(self._sessions, self._agent)

    def paper(self, link: Link) -> Entry | None:
        """The document that a session left."""
        return next((each for each in self.papers if each.id == link.handoff), None)

    def wanted(self, shown: Iterable[str]) -> list[str]:
        """Which of the shown sections have to be read."""
        return [section for section in shown if section in self.outdated]

    async def read(self, section: str) -> None:
        """Read one of `READ`. Raises what the client raises; it stays outdated then."""
        self.outdated.discard(section)
        try:
            await getattr(self, f"_read_{section}")()
        except BaseException as error:
            self.outdated.add(section)
            if isinstance(error, CockpitError):
                self.troubles[section] = in_one_line(error)
            raise
        self.troubles.pop(section, None)

    async def _read_course(self) -> None:
        self.course = await self._client.course(self._name)
        history = await self._client.history(self._name)
        self._sessions, self.papers = chain_of(history, self._agent), entries(history)

    async def _read_facts(self) -> None:
        self.facts = await self._client.facts(self._name)

    async def _read_diff(self) -> None:
        self.diff = await self._client.diff(self._name, of_job=self.of_job)


def grown(course: Course | None, agent: AgentStatus) -> Course | None:
    """The course with the reading that the row has now; the record's own word comes later."""
    tokens = agent.context.tokens
    if course is None or not course.stretches or tokens is None:
        return course
    *before, last = course.stretches
    if last.session != agent.session_id:
        return course
    call = last.points[-1].call + 1 if last.points else 1
    point = CoursePoint(call, tokens, "reply", time())
    more = last.model_copy(update={"points": [*last.points, point], "unknown": None})
    return course.model_copy(update={"stretches": [*before, more]})

"""Load the data of one agent for its screen, and track which parts may be outdated.

A new token count is appended to the context history without a request. Other data is read again
when the user reloads it, after a lost connection, and after a status or an event that suggests that
the data changed.
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
from cockpit.tui.screens.requests import in_one_line
from cockpit.wire.course import Course, CoursePoint
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.history import HistorySession
from cockpit.wire.status import AgentStatus

READ = ("course", "facts", "diff")
"""Names of the data that can be read; the sections that show them have the same names."""


class Lookups:
    """The data of one agent. `course`, `facts` and `diff` are None until they have been read."""

    def __init__(self, client: Client, name: str, agent: AgentStatus | None) -> None:
        self._client = client
        self._name = name
        self._agent = agent
        self._readers = {
            "course": self._read_course,
            "facts": self._read_facts,
            "diff": self._read_diff,
        }
        self._sessions: list[HistorySession] = []
        self.course: Course | None = None
        self.documents: list[Entry] = []
        self.facts: dict[str, Any] | None = None
        self.diff: WorktreeDiff | None = None
        self.of_job = False
        """Whether the diff covers the whole job; if not, only uncommitted changes."""
        self.outdated: set[str] = set(READ)
        self.troubles: dict[str, str] = {}
        """Why the last attempt to read a section failed, by section."""

    def take(self, agent: AgentStatus | None) -> None:
        """Process a new status of the agent: mark outdated data, append a new token count."""
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
        """Switch the diff between uncommitted changes and the whole job."""
        self.of_job = not self.of_job
        self.diff = None
        self.outdated.add("diff")

    def links(self) -> list[Link]:
        """Return the chain of the agent's job, updated from the agent's current status."""
        return links(self._sessions, self._agent)

    def document_of(self, link: Link) -> Entry | None:
        """Return the history entry of a session's document; None if the session has no document."""
        return next((document for document in self.documents if document.id == link.handoff), None)

    def wanted(self, shown: Iterable[str]) -> list[str]:
        """Return the shown sections that need to be read."""
        return [section for section in shown if section in self.outdated]

    async def read(self, section: str) -> None:
        """Load one section from the supervisor. The section stays outdated if the request fails."""
        self.outdated.discard(section)
        try:
            await self._readers[section]()
        except BaseException as error:
            self.outdated.add(section)
            if isinstance(error, CockpitError):
                self.troubles[section] = in_one_line(error)
            raise
        self.troubles.pop(section, None)

    async def _read_course(self) -> None:
        self.course = await self._client.course(self._name)
        history = await self._client.history(self._name)
        self._sessions, self.documents = chain_of(history, self._agent), entries(history)

    async def _read_facts(self) -> None:
        self.facts = await self._client.facts(self._name)

    async def _read_diff(self) -> None:
        self.diff = await self._client.diff(self._name, of_job=self.of_job)


def grown(course: Course | None, agent: AgentStatus) -> Course | None:
    """Return the context history with the agent's current token count appended.

    Unchanged if the count is unknown, or if the session is not yet in the history. The next full
    read of the history replaces the result.
    """
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

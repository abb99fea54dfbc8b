"""The interfaces that screens and commands use.

`http.py` implements the client of one supervisor, `host_client.py` adds the host's name to agents'
names, and `joined_client.py` combines several supervisors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from cockpit.wire.course import Course
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.history import HistoryChain, HistoryPage
from cockpit.wire.status import ElsewhereSession, Status
from cockpit.wire.stream import Event, ScreenShot, WatchLine
from cockpit.wire.verbs import Done, Verb
from cockpit.wire.worktrees import WorktreeStatus


class Client(Protocol):
    """A client of one or several supervisors. All errors are `CockpitError`s; a lost connection
    raises `NoSupervisor`.
    """

    async def status(self) -> Status:
        """Return the current state of all agents."""

    def screen(self, name: str, history: int = 0) -> AsyncIterator[ScreenShot]:
        """Yield an agent's pane each time the pane changes.

        The supervisor captures the pane only during this call, with `history` lines of scrollback.
        Ends when the pane no longer exists. Raises `NoSuchAgent`, and `NotNow` if the agent
        has no pane.
        """

    async def ask(self, verb: Verb) -> Done:
        """Send a request. Returns when the supervisor has completed or accepted the request."""

    async def document(self, handoff: str) -> str:
        """Return the text of a handoff's document, or of its draft.

        Raises `NoSuchAgent` if the handoff is unknown or has no document, and `BadUsage` if several
        handoffs match.
        """

    async def continuation(self, name: str) -> str:
        """Return the prompt for the agent's next session.

        Raises `NotNow` if there is no document.
        """

    async def facts(self, name: str) -> dict[str, Any]:
        """Return the facts of the agent's session, as `cockpit facts --json` prints them."""

    async def history(
        self, name: str | None = None, search: str | None = None
    ) -> list[HistoryChain]:
        """Return the chains of sessions that `cockpit history --json` prints, of one agent or all.

        With `search`, returns only sessions with a document that contains all words of `search`,
        and sets the `found` of each handoff to the best matching line of its document. Only the 200
        newest matching documents count.
        """

    async def history_page(
        self, limit: int, before: str | None = None, name: str | None = None
    ) -> HistoryPage:
        """Return a page of `limit` handoffs: the newest, or with `before` the next older ones.

        The handoffs are those of the agent `name`, or of all agents. `before` is the `next` of the
        page with the newer handoffs; an unknown value raises `BadUsage`. With several supervisors,
        the page has up to `limit` handoffs of each supervisor.
        """

    async def course(self, name: str) -> Course:
        """Return an agent's context use over all sessions of its job."""

    async def dialog(self, name: str) -> DialogStatus:
        """Return the permission dialog or question that is open in the agent's pane.

        Raises `NotNow` if none is open.
        """

    async def worktrees(
        self, directory: str | None = None, *, sizes: bool = False
    ) -> list[WorktreeStatus]:
        """Return the worktrees of all agents' repositories, and of the repository that contains
        `directory`. With `sizes`, also their disk space, which can take half a minute.
        """

    async def elsewhere(self) -> list[ElsewhereSession] | None:
        """Return the sessions that no cockpit started; None if `[elsewhere] show` is off."""

    async def diff(self, name: str, *, of_job: bool = False) -> WorktreeDiff:
        """Return the diff of the agent's directory since HEAD; `of_job`: since the job began."""


class Supervisor(Client, Protocol):
    """A client of one supervisor, which can also follow the supervisor's events."""

    @property
    def remark(self) -> str:
        """A message for the user about the connection; usually empty."""

    def watch(
        self, *, elsewhere: bool = False, day: bool = False, since: str | None = None
    ) -> AsyncIterator[WatchLine]:
        """Yield a snapshot, then changes and events; raise `NoSupervisor` when the supervisor ends.

        `since` is the `position` of an earlier line. If the supervisor still has all changes since
        then, yields `Resumed` instead of the snapshot.

        With `elsewhere`, also yields the number of sessions that no cockpit started; with `day`,
        today's cost of all agents.
        """

    async def events(self, *, after: int = 0, limit: int = 200) -> list[Event]:
        """Return at most `limit` events with an id above `after`, oldest first; with `after` 0, the
        newest events."""

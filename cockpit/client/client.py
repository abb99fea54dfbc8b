"""What screens and commands are written against.

`http.py` and `memory.py` are one supervisor each, `named.py` is one under the name of its host, and
`joined.py` is several as one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from cockpit.wire.course import Course
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.status import Status
from cockpit.wire.stream import Event, ScreenShot, WatchLine
from cockpit.wire.verbs import Done, Verb
from cockpit.wire.worktrees import WorktreeStatus


class Client(Protocol):
    """One supervisor or several. Every refusal is a `CockpitError`; a lost one `NoSupervisor`."""

    async def status(self) -> Status:
        """Everything, now."""

    def screen(self, name: str, history: int = 0) -> AsyncIterator[ScreenShot]:
        """An agent's pane whenever its picture changes; the supervisor captures only meanwhile.

        Raises `NoSuchAgent`, and `NotNow` when the agent has no pane.
        """

    async def ask(self, verb: Verb) -> Done:
        """Have something done; answers when it is done or under way."""

    async def document(self, handoff: str) -> str:
        """The text of a handoff's document (or its draft of facts)."""

    async def continuation(self, name: str) -> str:
        """What the new session of an agent that is handed off will be told; `NotNow` before."""

    async def facts(self, name: str) -> dict[str, Any]:
        """`cockpit facts --json` of the agent's session, now."""

    async def history(
        self, name: str | None = None, search: str | None = None
    ) -> list[dict[str, Any]]:
        """`cockpit history --json`; with `search` only what left a document with all the words.

        A handoff that was found has `found`: the line of its document where they stand.
        """

    async def course(self, name: str) -> Course:
        """How full an agent's context was, over every session of its job."""

    async def worktrees(self, directory: str | None = None) -> list[WorktreeStatus]:
        """The worktrees of every agent's repository, and of the one of a directory."""

    async def diff(self, name: str, *, of_job: bool = False) -> WorktreeDiff:
        """How its worktree differs from the last commit, or from where the job began."""


class Supervisor(Client, Protocol):
    """One supervisor, which alone can be followed: its events are counted, its stream can end."""

    def watch(self) -> AsyncIterator[WatchLine]:
        """A snapshot, then what changes, until the supervisor goes away (`NoSupervisor`)."""

    async def events(self, *, after: int = 0, limit: int = 200) -> list[Event]:
        """What happened after an event, oldest first; `after=0` gives the newest `limit`."""

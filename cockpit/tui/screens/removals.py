"""Worktree removals: the running ones, and the results.

Removals continue after the screen is closed, and are shown when the screen is opened again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from cockpit.client.client import Client
from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.errors import CockpitError
from cockpit.tui.present.worktrees import name_of
from cockpit.wire.verbs import RemoveWorktree
from cockpit.wire.worktrees import WorktreeStatus

RESULTS_KEPT = 5
"""Maximum number of completed removals that are kept."""


@dataclass(frozen=True, slots=True)
class Removed:
    """A removed worktree, and where its content is saved."""

    tree: WorktreeStatus
    reference: str | None
    """The git ref under which the worktree's content is saved; None if nothing was saved."""


class Removals:
    """Runs removals of worktrees and keeps the results. Maps are keyed by `name_of(tree)`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.begun: dict[str, datetime] = {}
        """Start times of the removals in progress."""
        self.refused: dict[str, CockpitError] = {}
        """The error of each failed removal."""
        self.done: list[Removed] = []
        """The last `RESULTS_KEPT` completed removals, newest first."""
        self._listener: Callable[[], None] = lambda: None

    def listen(self, listener: Callable[[], None]) -> None:
        """Set the listener that is called on every change; replaces the previous one."""
        self._listener = listener

    async def remove(self, tree: WorktreeStatus, now: datetime, *, salvage: bool) -> str:
        """Remove a worktree; return the message to show. Raises the same errors as `Client.ask`.

        Does nothing and returns an empty message if the removal is already running.
        """
        name = name_of(tree)
        if name in self.begun:
            return ""
        self.begun[name] = now
        self.refused.pop(name, None)
        self._listener()
        try:
            done = await self._client.ask(RemoveWorktree(tree=name, salvage=salvage))
        except CockpitError as error:
            self.refused[name] = error
            raise
        else:
            self.done = [Removed(tree, done.text), *self.done][:RESULTS_KEPT]
            return done.message
        finally:
            del self.begun[name]
            self._listener()

    def forget_refusals(self) -> None:
        """Forget the errors of failed removals, because the list is loaded again."""
        self.refused.clear()

"""Removals of worktrees that were asked for: which are under way, what came of them.

They go on when the screen that began them is left, and are still told when it is opened again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError
from cockpit.tui.present.worktrees import name_of
from cockpit.wire.verbs import RemoveWorktree
from cockpit.wire.worktrees import WorktreeStatus

MOST_TOLD = 5


@dataclass(frozen=True, slots=True)
class Removed:
    """One that is gone."""

    tree: WorktreeStatus
    reference: str | None
    """What keeps all that was in it."""


class Removals:
    """By the names of `name_of`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.begun: dict[str, datetime] = {}
        """Those under way, and since when."""
        self.refused: dict[str, CockpitError] = {}
        """Why the last try of one came to nothing."""
        self.done: list[Removed] = []
        """The newest first."""
        self._listener: Callable[[], None] = lambda: None

    def listen(self, listener: Callable[[], None]) -> None:
        """Have one be called whenever something of it changes; the one before no longer."""
        self._listener = listener

    async def remove(self, tree: WorktreeStatus, now: datetime, *, salvage: bool) -> str:
        """Have it removed; what is to be told of it in passing. Raises as `Client.ask`."""
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
            self.done = [Removed(tree, done.text), *self.done][:MOST_TOLD]
            return done.message
        finally:
            del self.begun[name]
            self._listener()

    def forget_refusals(self) -> None:
        """They were looked at anew."""
        self.refused.clear()

"""The world as the supervisor's parts get it: ports and places, put together once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cockpit.adapters.documents import Documents
from cockpit.adapters.store.store import Store
from cockpit.config.paths import Places
from cockpit.ports.clock import Clock
from cockpit.ports.panes import Panes
from cockpit.ports.processes import Processes
from cockpit.ports.runtimes import Runtime
from cockpit.ports.worktrees import Worktrees
from cockpit.supervisor.feed import Feed


class Runtimes(Protocol):
    """Gives the runtime of a name; `NotNow` for one that is not flown yet."""

    def __call__(self, name: str) -> Runtime: ...


@dataclass(frozen=True, slots=True)
class Instruments:
    """Everything outside that a part of the supervisor may use."""

    places: Places
    store: Store
    feed: Feed
    clock: Clock
    panes: Panes
    processes: Processes
    worktrees: Worktrees
    documents: Documents
    runtimes: Runtimes
    environment: Mapping[str, str]
    """The supervisor's own, as it was at `up`."""

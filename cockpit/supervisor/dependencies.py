"""The world as the supervisor's parts get it: ports and places, put together once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from cockpit.adapters.documents.files import Documents
from cockpit.adapters.process.bounded_calls import BoundedCalls
from cockpit.adapters.process.prompt_files import KeptPrompts
from cockpit.adapters.store.store import Store
from cockpit.config.paths import Places
from cockpit.ports.clock import Clock
from cockpit.ports.panes import Panes
from cockpit.ports.processes import Processes
from cockpit.ports.runtimes import Runtime
from cockpit.ports.slow_calls import SlowCalls
from cockpit.ports.worktrees import Worktrees
from cockpit.supervisor.events import EventLog


class Runtimes(Protocol):
    """Gives the runtime of a name; `NotNow` for one that is not flown yet."""

    def __call__(self, name: str) -> Runtime: ...


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Everything outside that a part of the supervisor may use."""

    places: Places
    store: Store
    event_log: EventLog
    clock: Clock
    panes: Panes
    processes: Processes
    worktrees: Worktrees
    documents: Documents
    runtimes: Runtimes
    environment: Mapping[str, str]
    """The supervisor's own, as it was at `up`."""
    slow: SlowCalls = field(default_factory=BoundedCalls)
    """For every look at a path that an agent can name: its file system may hang."""

    @property
    def prompts(self) -> KeptPrompts:
        """First prompts that no CLI has yet."""
        return KeptPrompts(self.places.prompts)

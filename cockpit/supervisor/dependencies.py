"""The dependencies of the supervisor's components: ports, folders and the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from cockpit.adapters.agents.own.definitions import Definitions
from cockpit.adapters.documents.files import Documents
from cockpit.adapters.process.bounded_calls import BoundedCalls
from cockpit.adapters.process.prompt_files import KeptPrompts
from cockpit.adapters.store.store import Store
from cockpit.config.paths import Places
from cockpit.core.deferred_dataclass import dataclass
from cockpit.ports.clock import Clock
from cockpit.ports.live_sessions import LiveSessions, NoLiveSessions
from cockpit.ports.panes import Panes
from cockpit.ports.processes import Processes
from cockpit.ports.runtimes import Runtime
from cockpit.ports.slow_calls import SlowCalls
from cockpit.ports.worktrees import Worktrees
from cockpit.supervisor.events import EventLog


class Runtimes(Protocol):
    """Returns the runtime with the given name."""

    def __call__(self, name: str) -> Runtime: ...


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The shared dependencies, built once and passed to every component of the supervisor."""

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
    """The supervisor's environment, without the variables that `agent_environment` removes."""
    own_runtimes: Definitions = field(default_factory=Definitions)
    """Definitions of the user's own runtimes, from which `runtimes` creates these runtimes."""
    slow: SlowCalls = field(default_factory=BoundedCalls)
    """Calls with a time limit, for files on a file system that may hang."""

    live_sessions: LiveSessions = field(default_factory=NoLiveSessions)
    """Sessions that processes of this user have open, from files that the CLIs write."""

    @property
    def prompts(self) -> KeptPrompts:
        """The files with first prompts that no CLI has read yet."""
        return KeptPrompts(self.places.prompts)

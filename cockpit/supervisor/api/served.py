"""The components of the supervisor that handle requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from cockpit.core.deferred_dataclass import dataclass
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.daily_costs import DailyCosts
from cockpit.supervisor.agents.fleet import Fleet
from cockpit.supervisor.api.callers import Callers
from cockpit.supervisor.api.last_requests import LastRequests
from cockpit.supervisor.api.verbs.agent_lock import Perform
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.handoff.engine import Engine
from cockpit.supervisor.history.chains import History
from cockpit.supervisor.history.lookups import Lookups
from cockpit.supervisor.history.session_facts import SessionFacts
from cockpit.supervisor.lifetime import Lifetime
from cockpit.supervisor.sessions.worktree_sizes import WorktreeSizes
from cockpit.supervisor.sessions.worktrees import AgentWorktrees
from cockpit.supervisor.view.elsewhere import ElsewhereRows
from cockpit.supervisor.view.publisher import RowPublisher
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.status import Status
from cockpit.wire.verbs import Verb


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """All components that the routes of the HTTP API call."""

    perform: Mapping[type[Verb], Perform]
    """The handler of every verb in `wire.verbs`."""
    dialog: Callable[[Agent], Awaitable[DialogStatus]]
    dependencies: Dependencies
    callers: Callers
    last_requests: LastRequests
    fleet: Fleet
    rows: RowPublisher
    elsewhere: ElsewhereRows
    daily_costs: DailyCosts
    engine: Engine
    history: History
    session_facts: SessionFacts
    lookups: Lookups
    worktrees: AgentWorktrees
    worktree_sizes: WorktreeSizes
    status: Callable[[], Status]
    life: Lifetime

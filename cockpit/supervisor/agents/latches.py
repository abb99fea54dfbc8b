"""Names of latches: facts about a session that stay in the database until they are removed."""

from __future__ import annotations

from cockpit.adapters.store.store import Store
from cockpit.supervisor.agents.agent import Agent

UNDONE = "undone"
"""The user reopened the session: the next handoff asks first."""
LET_COMPACT = "let.compact"
"""The user lets the session compact: its band begins no handoff before that."""
BORN_FULL = "born.full"
"""The session began above the act threshold."""
MARKED_DONE = "said.done"
"""The user marked the job as done; the latch holds when, in steady seconds."""

DONE_REPORTED = "told.done"
"""The session was recorded as done; its process may end much later."""


def has_reported_done(store: Store, agent: Agent) -> bool:
    """Whether the agent's session was recorded as done."""
    return agent.session is not None and store.latched(agent.session.id, DONE_REPORTED) is not None


def began(boot: str) -> str:
    """The latch with the start of the session's process, in monotonic seconds of that boot."""
    return f"began.{boot}"

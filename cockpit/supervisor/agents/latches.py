"""Names of stored flags: facts about a session, which the database keeps until they are removed."""

from __future__ import annotations

from cockpit.adapters.store.store import Store
from cockpit.supervisor.agents.agent import Agent

UNDONE = "undone"
"""The user returned to this session by an undo, so the user is asked before the next handoff."""
LET_COMPACT = "let.compact"
"""The user or a hook lets the session compact: until the next compaction, the context's size causes
no handoff."""
EARLIER_COST = "cost.earlier"
"""The session began before cockpit recorded it. cockpit does not know on which days the session's
earlier cost was spent."""
FULL_AT_START = "born.full"
"""The session began above the act threshold."""
MARKED_DONE = "said.done"
"""The user marked the job as done. The flag's value is the time, in seconds of `Clock.steady`."""

OPENED = "opened"
"""A process was started for the session. The flag's value is the time, in Unix seconds."""

DONE_REPORTED = "told.done"
"""The session was recorded as done; its process may end much later."""


def has_reported_done(store: Store, agent: Agent) -> bool:
    """Return whether the agent's session was recorded as done."""
    return agent.session is not None and store.latched(agent.session.id, DONE_REPORTED) is not None


def began(boot: str) -> str:
    """Return the name of the flag that stores when the session's process was started.

    The flag's value is in monotonic seconds of the boot with the id `boot`.
    """
    return f"began.{boot}"

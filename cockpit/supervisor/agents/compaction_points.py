"""Record at how many tokens CLIs compact, by model, version, window and settings."""

from __future__ import annotations

from cockpit.adapters.store.store import Store
from cockpit.core.compaction_point import SeenPoint
from cockpit.supervisor.agents.agent import Agent


class CompactionPoints:
    """Stores and loads the token counts at which CLIs compacted."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def consider(self, agent: Agent) -> None:
        """Store the token counts at which the session compacted, or failed to compact.

        A session failed to compact if it passed the token count of the CLI's formula. Loads the
        stored counts when the model, version, window or settings change. Idempotent.
        """
        session_state, key = agent.session_state, key_of(agent)
        if key is None:
            return
        if key != session_state.compaction.point_key:
            session_state.compaction.point_key = key
            session_state.compaction.seen_point = self._store.compaction_point(key)
        known = session_state.compaction.seen_point
        formula = agent.compaction_formula
        if (
            session_state.compaction.passed is not None
            and formula is not None
            and session_state.compaction.passed >= formula
        ):
            known = (
                known.after_pass(session_state.compaction.passed)
                if new_pass(known, session_state.compaction.passed)
                else known
            )
        if session_state.compaction.by_itself_at is not None:
            known = known.after_compaction(session_state.compaction.by_itself_at)
        session_state.compaction.passed = session_state.compaction.by_itself_at = None
        if known != session_state.compaction.seen_point:
            self._store.save_compaction_point(key, known)
            session_state.compaction.seen_point = known


def new_pass(known: SeenPoint, tokens: int) -> bool:
    """Return whether to store a token count at which the CLI did not compact.

    True if no count is stored, if `tokens` is at least 1000 above the stored count, or if `tokens`
    is not below the count of a stored compaction.
    """
    against = known.compacted is not None and tokens >= known.compacted
    return against or known.passed is None or tokens >= known.passed + 1000


def key_of(agent: Agent) -> str | None:
    """Return the key under which the agent's compaction points are stored.

    None if the model or the window is unknown, or if the runtime has no token counts.
    """
    session_state, window = agent.session_state, agent.session_state.gauge.window.tokens
    if not session_state.model or not window or not agent.has_readings:
        return None
    parts = (
        agent.runtime.name,
        session_state.model,
        session_state.version or "",
        str(window),
        session_state.compaction_rule.settings if session_state.compaction_rule else "",
    )
    return "|".join(parts)

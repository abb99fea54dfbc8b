"""Keeping what an agent's dialog asks for as long as it stands, over a restart too.

Writes down and brings back; whether the same dialog still stands is `Conduct`'s to say.
"""

from __future__ import annotations

from contextlib import suppress

from cockpit.adapters.store.dialogs import DialogTable
from cockpit.adapters.store.store import Store
from cockpit.core.errors import Hindered
from cockpit.core.handoff.events import Turn
from cockpit.core.moments import DialogOpened
from cockpit.supervisor.agents.agent import Agent

Kept = tuple[str, DialogOpened, float]
"""The session, what is asked in it, and when that was heard, in steady seconds."""


class Dialogs:
    """One for all agents; the disk is written to when something changed, and only then."""

    def __init__(self, store: Store) -> None:
        self._table = DialogTable(store)
        self._kept: dict[str, Kept | None] = {}

    def settle(self, agent: Agent) -> None:
        """Make the disk say what stands. A disk that refuses is tried again with the next news."""
        stands = _standing(agent)
        if agent.name in self._kept and self._kept[agent.name] == stands:
            return
        with suppress(Hindered):
            if stands is None:
                self._table.forget(agent.name)
            else:
                self._table.keep(agent.name, *stands)
            self._kept[agent.name] = stands

    def recall(self, agent: Agent) -> None:
        """Bring back what an earlier supervisor heard of the session that sits here."""
        if agent.session is not None and (held := self._table.of(agent.name, agent.session.id)):
            agent.session_state.conduct.remember(*held)


def _standing(agent: Agent) -> Kept | None:
    """What is asked, where anybody said more of it than that a dialog is open."""
    conduct = agent.session_state.conduct
    if not agent.alive or agent.session is None:
        return None
    if conduct.remembered is not None:
        return agent.session.id, *conduct.remembered
    asked = conduct.dialog if conduct.turn is Turn.DIALOG else None
    return (agent.session.id, asked, conduct.asked_at) if asked and conduct.asked_at else None

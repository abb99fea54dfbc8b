"""Store the question of an agent's open dialog, so that a restarted supervisor has the question.

`SessionActivity` determines whether the dialog is still open.
"""

from __future__ import annotations

from contextlib import suppress

from cockpit.adapters.store.dialogs import DialogTable
from cockpit.adapters.store.store import Store
from cockpit.core.cli_events import DialogOpened
from cockpit.core.errors import OsProblem
from cockpit.core.handoff.events import Turn
from cockpit.supervisor.agents.agent import Agent

Kept = tuple[str, DialogOpened, float]
"""The session's id, the open dialog, and when the CLI reported the dialog, in seconds of
`Clock.steady`."""


class Dialogs:
    """The stored dialogs of all agents. Writes to the database only when a dialog changes."""

    def __init__(self, store: Store) -> None:
        self._table = DialogTable(store)
        self._kept: dict[str, Kept | None] = {}

    def save(self, agent: Agent) -> None:
        """Store the agent's open dialog, or remove the stored dialog if none is open.

        If the database cannot be written, the next call tries again.
        """
        dialog = _open_dialog(agent)
        if agent.name in self._kept and self._kept[agent.name] == dialog:
            return
        with suppress(OsProblem):
            if dialog is None:
                self._table.forget(agent.name)
            else:
                self._table.keep(agent.name, *dialog)
            self._kept[agent.name] = dialog

    def recall(self, agent: Agent) -> None:
        """Restore the dialog that an earlier supervisor stored for the agent's session."""
        if agent.session is not None and (held := self._table.of(agent.name, agent.session.id)):
            agent.session_state.activity.remember(*held)


def _open_dialog(agent: Agent) -> Kept | None:
    activity = agent.session_state.activity
    if not agent.alive or agent.session is None:
        return None
    if activity.remembered is not None:
        return agent.session.id, *activity.remembered
    asked = activity.dialog if activity.turn is Turn.DIALOG else None
    return (agent.session.id, asked, activity.asked_at) if asked and activity.asked_at else None

"""The text of each agent's open dialog, in the supervisor's database.

A CLI reports the text once, through a hook, but the dialog may stay open for days. One row per
agent with an open dialog.
"""

from __future__ import annotations

from typing import get_args

from cockpit.adapters.store.store import Store
from cockpit.core.cli_events import DialogKind, DialogOpened


class DialogTable:
    """Stores the text of each agent's open dialog, in the database of one store."""

    def __init__(self, store: Store) -> None:
        self._run = store.run

    def of(self, agent: str, session: str) -> tuple[DialogOpened, float] | None:
        """Return this session's open dialog, and when it was reported, in seconds of
        `Clock.steady`; None if no dialog is stored."""
        row = self._run(
            "select kind, detail, tool, command, body, at from dialogs"
            " where agent = ? and session = ?",
            agent,
            session,
        ).fetchone()
        if row is None or row["kind"] not in get_args(DialogKind):
            return None
        dialog = DialogOpened(row["kind"], row["detail"], row["tool"], row["command"], row["body"])
        return dialog, float(row["at"])

    def keep(self, agent: str, session: str, asked: DialogOpened, at: float) -> None:
        """Store the dialog that is open in the agent's session, replacing an earlier dialog of the
        agent.

        `at` is in seconds of `Clock.steady`. The text must be free of secrets.
        """
        self._run(
            "insert or replace into dialogs values (?, ?, ?, ?, ?, ?, ?, ?)",
            agent,
            session,
            at,
            asked.kind,
            asked.detail,
            asked.tool,
            asked.command,
            asked.body,
        )

    def forget(self, agent: str) -> None:
        """Remove an agent's dialog. Idempotent."""
        self._run("delete from dialogs where agent = ?", agent)

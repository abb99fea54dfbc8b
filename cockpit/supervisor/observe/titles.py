"""Find out when a CLI wrote the title of its pane: tmux reports only the current title."""

from __future__ import annotations

from dataclasses import replace

from cockpit.ports.runtimes import Activity, Presence

STANDS = 5.0
"""Seconds after which an unchanged title counts as written again: a short turn changes it and
changes it back between two looks. Longer than the CLI takes to change it when a turn begins."""


class SeenTitles:
    """The last title of each session's pane."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str | None, str, float]] = {}

    def date(
        self, key: tuple[str, str | None], text: str, presence: Presence, now: float
    ) -> Presence:
        """Date the status in the title `text`; `key` is the agent and its session.

        It was written when it was first seen. If it says that the CLI is ready or asks, it was
        written at most `STANDS` seconds ago. "Working" can stay while the CLI waits for its user.
        """
        agent, session = key
        known = self._last.get(agent)
        if known is None or known[:2] != (session, text):
            known = self._last[agent] = (session, text, now)
        since = known[2]
        if presence.activity is not Activity.BUSY:
            since = max(since, now - STANDS)
        return replace(presence, updated=since)

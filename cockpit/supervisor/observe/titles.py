"""Determine when a CLI wrote its pane's title: tmux reports the title without a time."""

from __future__ import annotations

from dataclasses import replace

from cockpit.ports.runtimes import Activity, Presence

UNCHANGED = 5.0
"""Seconds after which an unchanged title is treated as written again: a short turn can change the
title and change it back between two checks. Longer than a CLI needs to change its title at the
start of a turn."""


class SeenTitles:
    """The last title of each session's pane."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str | None, str, float]] = {}

    def date(
        self, key: tuple[str, str | None], text: str, presence: Presence, now: float
    ) -> Presence:
        """Return `presence` with the time at which the CLI wrote the title `text`.

        `key` is the agent and its session. The time is when a check first found the title. If
        the status is ready or asking, the time is at most `UNCHANGED` seconds ago. If the status
        is working, the time may be older: some CLIs keep that title while they wait for the user.
        """
        agent, session = key
        known = self._last.get(agent)
        if known is None or known[:2] != (session, text):
            known = self._last[agent] = (session, text, now)
        since = known[2]
        if presence.activity is not Activity.BUSY:
            since = max(since, now - UNCHANGED)
        return replace(presence, updated=since)

"""Tells the pilot, wherever the pilot is, of what the configuration names under `[notifications]`.

Everything of ten seconds is one message, and quiet hours put it off. Sends nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable

from cockpit.config.hooks import Notifications
from cockpit.core.notices import TOGETHER, minutes_of_quiet, quiet_hours, topic
from cockpit.ports.records import EventRecord
from cockpit.supervisor.instruments import Instruments
from cockpit.supervisor.outbox import Outbox
from cockpit.supervisor.seat import Seat
from cockpit.supervisor.secrecy import redactor_of


class Notices:
    """Looks at every event once."""

    def __init__(
        self,
        instruments: Instruments,
        outbox: Outbox,
        find: Callable[[str], Seat | None],
        settings: Callable[[], Notifications | None],
    ) -> None:
        self._in = instruments
        self._outbox = outbox
        self._find = find
        self._settings = settings

    def heard(self, record: EventRecord) -> None:
        """Something happened; called while it is being written down, and never waits."""
        wanted = self._settings()
        if wanted is None or not wanted.urls or topic(record.kind, record.data) not in wanted.on:
            return
        seat = self._find(record.agent) if record.agent else None
        if seat is None:
            return
        redactor = redactor_of(self._in.environment, seat)
        text = redactor.redact(record.text).text
        for url in wanted.urls:
            self._outbox.lay_notice(seat, url, text, self._wait(wanted.quiet))

    def _wait(self, quiet: str) -> float:
        local = self._in.clock.now().astimezone()
        minutes = minutes_of_quiet(quiet_hours(quiet), local.hour * 60 + local.minute)
        return max(minutes * 60.0, TOGETHER)

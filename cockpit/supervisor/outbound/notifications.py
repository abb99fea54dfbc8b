"""Send messages to the user, as configured under `[notifications]`.

Events within ten seconds become one message; quiet hours delay the message. The outbox sends the
messages.
"""

from __future__ import annotations

from collections.abc import Callable

from cockpit.config.hooks import Notifications
from cockpit.core.event_topics import topic
from cockpit.core.events import DayBudgetCrossed, ElsewhereCrossed
from cockpit.core.notices import TOGETHER, minutes_of_quiet, quiet_hours
from cockpit.ports.records import EventRecord
from cockpit.supervisor.agents.agent import Agent
from cockpit.supervisor.agents.known_secrets import redactor_of, redactor_without_agent
from cockpit.supervisor.dependencies import Dependencies
from cockpit.supervisor.outbound.outbox import Outbox


class NotificationSender:
    """Adds a message to the outbox for each event that the user has configured."""

    def __init__(
        self,
        dependencies: Dependencies,
        outbox: Outbox,
        find: Callable[[str], Agent | None],
        settings: Callable[[], Notifications | None],
    ) -> None:
        self._dependencies = dependencies
        self._outbox = outbox
        self._find = find
        self._settings = settings

    def handle(self, record: EventRecord) -> None:
        """Queue the notifications for an event.

        Runs in the event's transaction; does not block.
        """
        wanted = self._settings()
        if wanted is None or not wanted.urls or topic(record.event) not in wanted.on:
            return
        agent = self._find(record.agent) if record.agent else None
        environment = self._dependencies.environment
        if agent is not None:
            redactor = redactor_of(environment, agent)
        elif isinstance(record.event, DayBudgetCrossed | ElsewhereCrossed):
            redactor = redactor_without_agent(environment, wanted.urls)
        else:
            return
        text = redactor.redact(record.text).text
        for url in wanted.urls:
            self._outbox.add_notice(agent, url, text, self._wait(wanted.quiet))

    def _wait(self, quiet: str) -> float:
        """Return the seconds until a message may be sent: until the end of the quiet hours, and at
        least `TOGETHER`."""
        local = self._dependencies.clock.now().astimezone()
        minutes = minutes_of_quiet(quiet_hours(quiet), local.hour * 60 + local.minute)
        return max(minutes * 60.0, TOGETHER)

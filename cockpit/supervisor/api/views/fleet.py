"""Views of all agents: the current status, or a stream of the changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from cockpit.supervisor.agents.daily_costs import DailyCosts
from cockpit.supervisor.api.access import Access
from cockpit.supervisor.api.callers import names_only
from cockpit.supervisor.api.request_content import is_set, query_of
from cockpit.supervisor.api.streams import Line, merged, stream
from cockpit.supervisor.api.views.events import is_visible
from cockpit.supervisor.events import EventLog
from cockpit.supervisor.view.elsewhere import ElsewhereRows
from cockpit.supervisor.view.publisher import RowPublisher
from cockpit.wire.status import Status
from cockpit.wire.stream import AgentChanged, ElsewhereCounted, Happened, Resumed, Snapshot
from cockpit.wire.views import StatusQuery, WatchQuery


class FleetViews:
    def __init__(
        self,
        access: Access,
        rows: RowPublisher,
        event_log: EventLog,
        elsewhere: ElsewhereRows,
        daily_costs: DailyCosts,
        status: Callable[[], Status],
    ) -> None:
        self._access = access
        self._rows = rows
        self._event_log = event_log
        self._elsewhere = elsewhere
        self._daily_costs = daily_costs
        self._fleet_status = status

    async def status(self, request: Request) -> Response:
        only = await self._access.only(request)
        asked, status = query_of(request, StatusQuery), self._status(only)
        if only is None and is_set(asked.elsewhere):
            others = await self._elsewhere.rows()
            status = status.model_copy(update={"elsewhere": others})
        return Response(status.model_dump_json(), media_type="application/json")

    async def watch(self, request: Request) -> Response:
        asked = query_of(request, WatchQuery)
        only = await self._access.only(request)
        counted = only is None and is_set(asked.elsewhere)
        with_day = only is None and is_set(asked.day)
        lines = self._watch(only, counted=counted, with_day=with_day, since=asked.since)
        return stream(request, lines, asked.beat)

    async def _watch(
        self, only: str | None, *, counted: bool, with_day: bool, since: str
    ) -> AsyncIterator[Line]:
        rows, events = self._rows.listen(), self._event_log.listen()
        counts, days = self._elsewhere.counts(), self._daily_costs.follow()
        sources: list[AsyncIterator[Any]] = [rows.lines(), events.lines()]
        sources += [counts] if counted else []
        sources += [days] if with_day else []
        try:
            yield Line(self._first_line(only, since).model_dump_json())
            async with aclosing(merged(*sources)) as lines:
                async for line in lines:
                    if isinstance(line, int):
                        line = ElsewhereCounted(count=line)
                    message = line if hasattr(line, "type") else Happened(event=line)
                    if only is not None and isinstance(message, AgentChanged):
                        message = AgentChanged(agent=names_only([message.agent], only)[0])
                    if not isinstance(message, Happened) or is_visible(message.event, only):
                        yield Line(message.model_dump_json())
        finally:
            self._rows.leave(rows)
            self._event_log.leave(events)
            await counts.aclose()
            await days.aclose()

    def _first_line(self, only: str | None, since: str) -> Snapshot | Resumed:
        rows, status = self._rows, self._status(only)
        changes = rows.changes_since(since) if only is None else None
        if changes is None:
            return Snapshot(status=status, position=rows.position if only is None else None)
        changed, removed = changes
        return Resumed(
            status=status.model_copy(update={"agents": changed}),
            forgotten=removed,
            position=rows.position,
        )

    def _status(self, only: str | None) -> Status:
        status = self._fleet_status()
        if only is not None:  # an agent may not see the costs of other agents
            own = status.supervisor.model_copy(
                update={"spent_today_usd": None, "budget_today_usd": None, "instance": None}
            )
            status = status.model_copy(update={"supervisor": own})
        return status.model_copy(update={"agents": names_only(status.agents, only)})

"""The event log: stored events, and new ones as they happen."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response

from cockpit.supervisor.api.access import Access
from cockpit.supervisor.api.request_content import is_set, query_of
from cockpit.supervisor.api.streams import Line, last_event, stream, wants_events
from cockpit.supervisor.events import EventLog
from cockpit.wire.stream import Event
from cockpit.wire.views import EventsQuery

MOST_EVENTS = 5000
"""Maximum events in one response; a stream has no maximum."""


def is_visible(event: Event, only: str | None) -> bool:
    """Return whether a caller may see the event; `only` as returned by `Access.only`."""
    return only is None or event.agent == only


class EventsView:
    def __init__(self, access: Access, event_log: EventLog) -> None:
        self._access = access
        self._event_log = event_log

    async def __call__(self, request: Request) -> Response:
        asked = query_of(request, EventsQuery)
        only = await self._access.only(request)
        if is_set(asked.follow) or wants_events(request):
            after = last_event(request)
            return stream(
                request, self._follow(asked.after if after is None else after, only), asked.beat
            )
        limit = max(1, min(asked.limit, MOST_EVENTS))
        events = self._event_log.since(asked.after, limit)
        return Response(
            "".join(f"{event.model_dump_json()}\n" for event in events if is_visible(event, only)),
            media_type="application/x-ndjson",
        )

    async def _follow(self, after: int, only: str | None) -> AsyncIterator[Line]:
        listener = self._event_log.listen()
        try:
            last, more = after, after > 0
            while more:
                past = self._event_log.since(last, MOST_EVENTS)
                more = len(past) == MOST_EVENTS
                for event in past:
                    last = event.id
                    if is_visible(event, only):
                        yield Line(event.model_dump_json(), event.id)
            yield Line("")
            async for event in listener.lines():
                if event.id > last and is_visible(event, only):
                    yield Line(event.model_dump_json(), event.id)
        finally:
            self._event_log.leave(listener)

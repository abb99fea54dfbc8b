"""What clients read with GET: addresses, queries and answers.

The supervisor makes its routes and `wire.openapi` its description from `VIEWS`. A view has the same
name as its handler in `supervisor/api/server.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import Field

from cockpit.wire.caller import CallerStatus
from cockpit.wire.course import Course
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.facts import SessionFacts
from cockpit.wire.history import HistoryChain, HistoryPage
from cockpit.wire.status import Status, Wire
from cockpit.wire.stream import Elsewhere, Event, ScreenShot, WatchLine
from cockpit.wire.worktrees import WorktreeStatus

Count = Annotated[int, Field(ge=0, le=999_999_999_999_999)]
Flag = Literal["0", "1", "false", "true"]


class Query(Wire):
    """The parameters of an address; unknown ones are ignored."""


class NoQuery(Query):
    pass


class StatusQuery(Query):
    elsewhere: Flag = "0"
    """`1` adds the sessions that no cockpit started."""


class EventsQuery(Query):
    after: Count = 0
    """Only events with a greater id."""
    limit: Count = 200
    """At most so many, up to 5000: the oldest after `after`, or the newest without it."""
    follow: Flag = "0"
    """`1` keeps the answer open: first the events after `after`, if that is given, then each new
    one when it happens."""
    beat: Count = 0
    """With `follow`: send an empty line after so many seconds without another one."""


class WatchQuery(Query):
    beat: Count = 0
    """Send an empty line after so many seconds without another one, which shows that the
    connection lives."""


class ElsewhereQuery(Query):
    beat: Count = 0
    """As for `watch`."""


class ScreenQuery(Query):
    history: Count = 0
    """Lines of scrollback to send too, up to 5000."""


class HistoryQuery(Query):
    name: str | None = None
    """Only this agent's jobs."""
    search: str | None = None
    """Only sessions whose document has all of these words; without pages."""
    handoffs: Count = 0
    """A page of so many of the newest handoffs, up to 500, and a `HistoryPage` as answer."""
    limit: Count = 0
    """A page of so many of the newest jobs, up to 500, and a `HistoryPage` as answer."""
    before: str | None = None
    """The `next` of the page before."""


class FactsQuery(Query):
    session: str | None = None
    """An earlier session of the agent's job; the current one without it."""


class WorktreesQuery(Query):
    directory: str | None = None
    """Also the repository at this directory, absolute."""


class DiffQuery(Query):
    since: Literal["job"] | None = None
    """Compare with the commit where the job began, instead of HEAD."""


class Form(Enum):
    """How an answer is written."""

    JSON = "application/json"
    LINES = "application/x-ndjson"
    """One JSON value a line; as server-sent events for a client that asks for them."""
    TEXT = "text/plain"


@dataclass(frozen=True, slots=True)
class View:
    name: str
    path: str
    summary: str
    answer: Any
    """The type of the answer, or of each line; `str` for a text."""
    form: Form = Form.JSON
    query: type[Query] = NoQuery
    endless: bool = False
    """It is sent until the client, or what it is about, goes away."""


VIEWS: tuple[View, ...] = (
    View(
        "status", "/v1/status", "Every agent with its reading and its handoff.", Status,
        query=StatusQuery,
    ),
    View("caller", "/v1/caller", "As whom the supervisor sees who asks.", CallerStatus),
    View(
        "events", "/v1/events", "What happened, oldest first.", Event, Form.LINES, EventsQuery,
    ),
    View(
        "watch", "/v1/watch", "A snapshot, then each change.", WatchLine, Form.LINES, WatchQuery,
        endless=True,
    ),
    View(
        "elsewhere", "/v1/elsewhere", "All sessions that no cockpit started, at each change.",
        Elsewhere, Form.LINES, ElsewhereQuery, endless=True,
    ),
    View(
        "screen", "/v1/screen/{name}", "An agent's pane, each time that it changes.", ScreenShot,
        Form.LINES, ScreenQuery, endless=True,
    ),
    View(
        "history", "/v1/history", "Jobs with their sessions and handoffs.",
        list[HistoryChain] | HistoryPage, query=HistoryQuery,
    ),
    View(
        "document", "/v1/document/{ident}", "The document of a handoff, or its draft.", str,
        Form.TEXT,
    ),
    View(
        "continuation", "/v1/continuation/{name}", "The prompt for the agent's next session.", str,
        Form.TEXT,
    ),
    View(
        "facts", "/v1/facts/{name}", "What the agent's session did, or an earlier one.",
        SessionFacts, query=FactsQuery,
    ),
    View(
        "worktrees", "/v1/worktrees", "The worktrees of every agent's repository.",
        list[WorktreeStatus], query=WorktreesQuery,
    ),
    View(
        "course", "/v1/course/{name}", "The agent's context over every session of its job.", Course
    ),
    View(
        "diff", "/v1/diff/{name}", "The changes of the agent's worktree.", WorktreeDiff,
        query=DiffQuery,
    ),
)  # fmt: skip

OPENAPI_PATH = "/openapi.json"

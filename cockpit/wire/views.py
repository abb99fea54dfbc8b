"""The requests that only read (GET): paths, queries and responses.

The supervisor builds its routes from `VIEWS`, and `wire.openapi` builds the API's description. The
table in `supervisor/api/routes.py` maps each view's name to the view's handler.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import Field

from cockpit.core.deferred_dataclass import dataclass
from cockpit.wire.caller import CallerStatus
from cockpit.wire.course import Course
from cockpit.wire.dialogs import DialogStatus
from cockpit.wire.diff import WorktreeDiff
from cockpit.wire.facts import SessionFacts
from cockpit.wire.history import HistoryChain, HistoryPage
from cockpit.wire.status import Status, Wire
from cockpit.wire.stream import Elsewhere, Event, ScreenShot, WatchLine
from cockpit.wire.worktrees import WorktreeStatus

Count = Annotated[int, Field(ge=0, le=999_999_999_999_999)]
Flag = Literal["0", "1", "false", "true"]


class Query(Wire):
    """Query parameters. Unknown parameters are ignored."""


class NoQuery(Query):
    pass


class StatusQuery(Query):
    elsewhere: Flag = "0"
    """`1`: include sessions that cockpit did not start."""


class EventsQuery(Query):
    after: Count = 0
    """Only events with an id greater than this number."""
    limit: Count = 200
    """The maximum number of events, up to 5000: with `after` the oldest ones, otherwise the newest
    ones."""
    follow: Flag = "0"
    """`1`: keep the response open, and send each new event when it happens. With `after`, events
    with a greater id come first."""
    beat: Count = 0
    """With `follow`: send an empty line after this many seconds without an event; 0: never,
    except in server-sent events."""


class WatchQuery(Query):
    beat: Count = 0
    """Send an empty line after this many seconds without a change, to show that the connection is
    alive; 0: never, except in server-sent events."""
    elsewhere: Flag = "0"
    """`1`: also send the number of sessions that cockpit did not start, and again when the number
    changes. Counting reads no transcripts."""
    day: Flag = "0"
    """`1`: also send today's cost of all agents and the day's budget, when one of them changes."""
    since: str = ""
    """The `position` of the last line that the client received, to get only later changes. If the
    supervisor no longer has all of these changes, it sends everything."""


class ElsewhereQuery(Query):
    beat: Count = 0
    """Send an empty line after this many seconds without a change, to show that the connection is
    alive; 0: never, except in server-sent events."""


class ScreenQuery(Query):
    history: Count = 0
    """Lines of scrollback to include, up to 5000."""


class HistoryQuery(Query):
    name: str | None = None
    """Only this agent's jobs."""
    search: str | None = None
    """Only handoffs whose document contains all these words. The response is then a list of all
    matches, without pages."""
    handoffs: Count = 0
    """Page size in handoffs, newest first, up to 500. The response is then a `HistoryPage`."""
    limit: Count = 0
    """Page size in jobs, newest first, up to 500. The response is then a `HistoryPage`."""
    before: str | None = None
    """The `next` value of the previous page; null for the first page."""


class FactsQuery(Query):
    session: str | None = None
    """The id of an earlier session of the agent's job; default: the current session."""


class WorktreesQuery(Query):
    directory: str | None = None
    """Also include the repository at this absolute path."""
    sizes: Flag = "0"
    """`1`: also measure the disk space of each worktree, one after another. Measuring takes up to
    5 s for each worktree and 30 s in total, and ends if the client disconnects."""


class DiffQuery(Query):
    since: Literal["job"] | None = None
    """`job`: compare with the commit where the job began. Default: compare with HEAD."""


class Form(Enum):
    """The format of a response."""

    JSON = "application/json"
    LINES = "application/x-ndjson"
    """One JSON value per line; server-sent events for a client that accepts them."""
    TEXT = "text/plain"


@dataclass(frozen=True, slots=True)
class View:
    name: str
    path: str
    summary: str
    answer: Any
    """The type of the response, or of each line; `str` for plain text."""
    form: Form = Form.JSON
    query: type[Query] = NoQuery
    endless: bool = False
    """Whether the response lasts until the client disconnects, or the agent's pane is closed."""


VIEWS: tuple[View, ...] = (
    View(
        "status", "/v1/status", "Every agent with its context use and handoff.", Status,
        query=StatusQuery,
    ),
    View("caller", "/v1/caller", "The caller, as the supervisor identifies it.", CallerStatus),
    View(
        "events", "/v1/events", "Events, oldest first.", Event, Form.LINES, EventsQuery,
    ),
    View(
        "watch", "/v1/watch", "All agents, then each change.", WatchLine, Form.LINES, WatchQuery,
        endless=True,
    ),
    View(
        "elsewhere", "/v1/elsewhere",
        "All sessions that cockpit did not start, again after each change.",
        Elsewhere, Form.LINES, ElsewhereQuery, endless=True,
    ),
    View(
        "screen", "/v1/screen/{name}", "An agent's pane, again after each change.", ScreenShot,
        Form.LINES, ScreenQuery, endless=True,
    ),
    View(
        "dialog", "/v1/dialog/{name}",
        "The permission dialog or question that is open in the agent's pane.", DialogStatus,
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
        "facts", "/v1/facts/{name}", "Facts about the agent's session, or about an earlier one.",
        SessionFacts, query=FactsQuery,
    ),
    View(
        "worktrees", "/v1/worktrees", "The worktrees of every agent's repository.",
        list[WorktreeStatus], query=WorktreesQuery,
    ),
    View(
        "course", "/v1/course/{name}", "The agent's context use over all sessions of its job.",
        Course,
    ),
    View(
        "diff", "/v1/diff/{name}", "The diff of the agent's worktree.", WorktreeDiff,
        query=DiffQuery,
    ),
)  # fmt: skip

OPENAPI_PATH = "/openapi.json"

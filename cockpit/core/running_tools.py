"""Track the tool calls of a session's main thread that have not returned, from its transcript.

Hooks report only the end of a tool. An interrupt between two tools loses no work; an interrupt
during a tool can.
"""

from __future__ import annotations

from cockpit.core.activity import activity
from cockpit.core.session import (
    AssistantReplied,
    Compacted,
    Interrupted,
    SessionEvent,
    Skipped,
    ToolFinished,
    TurnEnded,
    UserSaid,
)


class RunningTools:
    """The open tool calls, up to the last event that was fed."""

    __slots__ = ("_message", "_open")

    def __init__(self) -> None:
        self._message: str | None = None
        self._open: dict[str, str] = {}

    def feed(self, event: SessionEvent | Skipped) -> None:
        """Process the next event of the transcript; the end of a turn ends its calls."""
        match event:
            case AssistantReplied(sidechain=False, tools=tools, message_id=message):
                if message != self._message:
                    # The API accepts a request only when every call has its result, so the lines
                    # with the results of these calls were not read.
                    self._message = message
                    self._open.clear()
                self._open.update((tool.id, activity(tool)) for tool in tools)
            case ToolFinished(tool_use_id=ident):
                self._open.pop(ident, None)
            case TurnEnded() | Interrupted() | Compacted() | UserSaid(meta=False, sidechain=False):
                self._open.clear()
            case _:
                pass

    @property
    def names(self) -> tuple[str, ...]:
        """A line for each open call, oldest first."""
        return tuple(self._open.values())

    def __bool__(self) -> bool:
        return bool(self._open)

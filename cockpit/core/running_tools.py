"""Which tools of a session's main thread were called and have not come back, by its record.

A hook says only that a tool is over. Between two tools an agent can be interrupted without
breaking anything off; in the middle of one it cannot.
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
    """The calls that are open, up to the last event fed."""

    __slots__ = ("_message", "_open")

    def __init__(self) -> None:
        self._message: str | None = None
        self._open: dict[str, str] = {}

    def feed(self, event: SessionEvent | Skipped) -> None:
        """Take the next event of the record; what ends a turn ends its calls."""
        match event:
            case AssistantReplied(sidechain=False, tools=tools, message_id=message):
                if message != self._message:
                    # The API takes no further request before every call has its result: one that
                    # is open here had a result whose line was not read.
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
        """What each open call does, in the order in which they were made."""
        return tuple(self._open.values())

    def __bool__(self) -> bool:
        return bool(self._open)

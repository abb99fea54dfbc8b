"""Which tools of a session's main thread were called and have not come back, by its record.

A hook says only that a tool is over. Between two tools an agent can be interrupted without
breaking anything off; in the middle of one it cannot.
"""

from __future__ import annotations

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

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: set[str] = set()

    def feed(self, event: SessionEvent | Skipped) -> None:
        """Take the next event of the record; what ends a turn ends its calls."""
        match event:
            case AssistantReplied(sidechain=False, tools=tools):
                self._open.update(tool.id for tool in tools)
            case ToolFinished(tool_use_id=ident):
                self._open.discard(ident)
            case TurnEnded() | Interrupted() | Compacted() | UserSaid(meta=False, sidechain=False):
                self._open.clear()
            case _:
                pass

    def __bool__(self) -> bool:
        return bool(self._open)

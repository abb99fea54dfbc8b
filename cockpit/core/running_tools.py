"""Track the tool calls of a session's main thread that have not returned, from the transcript.

Hooks report only the end of a tool. An interrupt during a tool can lose work; an interrupt between
two tools cannot.
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
    """Collects the tool calls that have not returned, from the events that are passed to `feed`."""

    __slots__ = ("_message", "_open")

    def __init__(self) -> None:
        self._message: str | None = None
        self._open: dict[str, str] = {}

    def feed(self, event: SessionEvent | Skipped) -> None:
        """Process the next event of the transcript.

        The end or interrupt of a turn, a compaction, a prompt, and a new message of the agent mean
        that no earlier call is open.
        """
        match event:
            case AssistantReplied(sidechain=False, tools=tools, message_id=message):
                if message != self._message:
                    # The API accepts a request only with the result of every earlier call, so the
                    # open calls have returned, in lines that were not read.
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
        """The open tool calls as text, one line each, oldest first."""
        return tuple(self._open.values())

    def __bool__(self) -> bool:
        return bool(self._open)

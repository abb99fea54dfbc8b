"""Parse a line of an opencode transcript into session events.

opencode stores its sessions in a database. cockpit's plugin (`cockpit-reports.js`) writes a
transcript from opencode's events (1.18.33): one JSON object per line, with `type`, and `at` in
milliseconds. A `reply` line has the token counts, and comes after the reply's tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cockpit.adapters.transcripts.quoted_answers import ANSWERS_KEPT, quoted_answers
from cockpit.adapters.transcripts.token_counts import UnknownCountError, input_count, token_count
from cockpit.core.foreign_json import loads
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
    ContextInjected,
    CostCounted,
    Identified,
    Interrupted,
    SessionEvent,
    Skipped,
    ToolFinished,
    ToolUse,
    TurnEnded,
    TurnFailed,
    TurnRecorded,
    Usage,
    UserSaid,
)
from cockpit.core.timestamps import unix_milliseconds, unix_time

Line = Mapping[str, Any]

RECORD = "cockpit/opencode"
"""The value of `record` in a transcript's first line, by which the format is recognised."""
_NOT_JSON = (ValueError, RecursionError)
_REJECTED = "The user rejected permission to use this specific tool call"
_FEEDBACK = " with the following feedback: "
"""The text before the user's reason in the result of a refused call (1.18.33). opencode asks for a
reason only in subagents."""


def parse(line: bytes) -> Sequence[SessionEvent] | Skipped:
    """Parse a line without its newline. Never raises; an irrelevant line gives no events."""
    if not line.strip():
        return ()
    try:
        record = loads(line)
    except _NOT_JSON:
        torn = line.lstrip().startswith(b"{") and not line.endswith(b"}")
        return Skipped("torn" if torn else "not-json")
    if not isinstance(record, dict):
        return Skipped("not-a-record")
    if record.get("record") == RECORD:
        return (
            Identified(session_id=_text(record.get("session")), cwd=_text(record.get("directory"))),
        )
    kind = record.get("type")
    if not isinstance(kind, str):
        return Skipped("not-a-record")
    read = _READERS.get(kind)
    if read is None:
        return ()
    try:
        return read(record, _moment(record.get("at")))
    except UnknownCountError:
        return Skipped("not-a-record", reading=True)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        return Skipped("not-a-record")


def _moment(value: object) -> datetime | None:
    seconds = unix_milliseconds(value)
    return datetime.fromtimestamp(seconds, UTC) if seconds is not None else None


def _reply(line: Line, at: datetime | None) -> Sequence[SessionEvent]:
    tokens = line["tokens"]
    cached, written = token_count(tokens.get("cache_read")), token_count(tokens.get("cache_write"))
    fresh = input_count(tokens, "input")
    output = token_count(tokens.get("output")) + token_count(tokens.get("reasoning"))
    return (
        AssistantReplied(
            message_id=str(line["id"]),
            model=_text(line.get("model")) or "",
            # opencode includes the reply in the context: it compacts by the total.
            context=Usage(fresh + output, written, cached),
            billed=Usage(fresh, written, cached, output),
            stop_reason="end_turn" if line.get("finish") == "stop" else None,
            sidechain=line.get("side") is True,
            at=at,
        ),
    )


def _said(line: Line, at: datetime | None) -> Sequence[SessionEvent]:
    return (_part(line, at, text=str(line["text"])),)


def _tool(line: Line, at: datetime | None) -> Sequence[SessionEvent]:
    arguments = line.get("input")
    tool = ToolUse(
        str(line["id"]), str(line["name"]), dict(arguments) if isinstance(arguments, dict) else {}
    )
    output = line.get("output")
    text = output if isinstance(output, str) else ""
    tail, code, failed = line.get("tail"), line.get("exit"), line.get("failed") is True
    refused = failed and text.startswith(_REJECTED)
    return (
        _part(line, at, tool=tool),
        ToolFinished(
            tool.id,
            failed,
            text,
            tail=tail if isinstance(tail, str) else "",
            exit=code if isinstance(code, int) and not isinstance(code, bool) else None,
            refused=refused,
            refusal=text.partition(_FEEDBACK)[2].strip() if refused else "",
            answers=tuple(quoted_answers(text)[:ANSWERS_KEPT]),
            at=at,
        ),
    )


def _part(
    line: Line, at: datetime | None, *, text: str = "", tool: ToolUse | None = None
) -> AssistantReplied:
    """Return an event for a text or a tool call. The token counts are on another line."""
    return AssistantReplied(
        message_id=str(line["id"]),
        model="",
        context=None,
        billed=Usage(),
        text=text,
        tools=(tool,) if tool else (),
        at=at,
    )


def _turn(line: Line, at: datetime | None) -> Sequence[SessionEvent]:
    working = line.get("working") is True
    recorded = TurnRecorded(working=working, at=at)
    return (recorded,) if working else (TurnEnded(at), recorded)


def _failed(line: Line, at: datetime | None) -> Sequence[SessionEvent]:
    message = _text(line.get("message")) or "unknown"
    status, resets = token_count(line.get("status")) or None, unix_time(line.get("resets"))
    failure = ApiFailed(message[:500], status, at, resets)
    return (TurnFailed(failure),)


def _window(line: Line, at: datetime | None) -> Sequence[SessionEvent]:
    return (
        Identified(
            model=_text(line.get("model")),
            window=token_count(line.get("window")) or None,
            compacts_at=token_count(line.get("compacts_at")) or None,
        ),
    )


def _cost(line: Line, at: datetime | None) -> Sequence[SessionEvent]:
    usd = line["usd"]
    sound = isinstance(usd, int | float) and not isinstance(usd, bool) and 0 <= usd < 1e12
    return (CostCounted(float(usd)),) if sound else ()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


_READERS: dict[str, Callable[[Line, datetime | None], Sequence[SessionEvent]]] = {
    "reply": _reply,
    "said": _said,
    "tool": _tool,
    "prompt": lambda line, at: (UserSaid(str(line["text"]), meta=line.get("meta") is True, at=at),),
    "injected": lambda line, at: (ContextInjected(str(line["event"]), str(line["text"])),),
    "window": _window,
    "turn": _turn,
    "failed": _failed,
    "interrupted": lambda line, at: (Interrupted(at),),
    "compacted": lambda line, at: (Compacted(str(line.get("trigger") or "auto"), None, at),),
    "cost": _cost,
}

"""Parse the record of a program without built-in support: JSON lines in a documented format.

`docs/own-runtimes.md` describes the format. All keys but `record` in the first line are optional,
and unknown keys are ignored. A line with an invalid value is a fault: the whole line is ignored,
counted and shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cockpit.core.foreign_json import loads
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
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
from cockpit.core.timestamps import moment, unix_time

MARK = "cockpit/1"
"""Value of the key `record` in the first line of every record in this format."""
RESULT_KEPT = 2_000
"""Maximum characters kept of a tool's output."""
_FAILURE_KEPT = 500
_LARGEST = 2**53
_MARKED = re.compile(rb'\s*\{\s*"record"\s*:\s*"cockpit/1"\s*[,}]')
_NEVER_A_READING = frozenset({"said", "prompt", "tool", "result", "turn"})

Line = Mapping[str, Any]


class _Fault(Exception):
    """A line has an invalid value, or reports an error with the key `fault`. The message is the
    error."""


def is_own_record(beginning: bytes) -> bool:
    """Return whether a file that begins with these bytes is a record in this format."""
    return _MARKED.match(beginning) is not None


def parse(line: bytes, unique: str) -> Sequence[SessionEvent] | Skipped:
    """Parse a line without its newline. Never raises.

    `unique` identifies this line among all lines of the record, and replaces a missing `id`.
    """
    if not line.strip():
        return ()
    try:
        parsed = loads(line)
    except (ValueError, RecursionError):
        torn = line.lstrip().startswith(b"{") and not line.rstrip().endswith(b"}")
        return Skipped("torn" if torn else "not-json")
    if not isinstance(parsed, dict):
        return Skipped("fault", detail="expected an object on each line")
    try:
        return tuple(_events(parsed, unique))
    except _Fault as fault:
        return Skipped("fault", reading=_may_be_reading(parsed), detail=str(fault))


def _may_be_reading(line: Line) -> bool:
    """Return whether a line with a fault may contain a token count."""
    return not line.keys() <= _NEVER_A_READING | {"id", "at", "subagent", "session", "directory"}


def _events(line: Line, unique: str) -> list[SessionEvent]:
    if (fault := _text(line, "fault")) is not None:
        raise _Fault(fault[:_FAILURE_KEPT])
    at = _time(line, "at")
    side = _flag(line, "subagent")
    turn = _choice(line, "turn", ("begin", "end"))
    events: list[SessionEvent] = []
    events += _identity(line)
    if turn == "begin":
        events.append(TurnRecorded(working=True, at=at))
    if (prompt := _text(line, "prompt")) is not None:
        events.append(UserSaid(prompt, sidechain=side, at=at))
    events += _reply(line, _text(line, "id") or unique, side, at)
    events += _result(line, side, at)
    if (compacted := _compacted(line, at)) is not None:
        events.append(compacted)
    if (cost := _number(line, "cost_usd")) is not None:
        events.append(CostCounted(cost))
    if _flag(line, "interrupted"):
        events.append(Interrupted(at))
    if (failure := _failed(line, at)) is not None:
        events.append(TurnFailed(failure))
    if turn == "end":
        events += [TurnEnded(at), TurnRecorded(working=False, at=at)]
    return events


def _identity(line: Line) -> list[SessionEvent]:
    identity = Identified(
        session_id=_text(line, "session"),
        cwd=_text(line, "directory"),
        branch=_text(line, "branch"),
        model=_text(line, "model"),
        window=_size(line, "window"),
        compacts_at=_size(line, "compacts_at"),
    )
    return [identity] if identity != Identified() else []


def _reply(line: Line, ident: str, side: bool, at: datetime | None) -> list[SessionEvent]:
    usage = _usage(line)
    text = _text(line, "said")
    tool, ends = _tool(line, ident)
    if usage is None and text is None and tool is None:
        return []
    reply = AssistantReplied(
        message_id=ident,
        model=_text(line, "model") or "",
        context=usage,
        billed=usage or Usage(),
        text=text or "",
        tools=(tool,) if tool else (),
        stop_reason="end_turn" if text and tool is None else None,
        sidechain=side,
        at=at,
    )
    if tool is not None and ends:
        return [reply, ToolFinished(tool.id, sidechain=side, at=at)]
    return [reply]


def _usage(line: Line) -> Usage | None:
    usage = _table(line, "usage")
    if usage is None:
        return None
    if "input" not in usage:
        raise _Fault("usage.input: missing")
    return Usage(
        input=_count(usage, "input", "usage.input"),
        cache_creation=_count(usage, "cache_write", "usage.cache_write"),
        cache_read=_count(usage, "cache_read", "usage.cache_read"),
        output=_count(usage, "output", "usage.output"),
    )


def _tool(line: Line, ident: str) -> tuple[ToolUse | None, bool]:
    """Return the tool call in a line, and whether the call counts as returned.

    A call without an id counts as returned, because no result can name the call.
    """
    written = line.get("tool")
    if isinstance(written, str):
        return ToolUse(ident, written), True
    call = _table(line, "tool")
    if call is None:
        return None, False
    name = _text(call, "name", "tool.name")
    if name is None:
        raise _Fault("tool.name: missing")
    own = _text(call, "id", "tool.id")
    return ToolUse(own or ident, name, dict(_table(call, "input", "tool.input") or {})), own is None


def _result(line: Line, side: bool, at: datetime | None) -> list[SessionEvent]:
    result = _table(line, "result")
    if result is None:
        return []
    ident = _text(result, "id", "result.id")
    if ident is None:
        raise _Fault("result.id: missing")
    text = _text(result, "text", "result.text") or ""
    failed = _flag(result, "failed", "result.failed")
    return [ToolFinished(ident, failed, text[:RESULT_KEPT], sidechain=side, at=at)]


def _compacted(line: Line, at: datetime | None) -> Compacted | None:
    written = line.get("compacted")
    if isinstance(written, bool):
        return Compacted(at=at) if written else None
    table = _table(line, "compacted", also="true or ")
    if table is None:
        return None
    trigger = _choice(table, "trigger", ("auto", "manual"), "compacted.trigger")
    return Compacted(trigger or "auto", _size(table, "before", "compacted.before"), at)


def _failed(line: Line, at: datetime | None) -> ApiFailed | None:
    written = line.get("failed")
    if isinstance(written, str):
        return ApiFailed(written[:_FAILURE_KEPT], at=at)
    table = _table(line, "failed", also="text or ")
    if table is None:
        return None
    message = _text(table, "message", "failed.message") or "unknown"
    resets = unix_time(_number(table, "resets_at", "failed.resets_at"))
    return ApiFailed(message[:_FAILURE_KEPT], _size(table, "status", "failed.status"), at, resets)


# Values. A missing key gives None (`_flag`: False, `_count`: 0); an invalid value raises `_Fault`.


def _text(line: Line, key: str, name: str = "") -> str | None:
    if key not in line:
        return None
    if not isinstance(line[key], str):
        raise _Fault(f"{name or key}: expected text")
    return str(line[key])


def _flag(line: Line, key: str, name: str = "") -> bool:
    value = line.get(key, False)
    if not isinstance(value, bool):
        raise _Fault(f"{name or key}: expected true or false")
    return value


def _choice(line: Line, key: str, known: tuple[str, str], name: str = "") -> str | None:
    if key not in line:
        return None
    if line[key] not in known:
        raise _Fault(f'{name or key}: expected "{known[0]}" or "{known[1]}"')
    return str(line[key])


def _table(line: Line, key: str, name: str = "", *, also: str = "") -> Line | None:
    if key not in line:
        return None
    value = line[key]
    if not isinstance(value, dict):
        raise _Fault(f"{name or key}: expected {also}an object")
    return value


def _count(line: Line, key: str, name: str) -> int:
    """Return a whole number, such as a number of tokens; 0 if the line has no such key."""
    value = line.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _LARGEST:
        raise _Fault(f"{name}: expected a whole number, 0 or more")
    return value


def _size(line: Line, key: str, name: str = "") -> int | None:
    """Return a whole number above 0, such as a window in tokens; None without such a key."""
    if key not in line:
        return None
    if not (size := _count(line, key, name or key)):
        raise _Fault(f"{name or key}: expected more than 0")
    return size


def _number(line: Line, key: str, name: str = "") -> float | None:
    if key not in line:
        return None
    value = line[key]
    sound = isinstance(value, int | float) and not isinstance(value, bool)
    if not sound or not 0 <= value < _LARGEST or not math.isfinite(value):
        raise _Fault(f"{name or key}: expected a number, 0 or more")
    return float(value)


def _time(line: Line, key: str) -> datetime | None:
    """Return a time written as unix seconds, or in ISO 8601 with a time zone; None without such a
    key."""
    if key not in line:
        return None
    value = line[key]
    if (at := moment(value)) is not None:
        return at
    if (seconds := unix_time(value)) is not None:
        return datetime.fromtimestamp(seconds, UTC)
    raise _Fault(f"{key}: expected unix seconds, or a date and time with its time zone")

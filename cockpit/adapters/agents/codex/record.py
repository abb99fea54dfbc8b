"""Parse a line of a Codex transcript ("rollout") into session events.

The format is that of 0.169.0. Codex writes the token counts in a `token_usage_record`, once per
reply, before the reply's tools run. Of a `token_count`, only the account's usage limits are used:
the token counts in it come later, and around a compaction they do not match the context. The
agent's texts and tool calls are separate items, without token counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.codex.permission_modes import recorded_mode
from cockpit.adapters.transcripts.output_ends import end_of
from cockpit.adapters.transcripts.token_counts import UnknownCountError, input_count, token_count
from cockpit.core.foreign_json import loads
from cockpit.core.prompt_files import prompt_files_in
from cockpit.core.rate_limits import RateLimit
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
    ContextInjected,
    Identified,
    Interrupted,
    LimitsReported,
    PromptFileTaken,
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

Payload = Mapping[str, Any]

RESULT_KEPT = 2_000
PROMPT_KEPT = 1_000_000
"""Maximum characters kept of a first prompt, from the output of the command that printed it."""
_BARE = re.compile(rb'\{"timestamp":"[^"]{1,40}",(?:"ordinal":\d+,)?"type":"([a-z_]+)"')
_WANTED = frozenset(
    {b"compacted", b"event_msg", b"response_item", b"session_meta", b"token_usage_record"}
    | {b"turn_context"}
)
_NOT_JSON = (ValueError, RecursionError)
USED_UP = "usage_limit_exceeded"
"""Codex's error code for an exhausted usage limit; this error has no HTTP status."""
_HOOK_CONTEXT = "hooks.additional_context"
PLAN_TOOL = "update_plan"
TODOS_KEPT = 500
LARGEST_PERCENT = 1e6
_LIMITS = {300: "five_hour", 10_080: "seven_day"}
"""Names of the usage limits in cockpit's status, by their length in minutes."""


def parse(line: bytes) -> Sequence[SessionEvent] | Skipped:
    """Parse a line without its newline. Never raises; an irrelevant line gives no events."""
    kind = _BARE.match(line)
    if kind is not None and kind[1] not in _WANTED and line.endswith(b"}"):
        return ()
    if not line.strip():
        return ()
    try:
        record = loads(line)
    except _NOT_JSON:
        torn = line.lstrip().startswith(b"{") and not line.endswith(b"}")
        return Skipped("torn" if torn else "not-json")
    payload = record.get("payload") if isinstance(record, dict) else None
    if not isinstance(payload, dict):
        return Skipped("not-a-record")
    read = _READERS.get(str(record.get("type")))
    if read is None:
        return ()
    try:
        return read(payload, moment(record.get("timestamp")))
    except UnknownCountError:
        return Skipped("not-a-record", reading=True)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        return Skipped("not-a-record")


def _session_meta(payload: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    git = payload.get("git")
    branch = git.get("branch") if isinstance(git, Mapping) else None
    return (
        Identified(
            session_id=_text(payload.get("id")),
            cwd=_text(payload.get("cwd")),
            branch=_text(branch),
        ),
    )


def _turn_context(payload: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    return (
        Identified(
            cwd=_text(payload.get("cwd")),
            model=_text(payload.get("model")),
            permission_mode=recorded_mode(payload),
        ),
    )


def _usage_record(payload: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    usage = payload["usage"]
    cached = token_count(usage.get("cached_input_tokens"))
    written = token_count(usage.get("cache_write_input_tokens"))
    fresh = max(0, input_count(usage, "input_tokens") - cached - written)
    output = token_count(usage.get("output_tokens"))
    return (
        AssistantReplied(
            message_id=str(payload.get("response_id") or payload.get("turn_id")),
            model="",
            # Codex includes the reply in the context: it compacts by the total.
            context=Usage(fresh + output, written, cached),
            billed=Usage(fresh, written, cached, output),
            at=at,
        ),
    )


def _compacted(payload: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    return (Compacted("auto", None, at),)


def _event(payload: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    kind = payload.get("type")
    if kind == "item_completed":
        item = payload["item"]
        read = _ITEMS.get(str(item.get("type")))
        return read(item, at) if read else ()
    if kind == "task_started":
        window = token_count(payload.get("model_context_window")) or None
        return (Identified(window=window), TurnRecorded(working=True, at=at))
    if kind == "task_complete":
        error = payload.get("error")
        ended = (TurnEnded(at), TurnRecorded(working=False, at=at))
        return (*ended, _failed(error, at)) if isinstance(error, Mapping) else ended
    if kind == "token_count":
        limits = _rate_limits(payload.get("rate_limits"))
        return (LimitsReported(limits),) if limits else ()
    if kind == "turn_aborted":
        return (Interrupted(at),) if payload.get("reason") == "interrupted" else ()
    return ()


def _rate_limits(limits: object) -> tuple[RateLimit, ...]:
    """Return the account's usage limits, named by their lengths, or else by Codex's keys."""
    if not isinstance(limits, Mapping):
        return ()
    parsed: list[RateLimit] = []
    for key in ("primary", "secondary"):
        limit = limits.get(key)
        if isinstance(limit, Mapping) and (used := _share(limit.get("used_percent"))) is not None:
            minutes = token_count(limit.get("window_minutes"))
            name = _LIMITS.get(minutes) or (f"{minutes / 60:.3g}h" if minutes else key)
            parsed.append(RateLimit(name, used, unix_time(limit.get("resets_at"))))
    return tuple(parsed)


def _share(percent: object) -> float | None:
    if isinstance(percent, bool) or not isinstance(percent, int | float):
        return None
    return min(percent / 100, 1.0) if 0 <= percent <= LARGEST_PERCENT else None


def _failed(error: Payload, at: datetime | None) -> TurnFailed:
    info = error.get("codex_error_info")
    status = None
    if isinstance(info, Mapping):
        details = next((value for value in info.values() if isinstance(value, Mapping)), {})
        status = token_count(details.get("http_status_code")) or None
    elif info == USED_UP:
        status = 429
    kind = info if isinstance(info, str) else next(iter(info), "") if info else ""
    message = _text(error.get("message")) or str(kind) or "unknown"
    return TurnFailed(ApiFailed(message[:500], status, at))


def _response_item(payload: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    """Return the todo list in a call of `update_plan`, or the context that a hook added as a
    `developer` message. All other items are ignored, because Codex repeats them as events."""
    if payload.get("type") == "function_call" and payload.get("name") == PLAN_TOOL:
        return _plan_updated(payload, at)
    if payload.get("role") != "developer":
        return ()
    about = payload.get("internal_chat_message_metadata_passthrough")
    kinds = about.get("content_item_kinds") if isinstance(about, Mapping) else None
    if not isinstance(kinds, list) or _HOOK_CONTEXT not in kinds:
        return ()
    text = _texts(payload.get("content"))
    return (ContextInjected("PostToolUse", text),) if text else ()


def _plan_updated(payload: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    given = loads(str(payload.get("arguments") or "null"))
    steps = given.get("plan") if isinstance(given, dict) else None
    if not isinstance(steps, list):
        return ()
    todos = [
        {"content": str(step.get("step", "")), "status": str(step.get("status", ""))}
        for step in steps[:TODOS_KEPT]
        if isinstance(step, Mapping)
    ]
    ident = str(payload.get("call_id", ""))
    return (_said({"id": ident}, at, tool=ToolUse(ident, "TodoWrite", {"todos": todos})),)


def _user_message(item: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    text = _texts(item.get("content"))
    return (UserSaid(text, at=at),) if text else ()


def _agent_message(item: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    text = _texts(item.get("content"))
    return (_said(item, at, text=text),) if text else ()


def _hook_prompt(item: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    fragments = item.get("fragments")
    text = _texts(fragments)
    return (ContextInjected("Stop", text),) if text else ()


def _command(item: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    """Return a command's call and result, and the first prompt if the command printed one."""
    ident, command = str(item.get("id", "")), _shell_line(item.get("command"))
    output = item.get("aggregated_output")
    output = output if isinstance(output, str) else ""
    code = item.get("exit_code")
    failed = item.get("status") in {"failed", "declined"} or code not in (0, None)
    taken = () if failed else prompt_files_in(command)
    return (
        _said(item, at, tool=ToolUse(ident, "Bash", {"command": command})),
        ToolFinished(
            ident,
            failed,
            output[:RESULT_KEPT],
            tail=end_of(output, RESULT_KEPT),
            exit=code if isinstance(code, int) and not isinstance(code, bool) else None,
            interrupted=item.get("status") == "declined",
            at=at,
        ),
        *(PromptFileTaken(path, output[:PROMPT_KEPT]) for path in taken[:1]),
    )


def _shell_line(command: object) -> str:
    """Return the command line that the model wrote: SCRIPT of `bash -lc SCRIPT`, else all words."""
    if isinstance(command, str):
        return command
    words = [str(word) for word in command] if isinstance(command, list) else []
    if len(words) == 3 and words[1] in {"-c", "-lc"} and Path(words[0]).name.endswith("sh"):
        return words[2]
    return " ".join(words)


def _file_change(item: Payload, at: datetime | None) -> Sequence[SessionEvent]:
    changes = item.get("changes")
    paths = list(changes) if isinstance(changes, Mapping) else []
    ident = str(item.get("id", ""))
    failed = item.get("status") in {"failed", "declined"}
    events: list[SessionEvent] = []
    for place, path in enumerate(paths[:500]):
        tool = ToolUse(f"{ident}:{place}", "Edit", {"file_path": str(path)})
        events += [_said(item, at, tool=tool), ToolFinished(tool.id, failed, at=at)]
    return events


def _said(
    item: Payload, at: datetime | None, *, text: str = "", tool: ToolUse | None = None
) -> AssistantReplied:
    """Return an event for a text or a tool call. The token counts are on another line."""
    return AssistantReplied(
        message_id=str(item.get("id", "")),
        model="",
        context=None,
        billed=Usage(),
        text=text,
        tools=(tool,) if tool else (),
        at=at,
    )


def _texts(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content[:1_000] if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


_READERS: dict[str, Callable[[Payload, datetime | None], Sequence[SessionEvent]]] = {
    "session_meta": _session_meta,
    "turn_context": _turn_context,
    "token_usage_record": _usage_record,
    "compacted": _compacted,
    "event_msg": _event,
    "response_item": _response_item,
}
_ITEMS: dict[str, Callable[[Payload, datetime | None], Sequence[SessionEvent]]] = {
    "UserMessage": _user_message,
    "AgentMessage": _agent_message,
    "HookPrompt": _hook_prompt,
    "CommandExecution": _command,
    "FileChange": _file_change,
}

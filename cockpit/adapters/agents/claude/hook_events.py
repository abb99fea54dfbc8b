"""Convert the reports of Claude Code's hooks to hook events.

As of CLI 2.1.330: `Stop` reports the end of a turn of the main agent; `StopFailure` reports that an
API error ended a turn. `PermissionRequest` comes as soon as a dialog opens; the `permission_prompt`
notification follows about six seconds later. Hooks of a subagent have an `agent_id`; of these
hooks, only the events in `_OF_SUBAGENTS` are used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cockpit.adapters.agents.claude.request_text import request_text
from cockpit.adapters.agents.claude.sessions import reported_transcript
from cockpit.adapters.agents.resumable_sessions import is_session_id
from cockpit.core.activity import activity, subject
from cockpit.core.cli_events import (
    CliEvent,
    CompactionBegins,
    CompactionOver,
    DialogOpened,
    PromptTaken,
    SessionBegan,
    SessionClosed,
    SubagentBegan,
    SubagentOver,
    ToolUsed,
    TurnBroken,
    TurnOver,
)
from cockpit.core.dialogs import LONGEST_BODY
from cockpit.core.facts import BackgroundTask
from cockpit.core.safetext import safe_line
from cockpit.core.session import ToolUse
from cockpit.ports.runtimes import Signal

Payload = Mapping[str, Any]

MOST_TASKS = 100
LONGEST_COMMAND = 8000
"""Maximum characters of `DialogOpened.command`."""


def cli_events(signal: Signal) -> Sequence[CliEvent]:
    """Return the hook events in a report of the CLI; empty if the report has none."""
    translate = _BY_EVENT.get(signal.event)
    if translate is None or (signal.subagent and signal.event not in _OF_SUBAGENTS):
        return ()
    return translate(signal.payload)


def _text(payload: Payload, key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _line(payload: Payload, key: str, limit: int = 200) -> str:
    return safe_line(_text(payload, key), limit)


def tool_words(payload: Payload) -> str:
    """Return a tool call as one line; paths below the session's directory are relative."""
    return activity(_tool(payload), _text(payload, "cwd") or None)


def _tool(payload: Payload) -> ToolUse:
    arguments = payload.get("tool_input")
    return ToolUse(
        _line(payload, "tool_use_id", 64),
        _line(payload, "tool_name", 60) or "a tool",
        dict(arguments) if isinstance(arguments, Mapping) else {},
    )


def _session_start(payload: Payload) -> Sequence[CliEvent]:
    """Return the start of a session; no event if the session id or the transcript is invalid."""
    session, record = _text(payload, "session_id"), _text(payload, "transcript_path")
    if not is_session_id(session) or (record and reported_transcript(record, session) is None):
        return ()
    return (SessionBegan(_line(payload, "session_id", 64), _line(payload, "source", 32)),)


def _notification(payload: Payload) -> Sequence[CliEvent]:
    kind = _text(payload, "notification_type")
    message = _line(payload, "message") or "the agent is waiting for you"
    if kind == "permission_prompt":
        return (DialogOpened("permission", message),)
    if kind in {"elicitation_dialog", "elicitation_url_dialog", "agent_needs_input"}:
        return (DialogOpened("question", message),)
    return ()


def _permission(payload: Payload) -> Sequence[CliEvent]:
    tool = _tool(payload)
    body = request_text(tool)[:LONGEST_BODY]
    if _text(payload, "tool_name") == "AskUserQuestion":
        return (DialogOpened("question", _question(payload), body=body, asked_by=tool.name),)
    about = subject(tool, _text(payload, "cwd") or None)
    asked = about or (json.dumps(tool.input, ensure_ascii=False) if tool.input else "")
    line = activity(tool, _text(payload, "cwd") or None)
    command = asked[:LONGEST_COMMAND]
    return (DialogOpened("permission", line, tool.name, command, body, tool.name),)


def _question(payload: Payload) -> str:
    arguments = payload.get("tool_input")
    questions = arguments.get("questions") if isinstance(arguments, Mapping) else None
    if isinstance(questions, list) and questions and isinstance(questions[0], Mapping):
        return _line(questions[0], "question") or "a question"
    return "a question"


def _stop(payload: Payload) -> Sequence[CliEvent]:
    tasks = payload.get("background_tasks")
    running = tuple(map(_task, tasks[:MOST_TASKS])) if isinstance(tasks, list) else ()
    return (TurnOver(_text(payload, "last_assistant_message")[:20_000], running),)


def _task(task: object) -> BackgroundTask:
    if not isinstance(task, Mapping):
        return BackgroundTask("", "unknown", safe_line(str(task), 120))
    return BackgroundTask(
        _line(task, "id", 80),
        _line(task, "type", 40) or "unknown",
        _line(task, "description"),
        _text(task, "command")[:1000],
    )


def _broken(payload: Payload) -> Sequence[CliEvent]:
    detail = _line(payload, "error_details") or _line(payload, "last_assistant_message")
    text, resets = reset_in(detail)
    return (TurnBroken(_line(payload, "error", 60) or "unknown", text, resets),)


def reset_in(detail: str) -> tuple[str, float | None]:
    """Return the text of an API error, and the time at which the usage limit resets.

    An error about a usage limit ends with `|` and this time in Unix seconds. For any other error,
    the time is None.
    """
    text, bar, at = detail.rpartition("|")
    if bar and at.strip().isascii() and at.strip().isdigit() and len(at.strip()) == 10:
        return text.strip(), float(at)
    return detail, None


_BY_EVENT: dict[str, Callable[[Payload], Sequence[CliEvent]]] = {
    "SessionStart": _session_start,
    "SessionEnd": lambda payload: (SessionClosed(_line(payload, "reason", 60)),),
    "UserPromptSubmit": lambda payload: (PromptTaken(_text(payload, "prompt")),),
    "PostToolUse": lambda payload: (ToolUsed(tool_words(payload), _tool(payload).name),),
    "PostToolUseFailure": lambda payload: (ToolUsed(tool_words(payload), _tool(payload).name),),
    "Stop": _stop,
    "StopFailure": _broken,
    "PermissionRequest": _permission,
    "Notification": _notification,
    "PreCompact": lambda payload: (CompactionBegins(_line(payload, "trigger", 20)),),
    "PostCompact": lambda payload: (CompactionOver(_line(payload, "trigger", 20)),),
    "SubagentStart": lambda payload: (
        SubagentBegan(_line(payload, "agent_id", 64), _line(payload, "agent_type", 60)),
    ),
    "SubagentStop": lambda payload: (SubagentOver(_line(payload, "agent_id", 64)),),
}

_OF_SUBAGENTS = {"SubagentStart", "SubagentStop", "PermissionRequest", "Notification"}

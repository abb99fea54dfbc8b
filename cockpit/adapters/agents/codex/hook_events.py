"""Convert the reports of Codex's hooks to hook events.

As of 0.169.0, the reports have Claude Code's format. Hooks of a subagent have an `agent_id`. No
hook reports an API error or a dialog before the session; see `record` and `first_dialogs`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cockpit.adapters.agents.codex.sessions import reported_transcript
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
    TurnOver,
)
from cockpit.core.safetext import safe_line
from cockpit.core.session import ToolUse
from cockpit.ports.runtimes import Signal

Payload = Mapping[str, Any]

LONGEST_COMMAND = 8000
"""Maximum characters of `DialogOpened.command`."""
_OF_SUBAGENTS = {"SubagentStart", "SubagentStop", "PermissionRequest"}


def cli_events(signal: Signal) -> Sequence[CliEvent]:
    """Return the hook events in a report of Codex; empty if the report has none."""
    translate = _BY_EVENT.get(signal.event)
    if translate is None or (signal.subagent and signal.event not in _OF_SUBAGENTS):
        return ()
    return translate(signal.payload)


def _text(payload: Payload, key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _line(payload: Payload, key: str, limit: int = 200) -> str:
    return safe_line(_text(payload, key), limit)


def _tool(payload: Payload) -> ToolUse:
    arguments = payload.get("tool_input")
    return ToolUse(
        _line(payload, "tool_use_id", 64),
        _line(payload, "tool_name", 60) or "a tool",
        dict(arguments) if isinstance(arguments, Mapping) else {},
    )


def _tool_line(payload: Payload) -> str:
    return activity(_tool(payload), _text(payload, "cwd") or None)


def _session_start(payload: Payload) -> Sequence[CliEvent]:
    """Return the start of a session; no event if the session id or the transcript is invalid."""
    session, record = _text(payload, "session_id"), _text(payload, "transcript_path")
    if not is_session_id(session) or (record and reported_transcript(record, session) is None):
        return ()
    return (SessionBegan(_line(payload, "session_id", 64), _line(payload, "source", 32)),)


def _permission(payload: Payload) -> Sequence[CliEvent]:
    tool = _tool(payload)
    about = subject(tool, _text(payload, "cwd") or None)
    return (DialogOpened("permission", _tool_line(payload), tool.name, about[:LONGEST_COMMAND]),)


_BY_EVENT: dict[str, Callable[[Payload], Sequence[CliEvent]]] = {
    "SessionStart": _session_start,
    "SessionEnd": lambda payload: (SessionClosed(_line(payload, "reason", 60)),),
    "UserPromptSubmit": lambda payload: (PromptTaken(_text(payload, "prompt")),),
    "PostToolUse": lambda payload: (ToolUsed(_tool_line(payload)),),
    "Stop": lambda payload: (TurnOver(_text(payload, "last_assistant_message")[:20_000]),),
    "PermissionRequest": _permission,
    "PreCompact": lambda payload: (CompactionBegins(_line(payload, "trigger", 20)),),
    "PostCompact": lambda payload: (CompactionOver(_line(payload, "trigger", 20)),),
    "SubagentStart": lambda payload: (
        SubagentBegan(_line(payload, "agent_id", 64), _line(payload, "agent_type", 60)),
    ),
    "SubagentStop": lambda payload: (SubagentOver(_line(payload, "agent_id", 64)),),
}

"""Convert the reports of cockpit's plugin to hook events.

The reports have the names and fields of Claude Code's hooks. Reports about a subagent have an
`agent_id`. API errors and interrupts are in the transcript.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.opencode.sessions import is_session_id, reported_transcript
from cockpit.core.activity import activity, subject
from cockpit.core.cli_events import (
    CliEvent,
    CompactionBegins,
    CompactionOver,
    DialogOpened,
    PromptTaken,
    SessionBegan,
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
QUESTION = "AskUserQuestion"
_OF_SUBAGENTS = {"SubagentStart", "SubagentStop", "PermissionRequest"}


def cli_events(signal: Signal, records: Path) -> Sequence[CliEvent]:
    """Return the hook events in a report of the plugin; empty if the report has none.

    `records` is the folder in which the plugin writes its transcripts.
    """
    translate = _BY_EVENT.get(signal.event)
    if translate is None or (signal.subagent and signal.event not in _OF_SUBAGENTS):
        return ()
    if signal.event == "SessionStart" and not _is_possible(signal.payload, records):
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


def _is_possible(payload: Payload, records: Path) -> bool:
    """Return whether the session id and the transcript's path are valid."""
    session, record = _text(payload, "session_id"), _text(payload, "transcript_path")
    ours = not record or reported_transcript(records, record, session) is not None
    return ours and is_session_id(session)


def _session_start(payload: Payload) -> Sequence[CliEvent]:
    return (SessionBegan(_line(payload, "session_id", 64), _line(payload, "source", 32)),)


def _permission(payload: Payload) -> Sequence[CliEvent]:
    tool, directory = _tool(payload), _text(payload, "cwd") or None
    if tool.name == QUESTION:
        return (DialogOpened("question", _question(tool)),)
    asked = subject(tool, directory)
    asked = asked or (json.dumps(tool.input, ensure_ascii=False) if tool.input else "")
    text = activity(tool, directory)
    return (DialogOpened("permission", text, tool.name, asked[:LONGEST_COMMAND]),)


def _question(tool: ToolUse) -> str:
    questions = tool.input.get("questions")
    if isinstance(questions, list) and questions and isinstance(questions[0], Mapping):
        return _line(questions[0], "question") or "a question"
    return "a question"


_BY_EVENT: dict[str, Callable[[Payload], Sequence[CliEvent]]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": lambda payload: (PromptTaken(_text(payload, "prompt")),),
    "PostToolUse": lambda payload: (
        ToolUsed(activity(_tool(payload), _text(payload, "cwd") or None)),
    ),
    "Stop": lambda payload: (TurnOver(_text(payload, "last_assistant_message")[:20_000]),),
    "PermissionRequest": _permission,
    "PreCompact": lambda payload: (CompactionBegins(_line(payload, "trigger", 20)),),
    "PostCompact": lambda payload: (CompactionOver(_line(payload, "trigger", 20)),),
    "SubagentStart": lambda payload: (
        SubagentBegan(_line(payload, "agent_id", 64), _line(payload, "agent_type", 60)),
    ),
    "SubagentStop": lambda payload: (SubagentOver(_line(payload, "agent_id", 64)),),
}

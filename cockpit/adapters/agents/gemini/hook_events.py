"""Convert the reports of Gemini CLI's hooks to hook events.

In 0.61.0, a hook's report does not show whether it is about a subagent. So the extension's script
reports a subagent's tools under other event names. `AfterAgent` also comes after an API error; only
the transcript contains the error. `AfterAgent` does not come if the user presses Escape in a
dialog.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cockpit.adapters.agents.gemini.sessions import reported_transcript
from cockpit.adapters.agents.gemini.tools import SUBAGENT_TOOL, tool_use
from cockpit.adapters.agents.resumable_sessions import is_session_id
from cockpit.core.activity import activity
from cockpit.core.cli_events import (
    CliEvent,
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

NO_REPLY = "[no response text]"
"""The text that `AfterAgent` reports if the model wrote no reply."""
LONGEST_COMMAND = 8000
"""Maximum characters of `DialogOpened.command`."""


def cli_events(signal: Signal) -> Sequence[CliEvent]:
    """Return the hook events in a report of Gemini; empty if the report has none."""
    translate = _BY_EVENT.get(signal.event)
    return translate(signal.payload) if translate else ()


def _text(payload: Payload, key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _line(payload: Payload, key: str, limit: int = 200) -> str:
    return safe_line(_text(payload, key), limit)


def _tool(payload: Payload) -> ToolUse:
    return tool_use("", _line(payload, "tool_name", 60) or "a tool", payload.get("tool_input"))


def _session_start(payload: Payload) -> Sequence[CliEvent]:
    """Return the start of a session; no event if the session id or the transcript is invalid."""
    session, record = _text(payload, "session_id"), _text(payload, "transcript_path")
    if not is_session_id(session) or (record and reported_transcript(record, session) is None):
        return ()
    return (SessionBegan(_line(payload, "session_id", 64), _line(payload, "source", 32)),)


def _after_tool(payload: Payload) -> Sequence[CliEvent]:
    used = ToolUsed(activity(_tool(payload), _text(payload, "cwd") or None))
    if payload.get("tool_name") == SUBAGENT_TOOL:
        return (SubagentOver(_subagent(payload)), used)
    return (used,)


def _subagent_begins(payload: Payload) -> Sequence[CliEvent]:
    arguments = payload.get("tool_input")
    kind = arguments.get("agent_name") if isinstance(arguments, Mapping) else None
    line = activity(_tool(payload), _text(payload, "cwd") or None)
    return (SubagentBegan(_subagent(payload), safe_line(str(kind or "subagent"), 60), line),)


def _subagent(payload: Payload) -> str:
    """Return an id for a subagent, computed from the subagent's input.

    Gemini has no ids for subagents, but the hooks before and after a subagent have the same input.
    """
    arguments = json.dumps(payload.get("tool_input"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(arguments.encode("utf-8", "replace")).hexdigest()[:16]


def _notification(payload: Payload) -> Sequence[CliEvent]:
    if payload.get("notification_type") != "ToolPermission":
        return ()
    details = payload.get("details")
    details = details if isinstance(details, Mapping) else {}
    match details.get("type"):
        case "exec":
            tool, about = "Bash", _text(details, "command")
        case "edit":
            tool, about = "Edit", _text(details, "filePath") or _text(details, "fileName")
        case "mcp":
            tool, about = _line(details, "toolName", 60), _text(details, "serverName")
        case "ask_user":
            return (DialogOpened("question", _line(payload, "message") or "a question"),)
        case _:
            tool, about = "", _text(details, "prompt")
    text = activity(ToolUse("", tool, {"file_path": about, "command": about})) if tool else ""
    detail = text or _line(details, "title") or _line(payload, "message") or "a tool"
    return (DialogOpened("permission", detail, tool, about[:LONGEST_COMMAND]),)


def _after_agent(payload: Payload) -> Sequence[CliEvent]:
    text = _text(payload, "prompt_response")
    return (TurnOver("" if text == NO_REPLY else text[:20_000]),)


_BY_EVENT: dict[str, Callable[[Payload], Sequence[CliEvent]]] = {
    "SessionStart": _session_start,
    "SessionEnd": lambda payload: (SessionClosed(_line(payload, "reason", 60)),),
    "BeforeAgent": lambda payload: (PromptTaken(_text(payload, "prompt")),),
    "AfterTool": _after_tool,
    "SubagentBegan": _subagent_begins,
    "SubagentOver": lambda payload: (SubagentOver(_subagent(payload)),),
    "AfterAgent": _after_agent,
    "Notification": _notification,
}

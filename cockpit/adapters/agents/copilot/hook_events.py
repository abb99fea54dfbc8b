"""Convert the reports of Copilot's hooks to hook events.

As of 1.0.102 most hooks have Claude Code's fields. `PermissionRequest` comes before every tool
call, even without a dialog; `Notification` comes with a dialog. Hooks of a subagent have an
`agent_id`. API errors and interrupts are in the transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cockpit.adapters.agents.copilot.sessions import reported_transcript
from cockpit.adapters.agents.copilot.tools import tool_use
from cockpit.adapters.agents.resumable_sessions import is_session_id
from cockpit.core.activity import activity
from cockpit.core.cli_events import (
    CliEvent,
    CompactionBegins,
    DialogOpened,
    PromptTaken,
    SessionBegan,
    SubagentBegan,
    SubagentOver,
    ToolUsed,
    TurnOver,
)
from cockpit.core.safetext import safe_line
from cockpit.ports.runtimes import Signal

Payload = Mapping[str, Any]

LONGEST_COMMAND = 8000
"""Maximum characters of `DialogOpened.command`."""
_ASKS = {"Run command": "Bash", "Edit file": "Edit", "Create file": "Write", "Read file": "Read"}
"""Claude Code's names of tools, by the first words of Copilot's notice of a permission dialog."""
_SOURCES = {"new": "clear"}
"""Values of `SessionBegan.source`, by Copilot's source; all other sources are kept. Copilot reports
`new` for a session after `/clear`, and for any other new session."""
_OF_SUBAGENTS = {"SubagentStart", "SubagentStop", "Notification"}


def cli_events(signal: Signal) -> Sequence[CliEvent]:
    """Return the hook events in a report of Copilot; empty if the report has none."""
    translate = _BY_EVENT.get(signal.event)
    if translate is None or (signal.subagent and signal.event not in _OF_SUBAGENTS):
        return ()
    return translate(signal.payload)


def _text(payload: Payload, key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _line(payload: Payload, key: str, limit: int = 200) -> str:
    return safe_line(_text(payload, key), limit)


def _session_start(payload: Payload) -> Sequence[CliEvent]:
    """Return the start of a session; no event if the session id or the transcript is invalid."""
    session, record = _text(payload, "session_id"), _text(payload, "transcript_path")
    if not is_session_id(session) or (record and reported_transcript(record, session) is None):
        return ()
    source = _line(payload, "source", 32)
    return (SessionBegan(_line(payload, "session_id", 64), _SOURCES.get(source, source)),)


def _tool_used(payload: Payload) -> Sequence[CliEvent]:
    name = _line(payload, "tool_name", 60) or "a tool"
    tool = tool_use("", name, payload.get("tool_input"))
    return (ToolUsed(activity(tool, _text(payload, "cwd") or None)),)


def _notification(payload: Payload) -> Sequence[CliEvent]:
    kind, message = _text(payload, "notification_type"), _text(payload, "message")
    if kind == "permission_prompt":
        asked, _, about = message.partition(": ")
        tool = _ASKS.get(asked, "")
        command = about[:LONGEST_COMMAND] if tool else ""
        text = _line(payload, "message") or "the agent is waiting for you"
        return (DialogOpened("permission", text, tool, command),)
    if kind.startswith("elicitation"):
        return (DialogOpened("question", _line(payload, "message") or "a question"),)
    return ()


_BY_EVENT: dict[str, Callable[[Payload], Sequence[CliEvent]]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": lambda payload: (PromptTaken(_text(payload, "prompt")),),
    "PostToolUse": _tool_used,
    "PostToolUseFailure": _tool_used,
    "Stop": lambda payload: (TurnOver(_text(payload, "last_assistant_message")[:20_000]),),
    "Notification": _notification,
    "PreCompact": lambda payload: (CompactionBegins(_line(payload, "trigger", 20)),),
    "SubagentStart": lambda payload: (
        SubagentBegan(_line(payload, "agent_id", 64), _line(payload, "agent_type", 60)),
    ),
    "SubagentStop": lambda payload: (SubagentOver(_line(payload, "agent_id", 64)),),
}

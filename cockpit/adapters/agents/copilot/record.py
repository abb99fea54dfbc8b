"""Parse a line of a Copilot transcript (`events.jsonl`) into session events.

The format is that of 1.0.102. Copilot writes the token counts in a `session.usage_record`, once per
reply, before the reply's tools run. Lines of a subagent have an `agentId`. The transcript includes
hooks and the hooks' answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from cockpit.adapters.agents.copilot.models import compacts_at
from cockpit.adapters.agents.copilot.tools import answers_of, tool_use
from cockpit.adapters.transcripts.output_ends import end_of
from cockpit.adapters.transcripts.token_counts import UnknownCountError, input_count, token_count
from cockpit.core.foreign_json import loads
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
    ContextInjected,
    Identified,
    Interrupted,
    SessionEvent,
    Skipped,
    ToolFinished,
    TurnEnded,
    TurnFailed,
    TurnRecorded,
    Usage,
    UserSaid,
)
from cockpit.core.timestamps import moment

Data = Mapping[str, Any]

RESULT_KEPT = 2_000
_KIND = re.compile(rb'\{"type":"([a-z_.]+)"')
_NOT_JSON = (ValueError, RecursionError)
_HOOKS = {
    "agentStop": "Stop",
    "postToolUse": "PostToolUse",
    "sessionStart": "SessionStart",
    "userPromptSubmitted": "UserPromptSubmit",
}
_REJECTED = "The user rejected this tool call"
"""The beginning of the result that the model gets if the user refuses a call. If a rule or a hook
forbids a call, the text is different."""
_FEEDBACK = "User feedback: "
_MAIN = "conversation-agent"
"""The `interactionType` of the main agent's requests."""


def parse(line: bytes) -> Sequence[SessionEvent] | Skipped:
    """Parse a line without its newline. Never raises; an irrelevant line gives no events."""
    kind = _KIND.match(line)
    if kind is not None and kind[1].decode() not in _READERS and line.endswith(b"}"):
        return ()
    if not line.strip():
        return ()
    try:
        record = loads(line)
    except _NOT_JSON:
        torn = line.lstrip().startswith(b"{") and not line.endswith(b"}")
        return Skipped("torn" if torn else "not-json")
    data = record.get("data") if isinstance(record, dict) else None
    if not isinstance(data, dict):
        return Skipped("not-a-record")
    read = _READERS.get(str(record.get("type")))
    if read is None:
        return ()
    try:
        return read(data, _Line(moment(record.get("timestamp")), bool(record.get("agentId"))))
    except UnknownCountError:
        return Skipped("not-a-record", reading=True)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        return Skipped("not-a-record")


class _Line:
    """The time of a transcript's line, and whether the line is about a subagent."""

    def __init__(self, at: datetime | None, sidechain: bool) -> None:
        self.at = at
        self.sidechain = sidechain


def _session_start(data: Data, line: _Line) -> Sequence[SessionEvent]:
    context = data.get("context") or {}
    return (
        Identified(
            session_id=_text(data.get("sessionId")),
            cwd=_text(context.get("cwd")),
            branch=_text(context.get("branch")),
            model=_text(data.get("selectedModel")),
        ),
    )


def _permissions(data: Data, line: _Line) -> Sequence[SessionEvent]:
    everything = data.get("allowAllPermissions") is True
    return (Identified(permission_mode="bypassPermissions" if everything else "default"),)


def _usage_record(data: Data, line: _Line) -> Sequence[SessionEvent]:
    usage = data["usage"]
    cached = token_count(usage.get("cacheReadTokens"))
    written = token_count(usage.get("cacheWriteTokens"))
    fresh = max(0, input_count(usage, "inputTokens") - cached - written)
    output = token_count(usage.get("outputTokens"))
    sidechain = line.sidechain or usage.get("interactionType", _MAIN) != _MAIN
    model = _text(usage.get("model")) or ""
    replied = AssistantReplied(
        message_id=str(usage.get("apiCallId") or line.at),
        model=model,
        # Copilot includes the reply in the context: it compacts by the sum.
        context=Usage(fresh + output, written, cached),
        billed=Usage(fresh, written, cached, output),
        sidechain=sidechain,
        at=line.at,
    )
    window = token_count(usage.get("maxPromptTokens"))
    if sidechain or not window:
        return (replied,)
    return (
        Identified(model=model or None, window=window, compacts_at=compacts_at(window)),
        replied,
    )


def _message(data: Data, line: _Line) -> Sequence[SessionEvent]:
    calls = data.get("toolRequests") or []
    return (
        AssistantReplied(
            message_id=str(data.get("messageId", "")),
            model="",
            context=None,
            billed=Usage(),
            text=str(data.get("content") or ""),
            tools=tuple(
                tool_use(call.get("toolCallId"), call.get("name"), call.get("arguments"))
                for call in calls
            ),
            stop_reason=None if calls else "end_turn",
            sidechain=line.sidechain,
            at=line.at,
        ),
    )


def _tool_complete(data: Data, line: _Line) -> Sequence[SessionEvent]:
    result = data.get("result") or data.get("error") or {}
    text = result.get("content") or result.get("message") or ""
    shell = data.get("shellExecution") or {}
    code = shell.get("exitCode")
    failed = data.get("success") is not True or code not in (0, None)
    refused = failed and result.get("code") == "denied" and str(text).startswith(_REJECTED)
    return (
        ToolFinished(
            str(data.get("toolCallId", "")),
            failed,
            str(text)[:RESULT_KEPT],
            tail=end_of(str(text), RESULT_KEPT),
            exit=code if isinstance(code, int) and not isinstance(code, bool) else None,
            refused=refused,
            refusal=str(text).partition(_FEEDBACK)[2].strip() if refused else "",
            sidechain=line.sidechain,
            at=line.at,
        ),
    )


def _human_response(data: Data, line: _Line) -> Sequence[SessionEvent]:
    """Return the user's answers with the questions, which the tool's own result leaves out."""
    answers = answers_of(data["response"])
    if not answers:
        return ()
    ident = str(data.get("toolCallId", ""))
    return (ToolFinished(ident, answers=answers, sidechain=line.sidechain, at=line.at),)


def _user_message(data: Data, line: _Line) -> Sequence[SessionEvent]:
    text = _text(data.get("content"))
    return (UserSaid(text, sidechain=line.sidechain, at=line.at),) if text else ()


def _hook_start(data: Data, line: _Line) -> Sequence[SessionEvent]:
    """Return the end of a turn, which Copilot records only as the start of the hook `agentStop`."""
    if line.sidechain or data.get("hookType") != "agentStop":
        return ()
    return (TurnEnded(line.at), TurnRecorded(working=False, at=line.at))


def _hook_end(data: Data, line: _Line) -> Sequence[SessionEvent]:
    output, event = data.get("output"), _HOOKS.get(str(data.get("hookType")))
    if event is None or line.sidechain or not isinstance(output, Mapping):
        return ()
    text = _text(output.get("reason" if event == "Stop" else "additionalContext"))
    return (ContextInjected(event, text),) if text else ()


def _working(data: Data, line: _Line) -> Sequence[SessionEvent]:
    return () if line.sidechain else (TurnRecorded(working=True, at=line.at),)


def _error(data: Data, line: _Line) -> Sequence[SessionEvent]:
    if line.sidechain:
        return ()
    message = _text(data.get("message")) or _text(data.get("errorType")) or "unknown"
    status = token_count(data.get("statusCode")) or None
    return (TurnFailed(ApiFailed(message[:500], status, line.at)),)


def _compaction(data: Data, line: _Line) -> Sequence[SessionEvent]:
    if line.sidechain or data.get("success") is not True:
        return ()
    manual = data.get("trigger") == "manual"
    before = token_count(data.get("preCompactionTokens")) or None
    return (Compacted("manual" if manual else "auto", before, line.at),)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


_READERS: dict[str, Callable[[Data, _Line], Sequence[SessionEvent]]] = {
    "session.start": _session_start,
    "session.permissions_changed": _permissions,
    "session.model_change": lambda data, line: (
        () if line.sidechain else (Identified(model=_text(data.get("newModel"))),)
    ),
    "session.usage_record": _usage_record,
    "session.error": _error,
    "session.compaction_complete": _compaction,
    "assistant.message": _message,
    "assistant.turn_start": _working,
    "permission.completed": _working,
    "tool.execution_complete": _tool_complete,
    "human_response.recorded": _human_response,
    "user.message": _user_message,
    "hook.start": _hook_start,
    "hook.end": _hook_end,
    "abort": lambda data, line: () if line.sidechain else (Interrupted(line.at),),
}

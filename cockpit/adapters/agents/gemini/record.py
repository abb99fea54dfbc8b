"""Parse a line of a Gemini CLI transcript into session events.

The format is that of 0.61.0. Gemini writes a reply with its token counts before the reply's tools
run, and again afterwards, with the same id. Gemini does not record the end of a turn. It writes the
whole history again after a compaction, when a session is resumed, and when a request or a dialog is
cancelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from cockpit.adapters.agents.gemini.shell_output import shell_output
from cockpit.adapters.agents.gemini.tools import ASKING_TOOL, SHELL_TOOL, answers, tool_use
from cockpit.adapters.transcripts.output_ends import end_of
from cockpit.adapters.transcripts.token_counts import UnknownCountError, input_count, token_count
from cockpit.core.foreign_json import loads
from cockpit.core.prompt_files import prompt_files_in
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    Compacted,
    ContextInjected,
    Identified,
    Interrupted,
    PromptFileTaken,
    SessionEvent,
    Skipped,
    ToolFinished,
    TurnFailed,
    TurnRecorded,
    Usage,
    UserSaid,
)
from cockpit.core.timestamps import moment

Record = Mapping[str, Any]

RESULT_KEPT = 2_000
PROMPT_KEPT = 1_000_000
"""Maximum characters kept of a first prompt, from the file that the agent read."""
SNAPSHOT = "<state_snapshot>"
"""Part of the text that replaces the history in a compaction."""
_FRESH = timedelta(seconds=3)
"""Maximum time from a compaction's snapshot until Gemini writes the new history; if more time has
passed, Gemini wrote the history for another reason."""
_APART = timedelta(seconds=1)
"""Maximum time between the first message and the snapshot in a resumed session's history; with a
larger difference, the history belongs to a compaction."""
_CANCELLED = "Request cancelled."
_COMPRESSED = "Context compressed from "
_BY_THE_CLI = ("System: Potential loop detected", "<session_context>")
_PRINTED_NOTHING = re.compile(r"^Output: \(empty\)$", re.MULTILINE)
"""Matches the CLI's text for the model if a command printed nothing (0.61.0)."""
_HOOK_CONTEXT = re.compile(r"(?s)<hook_context>(.*?)</hook_context>")
_API_ERROR = re.compile(r"(?s)\[API Error: (.*)\]\s*\Z")
_NOT_JSON = (ValueError, RecursionError)


def parse(line: bytes) -> Sequence[SessionEvent] | Skipped:
    """Parse a line without its newline. Never raises; an irrelevant line gives no events."""
    if not line.strip():
        return ()
    if line.startswith(b'{"$set":') and line.endswith(b"}") and SNAPSHOT.encode() not in line:
        return ()
    try:
        record = loads(line)
    except _NOT_JSON:
        torn = line.lstrip().startswith(b"{") and not line.endswith(b"}")
        return Skipped("torn" if torn else "not-json")
    if not isinstance(record, dict):
        return Skipped("not-a-record")
    try:
        return tuple(_events(record))
    except UnknownCountError:
        return Skipped("not-a-record", reading=True)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        return Skipped("not-a-record")


def _events(record: Record) -> Iterator[SessionEvent]:
    at = moment(record.get("timestamp"))
    match record.get("type"):
        case "gemini":
            yield from _reply(record, at)
        case "user":
            yield from _user(record, at)
        case "error":
            yield TurnFailed(_failure(_texts(record.get("content")), at))
        case "info":
            text = _texts(record.get("content"))
            if text == _CANCELLED:
                yield Interrupted(at)
            elif text.startswith(_COMPRESSED):
                yield Compacted("auto", None, at)
        case None if "sessionId" in record:
            yield Identified(session_id=_text(record.get("sessionId")))
        case None if isinstance(changed := record.get("$set"), Mapping):
            yield from _rewritten(changed)


def _reply(record: Record, at: datetime | None) -> Iterator[SessionEvent]:
    calls = [call for call in record.get("toolCalls") or () if isinstance(call, Mapping)]
    tools = tuple(
        tool_use(str(call.get("id", "")), str(call.get("name", "")), call.get("args"))
        for call in calls
    )
    tokens = record.get("tokens")
    context, billed = _usage(tokens) if isinstance(tokens, Mapping) else (None, Usage())
    text = _texts(record.get("content"))
    yield AssistantReplied(
        message_id=str(record.get("id", "")),
        model=str(record.get("model") or ""),
        context=context,
        billed=billed,
        text=text,
        tools=tools,
        stop_reason="end_turn" if text and not tools else None,
        at=at,
    )
    for call, tool in zip(calls, tools, strict=True):
        yield from _finished(call, tool.id)


def _finished(call: Mapping[str, Any], ident: str) -> Iterator[SessionEvent]:
    status = call.get("status")
    if status not in {"success", "error", "cancelled"}:
        return
    output = "\n".join(_outputs(call.get("result")))
    at = moment(call.get("timestamp"))
    empty = _PRINTED_NOTHING.search(output) is not None
    shell = shell_output(output) if call.get("name") == SHELL_TOOL else None
    text = output if shell is None else shell.text
    # Gemini records a success for a command with any exit status.
    failed = status != "success" or (shell is not None and shell.exit != 0)
    yield ToolFinished(
        ident,
        failed,
        text[:RESULT_KEPT],
        tail=end_of(text, RESULT_KEPT),
        exit=shell.exit if shell is not None else None,
        interrupted=status == "cancelled",
        empty=empty,
        answers=answers(call.get("args"), output) if call.get("name") == ASKING_TOOL else (),
        at=at,
    )
    if status == "success":
        # Gemini sometimes loses the output of a fast command; then the model has not seen the file.
        if not empty and (arguments := call.get("args")) and isinstance(arguments, Mapping):
            named = arguments.get("file_path") or arguments.get("command")
            taken = prompt_files_in(named) if isinstance(named, str) else []
            yield from (PromptFileTaken(path, text[:PROMPT_KEPT]) for path in taken[:1])
        yield TurnRecorded(working=True, at=at)


def _user(record: Record, at: datetime | None) -> Iterator[SessionEvent]:
    """Yield the prompt, and the context that hooks added to the prompt or to tool results."""
    content = record.get("content")
    for output in _outputs(content):
        for added in _HOOK_CONTEXT.findall(output):
            yield ContextInjected("AfterTool", added)
    text = _texts(content)
    if not text:
        return
    added = _HOOK_CONTEXT.findall(text)
    own = _HOOK_CONTEXT.sub("", text).strip()
    for context in added:
        yield ContextInjected("BeforeAgent" if own else "SessionStart", context)
    if own:
        yield UserSaid(own, meta=own.startswith(_BY_THE_CLI), at=at)
        yield TurnRecorded(working=True, at=at)


def _rewritten(changed: Record) -> Iterator[SessionEvent]:
    """Yield a compaction, if a snapshot has just replaced the history."""
    messages = changed.get("messages")
    if not isinstance(messages, list) or not messages:
        return
    snapshot = next(
        (message for message in messages if SNAPSHOT in _texts(message.get("content"))), None
    )
    written = moment(changed.get("lastUpdated"))
    first = moment(messages[0].get("timestamp"))
    made = moment(snapshot.get("timestamp")) if snapshot else None
    if made is None or written is None or first is None:
        return
    if written - made < _FRESH and (snapshot is messages[0] or made - first > _APART):
        yield Compacted("", None, made)


def _usage(tokens: Record) -> tuple[Usage, Usage]:
    """Return the tokens in the context window, and the billed tokens.

    The first count leaves out the reply, as Gemini does when it decides whether to compact.
    """
    cached = token_count(tokens.get("cached"))
    fresh = max(0, input_count(tokens, "input") - cached)
    output = token_count(tokens.get("output")) + token_count(tokens.get("thoughts"))
    return (
        Usage(fresh, 0, cached),
        Usage(fresh + token_count(tokens.get("tool")), 0, cached, output),
    )


def _failure(message: str, at: datetime | None) -> ApiFailed:
    match = _API_ERROR.match(message)
    inner = match[1] if match else message
    status = None
    try:
        error = loads(inner)
        error = error.get("error", error) if isinstance(error, dict) else {}
        status = token_count(error.get("code")) or None
        inner = _text(error.get("message")) or inner
    except (*_NOT_JSON, AttributeError):
        pass
    return ApiFailed((inner or "unknown")[:500], status, at)


def _outputs(content: object) -> Iterator[str]:
    parts = content[:1_000] if isinstance(content, list) else []
    for part in parts:
        result = part.get("functionResponse") if isinstance(part, Mapping) else None
        response = result.get("response") if isinstance(result, Mapping) else None
        if isinstance(response, Mapping):
            output = response.get("output", response.get("error"))
            if isinstance(output, str):
                yield output


def _texts(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content[:1_000] if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None

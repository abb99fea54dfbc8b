"""Parse a line of a Claude Code transcript into session events.

Supports the formats of CLI 2.1.330 and of older versions. Reads no files. Irrelevant lines are
recognised by their first bytes and skipped, because some contain 40 KB of system prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from cockpit.adapters.agents.claude.tool_results import SUBAGENT_STATUS, shown_document
from cockpit.adapters.agents.claude.user_records import (
    BLOCKS_KEPT,
    BY_THE_CLI,
    NOTICE,
    events_of_user,
    model_name,
    notice,
)
from cockpit.adapters.transcripts.token_counts import UnknownCountError, input_count, token_count
from cockpit.core.foreign_json import loads
from cockpit.core.prompt_files import is_prompt_file
from cockpit.core.session import (
    ApiFailed,
    AssistantReplied,
    AwaySummarized,
    Compacted,
    ContextInjected,
    CostCounted,
    Identified,
    InstructionsGiven,
    PlanRecorded,
    PromptFileTaken,
    PromptQueued,
    PullRequestLinked,
    SessionEvent,
    Skipped,
    Titled,
    TodosRecorded,
    ToolFinished,
    ToolUse,
    TurnEnded,
    Usage,
)
from cockpit.core.timestamps import moment

Record = dict[str, Any]

_BARE = re.compile(rb'\{"type":"([a-z-]+)"')
_ATTACHED = re.compile(
    rb'\{"parentUuid":(?:null|"[^"]*"),(?:"logicalParentUuid":(?:null|"[^"]*"),)?'
    rb'"isSidechain":(?:true|false),(?:"agentId":"[^"]*",)?"attachment":\{"type":"([a-z_]+)"'
)
_BARE_WANTED = frozenset(
    {
        b"ai-title",
        b"assistant",
        b"attachment",
        b"cost-state",
        b"custom-title",
        b"permission-mode",
        b"pr-link",
        b"system",
        b"user",
    }
)
_ATTACHED_WANTED = frozenset(
    {
        b"file",
        b"hook_additional_context",
        b"hook_blocking_error",
        b"hook_success",
        b"instructions",
        b"model",
        b"nested_memory",
        b"plan_file_reference",
        b"queued_command",
        b"task_reminder",
        b"task_status",
        b"todo_reminder",
    }
)
_SIGNATURE = re.compile(
    r"Co-Authored-By: Claude (Haiku|Sonnet|Opus|Fable|Mythos) (\d+(?:\.\d+)?) \(1M context\)"
)
_RECAPS = re.compile(r"\s*\(disable recaps in /config\)\s*$")
_NO_CONTENT = "(no content)"
_NOT_JSON = (ValueError, RecursionError)
_MAIN_ITERATIONS = frozenset({"message", "fallback_message"})


def parse(line: bytes) -> Sequence[SessionEvent] | Skipped:
    """Parse a line without its newline. Never raises; an irrelevant line gives no events."""
    if _is_irrelevant(line):
        return ()
    if not line.strip():
        return ()
    try:
        record = loads(line)
    except _NOT_JSON:
        return Skipped(_fault(line))
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return Skipped("not-a-record")
    read = _READERS.get(record["type"])
    if read is None:
        return ()
    try:
        return read(record)
    except UnknownCountError:
        return Skipped("not-a-record", reading=True)
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        return Skipped("not-a-record")


def _is_irrelevant(line: bytes) -> bool:
    if not line.endswith(b"}"):
        return False
    bare = _BARE.match(line)
    if bare is not None:
        return bare[1] not in _BARE_WANTED
    attached = _ATTACHED.match(line)
    return attached is not None and attached[1] not in _ATTACHED_WANTED


def _fault(line: bytes) -> Any:
    """Return the reason to skip a line: `torn` for a truncated record, else `not-json`."""
    return "torn" if line.lstrip().startswith(b"{") and not line.endswith(b"}") else "not-json"


def _assistant(record: Record) -> Sequence[SessionEvent]:
    message = record["message"]
    at = moment(record.get("timestamp"))
    if record.get("isApiErrorMessage") is True:
        return (_api_failure(record, message, at),)
    model, usage = message.get("model"), message.get("usage")
    if model == "<synthetic>" or not isinstance(model, str) or not isinstance(usage, dict):
        return ()
    text, tools = content_of(message.get("content"))
    stop_reason = message.get("stop_reason")
    signed = _signed(tools)
    return (
        *((Identified(model=signed),) if signed else ()),
        AssistantReplied(
            message_id=str(message.get("id") or record.get("requestId") or record.get("uuid")),
            model=model,
            context=_context(usage),
            billed=_billed(usage),
            text="" if is_blank(text) else text,
            tools=tools,
            stop_reason=stop_reason if isinstance(stop_reason, str) else None,
            sidechain=record.get("isSidechain") is True,
            at=at,
        ),
    )


def _api_failure(record: Record, message: Record, at: datetime | None) -> ApiFailed:
    # Imported here, because the command line reads transcripts without the hook events.
    from cockpit.adapters.agents.claude.hook_events import reset_in

    status = record.get("apiErrorStatus")
    text, _ = content_of(message.get("content"))
    kind = record.get("apiErrorType") or record.get("error") or "unknown"
    known = status if isinstance(status, int) else None
    error, resets = reset_in(text[:500] or str(kind))
    return ApiFailed(error, known, at, resets)


def is_blank(text: str) -> bool:
    """Return whether the model wrote nothing. For an empty reply, the CLI records a fixed text."""
    return text.strip() in ("", _NO_CONTENT)


def content_of(blocks: object) -> tuple[str, tuple[ToolUse, ...]]:
    """Return the text and the tool calls of a message's content; other content is ignored."""
    if isinstance(blocks, str):
        return blocks, ()
    if not isinstance(blocks, list):
        return "", ()
    texts: list[str] = []
    tools: list[ToolUse] = []
    for block in blocks[:BLOCKS_KEPT]:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif block.get("type") == "tool_use":
            arguments = block.get("input")
            name, id_ = str(block.get("name", "")), str(block.get("id", ""))
            tools.append(ToolUse(id_, name, arguments if isinstance(arguments, dict) else {}))
    return "\n".join(texts), tuple(tools)


def _context(usage: Record) -> Usage:
    """Return the tokens in the context window.

    If there are `iterations`, the last one whose type is in `_MAIN_ITERATIONS` is used, because the
    top-level numbers are sums.
    """
    iterations = usage.get("iterations")
    if isinstance(iterations, list):
        for entry in reversed(iterations):
            if isinstance(entry, dict) and entry.get("type") in _MAIN_ITERATIONS:
                return _usage(entry)
    return _usage(usage)


def _billed(usage: Record) -> Usage:
    """Return the billed tokens of the message, including those of an advisor model.

    The advisor's tokens are never part of the context.
    """
    total = _usage(usage)
    iterations = usage.get("iterations")
    for entry in iterations if isinstance(iterations, list) else ():
        if isinstance(entry, dict) and entry.get("type") == "advisor_message":
            total = Usage(
                total.input + token_count(entry.get("input_tokens")),
                total.cache_creation + token_count(entry.get("cache_creation_input_tokens")),
                total.cache_read + token_count(entry.get("cache_read_input_tokens")),
                total.output + token_count(entry.get("output_tokens")),
            )
    return total


def _signed(tools: tuple[ToolUse, ...]) -> str | None:
    """Return the large-window model in the trailer of a commit command; None without one.

    The trailer names the right model, because the CLI tells the model its own name.
    """
    for tool in tools:
        command = tool.input.get("command") if tool.name == "Bash" else None
        if isinstance(command, str) and "(1M context)" in command:
            match = _SIGNATURE.search(command)
            if match is not None:
                return model_name(match[1], match[2], "1M context")
    return None


def _usage(usage: Record) -> Usage:
    return Usage(
        input=input_count(usage, "input_tokens"),
        cache_creation=token_count(usage.get("cache_creation_input_tokens")),
        cache_read=token_count(usage.get("cache_read_input_tokens")),
        output=token_count(usage.get("output_tokens")),
    )


def _user(record: Record) -> Sequence[SessionEvent]:
    events = events_of_user(record, moment(record.get("timestamp")))
    if "toolUseResult" in record or not events:
        return events
    return (_identified(record), *events)


def _system(record: Record) -> Sequence[SessionEvent]:
    at = moment(record.get("timestamp"))
    subtype = record.get("subtype")
    if subtype == "compact_boundary":
        metadata = record.get("compactMetadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        before = metadata.get("preTokens")
        known = before if isinstance(before, int) and before > 0 else None
        return (Compacted(str(metadata.get("trigger", "auto")), known, at), _identified(record))
    if subtype == "turn_duration":
        return (TurnEnded(at), _identified(record))
    if subtype == "away_summary":
        text = _text(record.get("content"))
        return (AwaySummarized(_RECAPS.sub("", text).strip(), at),) if text else ()
    if subtype == "file_snapshot":
        return tuple(_plans_in(record.get("snapshotFiles")))
    return ()


def _plans_in(files: object) -> Iterator[PlanRecorded]:
    for file in files[:10] if isinstance(files, list) else ():
        if isinstance(file, dict) and file.get("key") == "plan":
            text, path = _text(file.get("content")), _text(file.get("path"))
            if text:
                yield PlanRecorded(text, path or "")


def _attachment(record: Record) -> Sequence[SessionEvent]:
    attachment = record["attachment"]
    kind = attachment.get("type")
    if kind == "model":
        model = (attachment.get("identity") or {}).get("modelId")
        return (_identified(record, model if isinstance(model, str) else None),)
    if kind == "queued_command":
        # For a notice that arrives during a turn, the CLI writes no user record.
        text = attachment.get("prompt")
        at = moment(record.get("timestamp"))
        if not isinstance(text, str):
            text, _ = content_of(text)
        if text.startswith(NOTICE):
            return notice(text, at)
        return (PromptQueued(text, at),) if text.strip() and _by_the_user(attachment, text) else ()
    if kind == "file":
        return _mentioned(attachment)
    if kind in ("task_reminder", "todo_reminder", "task_status"):
        return () if record.get("isSidechain") is True else _list_or_status(attachment)
    if kind in ("instructions", "nested_memory"):
        return tuple(map(InstructionsGiven, _instruction_paths(attachment)))
    if kind == "plan_file_reference":
        plan, path = _text(attachment.get("planContent")), _text(attachment.get("planFilePath"))
        return (PlanRecorded(plan, path or ""),) if plan else ()
    event = str(attachment.get("hookEvent", ""))
    content: object = attachment.get("content")
    if kind == "hook_blocking_error":
        error = attachment.get("blockingError")
        content = error.get("blockingError") if isinstance(error, dict) else error
    elif kind not in ("hook_additional_context", "hook_success"):
        return ()
    parts = content if isinstance(content, list) else [content]
    text = "\n".join(part for part in parts if isinstance(part, str))
    return (ContextInjected(event, text),) if text else ()


def _by_the_user(attachment: Record, text: str) -> bool:
    origin = attachment.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    prompt = attachment.get("commandMode") in (None, "prompt") and not text.startswith(BY_THE_CLI)
    return prompt and kind in (None, "human") and attachment.get("isMeta") is not True


def _list_or_status(attachment: Record) -> Sequence[SessionEvent]:
    """Return the todo list of a reminder, or the status of a task in the background."""
    if attachment["type"] == "task_status":
        task, status = _text(attachment.get("taskId")), _text(attachment.get("status"))
        known = SUBAGENT_STATUS.get(status or "", "failed" if status == "failed" else None)
        return (ToolFinished("", agent_id=task, agent_status=known),) if task and known else ()
    content, numbered = attachment.get("content"), attachment["type"] == "task_reminder"
    if not isinstance(content, list) or (not content and attachment.get("statusKeeper")):
        return ()  # with `statusKeeper`, the CLI can hide a list that is not empty
    rows = [row for row in content[:BLOCKS_KEPT] if isinstance(row, dict)]
    text = "subject" if numbered else "content"
    items = tuple(
        (str(row.get("id", "")), str(row[text]), str(row.get("status", "")))
        for row in rows
        if isinstance(row.get(text), str)
    )
    return (TodosRecorded(items, numbered),) if len(items) == len(content) else ()


def _mentioned(attachment: Record) -> Sequence[SessionEvent]:
    """Return an event if a file that the user mentioned is a first prompt or a document with a
    goal."""
    name, content = attachment.get("filename"), attachment.get("content")
    file = content.get("file") if isinstance(content, dict) else None
    text = file.get("content") if isinstance(file, dict) else None
    if not isinstance(name, str) or not isinstance(text, str):
        return ()
    if is_prompt_file(name):
        return (PromptFileTaken(name, text),)
    return tuple(shown_document({"filePath": name, "content": text}))


def _instruction_paths(attachment: Record) -> Iterator[str]:
    """Yield the paths of the instruction files that the CLI gave to the model."""
    files = attachment.get("files")
    for file in (attachment, *(files[:50] if isinstance(files, list) else ())):
        path = _text(file.get("path")) if isinstance(file, dict) else None
        if path:
            yield path


def _pull_request(record: Record) -> Sequence[SessionEvent]:
    url, number = _text(record.get("prUrl")), record.get("prNumber")
    if url is None or not url.startswith(("https://", "http://")):
        return ()
    known = number if isinstance(number, int) and not isinstance(number, bool) else None
    return (PullRequestLinked(url, known, _text(record.get("prRepository")) or ""),)


def _cost_state(record: Record) -> Sequence[SessionEvent]:
    total = record.get("totalCostUSD")
    if isinstance(total, int | float) and not isinstance(total, bool) and 0 <= total < 1e12:
        return (CostCounted(float(total)),)
    return ()


def _title(record: Record) -> Sequence[SessionEvent]:
    title = record.get("customTitle") or record.get("aiTitle")
    return (Titled(title),) if isinstance(title, str) and title.strip() else ()


def _permission_mode(record: Record) -> Sequence[SessionEvent]:
    return (_identified(record),)


def session_of(line: bytes) -> Identified | None:
    """Return the session's id, directory, branch and permission mode, from a line of any kind.

    None for a line without a session id. `parse` leaves this data out for the most frequent lines,
    and some transcripts have no other lines.
    """
    try:
        record = loads(line)
    except _NOT_JSON:
        return None
    session = _identified(record) if isinstance(record, dict) else None
    return session if session and session.session_id else None


def _identified(record: Record, model: str | None = None) -> Identified:
    return Identified(
        session_id=_text(record.get("sessionId")),
        cwd=_text(record.get("cwd")),
        branch=_text(record.get("gitBranch")),
        permission_mode=_text(record.get("permissionMode")),
        model=model,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


_READERS: dict[str, Callable[[Record], Sequence[SessionEvent]]] = {
    "ai-title": _title,
    "custom-title": _title,
    "assistant": _assistant,
    "user": _user,
    "system": _system,
    "attachment": _attachment,
    "cost-state": _cost_state,
    "permission-mode": _permission_mode,
    "pr-link": _pull_request,
}

"""Parse user records of a Claude Code transcript: prompts, tool results, interrupts and notices.

The CLI writes all four as `user` records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from cockpit.core.session import Interrupted, SessionEvent, ToolFinished, UserSaid

Record = dict[str, Any]

BLOCKS_KEPT = 1_000
"""Maximum blocks read from one record's content; the CLI writes one or a few."""
RESULT_KEPT = 2_000
"""Maximum characters of a tool's result in an event."""
_INTERRUPTED = "[Request interrupted by user"
_BY_THE_CLI = (
    "<bash-stderr>",
    "<bash-stdout>",
    "<command-message>",
    "<command-name>",
    "<local-command-",
    "<task-notification>",
)
NOTICE = "<task-notification>"
_NOTICED = re.compile(r"<(task-id|tool-use-id|status|result)>([^<]*)")
_SUBAGENT_STATUS = {
    "async_launched": "running",
    "running": "running",
    "completed": "completed",
    "killed": "stopped",
    "stopped": "stopped",
}
_LOG = re.compile(r"Output is being written to: (/\S+?\.output)(?=[.\s]|$)")
_PASTED = re.compile(
    r'\n{0,2}<pasted_content id="([\w-]{1,40})">\n(.*?)\n</pasted_content id="\1">\n?', re.DOTALL
)
"""Pasted lines, with the CLI's markers around them (2.1.330)."""
_OWN_MARK = re.compile(r"<\\(?=/?pasted_content\b)")
"""A marker that the user wrote; the CLI escapes it with a backslash."""


def events_of_user(record: Record, at: datetime | None) -> Sequence[SessionEvent]:
    """Return the events of a `user` record in order: results first, then text."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    sidechain = record.get("isSidechain") is True
    if isinstance(content, str):
        return _prompt_events(record, content, sidechain, at)
    if not isinstance(content, list):
        return ()
    events: list[SessionEvent] = []
    texts: list[str] = []
    for block in content[:BLOCKS_KEPT]:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_result":
            events.append(_result(record, block, sidechain, at))
        elif isinstance(block.get("text"), str):
            texts.append(block["text"])
    if texts:
        events.extend(_prompt_events(record, "\n".join(texts), sidechain, at))
    return events


def _prompt_events(
    record: Record, text: str, sidechain: bool, at: datetime | None
) -> Sequence[SessionEvent]:
    if text.startswith(_INTERRUPTED):
        return () if sidechain else (Interrupted(at),)
    prompt = UserSaid(
        _without_paste_marks(text),
        meta=_is_meta(record, text),
        compact_summary=record.get("isCompactSummary") is True,
        sidechain=sidechain,
        at=at,
    )
    if not text.startswith(NOTICE):
        return (prompt,)
    return (prompt, *notice(text, at))


def _without_paste_marks(text: str) -> str:
    """Return a prompt without the CLI's markers around pasted lines."""
    if "pasted_content" not in text:
        return text
    bare = _PASTED.sub(lambda found: f"\n{found[2]}\n", text)
    return _OWN_MARK.sub("<", bare).strip("\n")


def _is_meta(record: Record, text: str) -> bool:
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    by_the_cli = record.get("isMeta") is True or kind not in (None, "human")
    return by_the_cli or text.lstrip().startswith(_BY_THE_CLI)


def _result(record: Record, block: Record, sidechain: bool, at: datetime | None) -> ToolFinished:
    details = record.get("toolUseResult")
    details = details if isinstance(details, dict) else {}
    agent = details.get("agentId")
    failed = block.get("is_error") is True
    status = None
    if isinstance(agent, str):
        status = _SUBAGENT_STATUS.get(
            str(details.get("status")), "failed" if failed else "completed"
        )
    text = "\n".join(_texts(block.get("content")))[:RESULT_KEPT]
    task = details.get("backgroundTaskId")
    log = _LOG.search(text) if isinstance(task, str) else None
    return ToolFinished(
        tool_use_id=str(block.get("tool_use_id", "")),
        failed=failed,
        text=text,
        agent_id=agent if isinstance(agent, str) else None,
        agent_status=status,
        task_id=task if isinstance(task, str) and task else None,
        task_log=log[1] if log else "",
        sidechain=sidechain,
        at=at,
    )


def _texts(content: object) -> Iterator[str]:
    """Yield the texts of a result, each truncated, because a result can have megabytes."""
    if isinstance(content, str):
        yield content[:RESULT_KEPT]
    elif isinstance(content, list):
        for part in content[:20]:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part["text"][:RESULT_KEPT]


def notice(text: str, at: datetime | None) -> Sequence[SessionEvent]:
    """Return the event in a notice that a background task or a subagent has ended."""
    fields = dict(reversed(_NOTICED.findall(text)))
    tool, status = fields.get("tool-use-id"), fields.get("status")
    if not tool or not status:
        return ()
    ended = _SUBAGENT_STATUS.get(status, "failed")
    return (
        ToolFinished(
            tool_use_id=tool,
            failed=ended == "failed",
            text=fields.get("result", "")[:RESULT_KEPT],
            agent_id=fields.get("task-id"),
            agent_status=ended,
            at=at,
        ),
    )

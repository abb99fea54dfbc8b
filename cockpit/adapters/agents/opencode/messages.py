"""Build a session's transcript, in the format of cockpit's plugin, from opencode's messages.

The messages come from opencode's database or from `opencode export` (1.18.33). Each message has its
own fields and a list of parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cockpit.adapters.agents.opencode.record import RECORD
from cockpit.adapters.files.foreign_files import read_file
from cockpit.core.foreign_json import loads

LARGEST_EXPORT = 512 * 1024 * 1024
OUTPUT_KEPT, TAIL_KEPT, TEXT_KEPT = 2_000, 1_000, 20_000
"""Maximum characters of a tool's output, of the end of a longer output, and of a text."""
_TOOLS = {
    "bash": "Bash", "edit": "Edit", "glob": "Glob", "grep": "Grep", "question": "AskUserQuestion",
    "read": "Read", "task": "Task", "todowrite": "TodoWrite", "webfetch": "WebFetch",
    "write": "Write",
}  # fmt: skip
_FIELDS = {"filePath": "file_path", "newString": "new_string", "oldString": "old_string"}


def head_line(session: str, directory: str) -> str:
    """Return the first line of a transcript: the format's name, the session and its directory."""
    head = {"record": RECORD, "version": 1, "session": session, "directory": directory}
    return json.dumps(head)


def exported_lines(path: Path) -> Iterator[bytes]:
    """Yield the transcript's lines from a file that `opencode export` wrote. Raises `OSError`."""
    try:
        exported = loads(read_file(path, LARGEST_EXPORT, any_owner=True))
    except (ValueError, RecursionError):
        raise OSError(0, "the export is not complete JSON") from None
    exported = exported if isinstance(exported, dict) else {}
    yield head_line(
        str(at(exported, "info", "id")), str(at(exported, "info", "directory"))
    ).encode()
    messages = exported.get("messages")
    for entry in messages if isinstance(messages, list) else ():
        message, parts = at(entry, "info"), at(entry, "parts")
        if isinstance(message, dict) and isinstance(parts, list):
            objects = [(str(at(part, "id")), part) for part in parts if isinstance(part, dict)]
            for line in message_lines(str(message.get("id")), message, objects):
                yield json.dumps(line).encode()


def message_lines(
    ident: str, message: Mapping[str, Any], parts: Iterable[tuple[str, Mapping[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Yield the transcript's lines for a message. `parts` are pairs of an id and a part."""
    is_user = message.get("role") == "user"
    created = at(message, "time", "created")
    for part_id, part in parts:
        kind = part.get("type")
        if kind == "text" and is_user:
            yield {
                "type": "prompt", "at": created, "text": str(part.get("text") or ""),
                "meta": part.get("synthetic") is True,
            }  # fmt: skip
        elif kind == "text":
            text = str(part.get("text") or "")[:TEXT_KEPT]
            yield {"type": "said", "at": at(part, "time", "end"), "id": ident, "text": text}
        elif kind == "tool":
            yield from _tool_line(str(part.get("callID") or part_id), part)
        elif kind == "compaction":
            trigger = "auto" if part.get("auto") is not False else "manual"
            yield {"type": "compacted", "at": created, "trigger": trigger}
    tokens = message.get("tokens")
    if is_user or not isinstance(tokens, dict):
        return
    counts = {
        "input": tokens.get("input"), "output": tokens.get("output"),
        "reasoning": tokens.get("reasoning"), "cache_read": at(tokens, "cache", "read"),
        "cache_write": at(tokens, "cache", "write"),
    }  # fmt: skip
    if any(isinstance(count, int) and count > 0 for count in counts.values()):
        yield {
            "type": "reply", "at": at(message, "time", "completed"), "id": ident,
            "model": f"{message.get('providerID')}/{message.get('modelID')}", "tokens": counts,
            "cost": message.get("cost"), "finish": message.get("finish"),
            "side": message.get("summary") is True,
        }  # fmt: skip


def _tool_line(ident: str, part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    state = part.get("state")
    if not isinstance(state, dict) or state.get("status") not in ("completed", "error"):
        return
    given, name = state.get("input"), str(part.get("tool"))
    code = at(state, "metadata", "exit")
    failed = state["status"] == "error" or code not in (None, 0)
    output = str((failed and state.get("error")) or state.get("output") or "")
    fields = given if isinstance(given, dict) else {}
    yield {
        "type": "tool", "at": at(state, "time", "end"), "id": ident,
        "name": _TOOLS.get(name, name),
        "input": {_FIELDS.get(key, key): value for key, value in fields.items()},
        "failed": failed, "output": output[:OUTPUT_KEPT],
        "tail": output[max(OUTPUT_KEPT, len(output) - TAIL_KEPT) :],
        "exit": code if isinstance(code, int) else None,
    }  # fmt: skip


def at(value: Any, *keys: str) -> Any:
    """Return the value at a path of keys in nested objects; None if a key is missing."""
    inner: Any = value
    for key in keys:
        inner = inner.get(key) if isinstance(inner, dict) else None
    return inner

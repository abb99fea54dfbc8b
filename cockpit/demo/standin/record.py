"""The transcript of a stand-in's session, in the real CLI's format."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cockpit.core.deferred_dataclass import dataclass
from cockpit.demo.conversation import TokenCount
from cockpit.demo.standin.mentions import Mentioned


def record_path(config: Path, directory: Path, session_id: str) -> Path:
    """Return the path of this session's transcript, as Claude Code chooses it."""
    folder = re.sub(r"[^a-zA-Z0-9]", "-", str(directory))
    return config / "projects" / folder / f"{session_id}.jsonl"


def now() -> str:
    """Return the current time in the transcript's format: UTC, milliseconds, `Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Record:
    """One session's transcript. Each line is appended with one write."""

    path: Path
    session_id: str
    directory: Path
    branch: str
    model: str
    silent: bool = False
    """True if nothing is written (fault `mute`)."""
    _parent: str | None = field(default=None, init=False)

    def note(self, kind: str, **fields: Any) -> None:
        """Write a line outside the conversation."""
        self._append({"type": kind, **fields, "sessionId": self.session_id})

    def prompt(self, text: str, *, permission_mode: str, meta: bool = False) -> None:
        """Write a prompt of the user, or with `meta` a prompt of the CLI."""
        extra: dict[str, Any] = {"isMeta": True} if meta else {"origin": {"kind": "human"}}
        message = {"role": "user", "content": text}
        self._chained("user", message=message, permissionMode=permission_mode, **extra)

    def mention(self, file: Mentioned) -> None:
        """Write a file that the previous prompt mentions."""
        lines = file.text.count("\n") + 1
        content = {
            "filePath": file.path,
            "content": file.text,
            "numLines": lines,
            "startLine": 1,
            "totalLines": lines,
        }
        attachment = {
            "type": "file",
            "filename": file.path,
            "content": {"type": "text", "file": content},
            "displayPath": os.path.relpath(file.path, self.directory),
        }
        rendered = [{"content": reminder} for reminder in file.reminders]
        self._chained("attachment", attachment=attachment, rendered=rendered)

    def reply(self, message: Mapping[str, Any], tokens: TokenCount) -> None:
        """Write a message of the model, one line per block, each with the whole usage."""
        usage = {
            "input_tokens": tokens.input,
            "cache_creation_input_tokens": tokens.cache_creation,
            "cache_read_input_tokens": tokens.cache_read,
            "output_tokens": tokens.output,
            "service_tier": "standard",
            "iterations": [],
        }
        for place, block in enumerate(message["content"]):
            whole = {**message, "model": self.model, "content": [block], "usage": usage}
            self._chained("assistant", message=whole, apiBlockIndex=place)

    def result(self, tool_use_id: str, text: str, response: Any, *, failed: bool) -> None:
        block = {
            "tool_use_id": tool_use_id,
            "type": "tool_result",
            "content": text,
            "is_error": failed,
        }
        self._chained("user", message={"role": "user", "content": [block]}, toolUseResult=response)

    def context(self, event: str, tool: str, tool_use_id: str, text: str) -> None:
        """Write the text that a hook added for the model."""
        attachment = {
            "type": "hook_additional_context",
            "content": [text],
            "hookName": f"{event}:{tool}" if tool else event,
            "toolUseID": tool_use_id,
            "hookEvent": event,
        }
        self._chained("attachment", attachment=attachment)

    def refusal(self, reason: str, command: str) -> None:
        """Write that a hook refused the end of the turn."""
        attachment = {
            "type": "hook_blocking_error",
            "hookName": "Stop",
            "hookEvent": "Stop",
            "blockingError": {"blockingError": reason, "command": command},
        }
        self._chained("attachment", attachment=attachment)

    def failure(self, status: int, kind: str, message: str) -> None:
        """Write that a request failed with an API error."""
        text = f"API Error: {status} {message}"
        body = {
            "id": str(uuid.uuid4()),
            "type": "message",
            "role": "assistant",
            "model": "<synthetic>",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "stop_sequence",
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        self._chained(
            "assistant", message=body, isApiErrorMessage=True, error=kind, apiErrorStatus=status
        )

    def another(self, session_id: str) -> Record:
        """Return the transcript of another session of the same process."""
        path = self.path.with_name(f"{session_id}.jsonl")
        return replace(self, path=path, session_id=session_id)

    def compacted(self, before: int, summary: str, trigger: str = "auto") -> None:
        """Write that a summary replaced the conversation, which had `before` tokens."""
        self._parent, last = None, self._parent
        self._chained(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            logicalParentUuid=last,
            compactMetadata={"trigger": trigger, "preTokens": before, "postTokens": 2_800},
        )
        message = {"role": "user", "content": summary}
        self._chained("user", message=message, isCompactSummary=True)

    def interrupted(self) -> None:
        """Write that the user pressed Esc."""
        content = [{"type": "text", "text": "[Request interrupted by user]"}]
        self._chained("user", message={"role": "user", "content": content})

    def turn_ended(self, milliseconds: int) -> None:
        """Write that the turn ended."""
        self._chained("system", subtype="turn_duration", durationMs=milliseconds, isMeta=False)

    def conversation(self) -> list[dict[str, Any]]:
        """Return the messages since the last compaction, for a session that is reopened.

        New lines then continue the transcript's chain of messages.
        """
        messages: list[dict[str, Any]] = []
        for line in self.path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            self._parent = entry.get("uuid", self._parent)
            if entry.get("subtype") == "compact_boundary":
                messages.clear()
            if entry.get("type") in ("user", "assistant") and not entry.get("isApiErrorMessage"):
                join(messages, entry["message"])
            for reminder in entry.get("rendered", ()):
                join(messages, {"role": "user", "content": reminder["content"]})
        return messages

    def _chained(self, kind: str, **fields: Any) -> None:
        parent, self._parent = self._parent, str(uuid.uuid4())
        entry = {"parentUuid": parent, "isSidechain": False, "type": kind, **fields}
        entry |= {
            "uuid": self._parent,
            "timestamp": now(),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": str(self.directory),
            "sessionId": self.session_id,
            "version": "2.1.330",
            "gitBranch": self.branch,
        }
        self._append(entry)

    def _append(self, entry: Mapping[str, Any]) -> None:
        if self.silent:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def join(messages: list[dict[str, Any]], message: Mapping[str, Any]) -> None:
    """Append a message, or join it with the previous message if both have the same role."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    if messages and messages[-1]["role"] == message["role"]:
        messages[-1]["content"].extend(blocks)
    else:
        messages.append({"role": message["role"], "content": blocks})

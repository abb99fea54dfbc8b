"""Writes a session as Claude Code 2.1.330 writes its transcript."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

VERSION = "2.1.330"
MODEL = "claude-opus-5-5"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file)."
)
BEGAN = datetime(2026, 11, 3, 8, 0, tzinfo=UTC)


class Records:
    """The lines of one transcript, in the order in which they happen."""

    def __init__(self, random_: random.Random, cwd: Path, branch: str) -> None:
        self._random, self._cwd, self.branch = random_, cwd, branch
        self.session = self._uuid()
        self._parent: str | None = None
        self._seconds = 0
        self._context = 18_000
        self._count = 0
        self.calls = 0
        """How many tools were called."""
        self.lines: list[str] = []

    def write(self, path: Path) -> None:
        path.write_text("".join(self.lines))

    def prompt(self, text: str) -> None:
        """A prompt that the user typed."""
        self._user(
            text, origin={"kind": "human"}, promptSource="typed", permissionMode="acceptEdits"
        )

    def queued(self, text: str) -> None:
        """A prompt that the user typed while the agent was working."""
        operation = {"type": "queue-operation", "operation": "enqueue", "timestamp": self._now()}
        self._line({**operation, "sessionId": self.session, "content": text})
        self._attachment(type="queued_command", prompt=text, commandMode="prompt")
        removed = {"type": "queue-operation", "operation": "remove", "timestamp": self._now()}
        self._line({**removed, "sessionId": self.session})

    def shell(self, command: str, output: str) -> None:
        """A command that the user ran in the CLI with `!`."""
        self._user(f"<bash-input>{command}</bash-input>")
        self._user(f"<bash-stdout>{output}</bash-stdout><bash-stderr></bash-stderr>")

    def interrupt(self) -> None:
        self._user([{"type": "text", "text": "[Request interrupted by user]"}])

    def text(self, text: str) -> None:
        """A reply without a tool."""
        self._reply({"type": "text", "text": text}, "end_turn")

    def call(
        self, name: str, arguments: Mapping[str, Any], output: str = "", **details: Any
    ) -> str:
        """A tool call with its result; return its id."""
        ident = self._begin(name, arguments)
        self._result(
            ident, output, details or {"stdout": output, "stderr": "", "interrupted": False}
        )
        return ident

    def failed(self, name: str, arguments: Mapping[str, Any], output: str) -> None:
        self._result(self._begin(name, arguments), output, f"Error: {output}", failed=True)

    def refused(self, name: str, arguments: Mapping[str, Any], said: str) -> None:
        """A call that the user refused, with or without a word."""
        told = f"{REFUSED} To tell you how to proceed, the user said:\n{said}" if said else REFUSED
        self._result(self._begin(name, arguments), told, f"Error: {told}", failed=True)

    def compacted(self, summary: str) -> None:
        metadata = {"trigger": "auto", "preTokens": self._context, "postTokens": 3_000}
        self._chained(
            type="system",
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            compactMetadata=metadata,
        )
        self._context = 24_000
        text = (
            "This session is being continued from a previous conversation that ran out of context. "
            f"The summary below covers the earlier portion of the conversation.\n\n{summary}"
        )
        self._user(text, isVisibleInTranscriptOnly=True, isCompactSummary=True)

    def away(self, text: str) -> None:
        """The summary that the CLI writes for a user who was away."""
        self._chained(type="system", subtype="away_summary", content=text, isMeta=False)

    def instructions(self, path: Path, text: str) -> None:
        """A file of instructions that the CLI loads because a file near it was read."""
        content = {"path": str(path), "type": "Project", "content": text}
        self._attachment(type="nested_memory", path=str(path), content=content)

    def pull_request(self, number: int, url: str) -> None:
        repository = "/".join(url.split("/")[3:5])
        linked = {"type": "pr-link", "sessionId": self.session, "prNumber": number, "prUrl": url}
        self._line({**linked, "prRepository": repository, "timestamp": self._now()})

    def notice(self, task: str, tool: str, status: str, summary: str, result: str = "") -> None:
        """The notice that something in the background has ended."""
        parts = [f"<task-id>{task}</task-id>", f"<tool-use-id>{tool}</tool-use-id>"]
        parts += [f"<status>{status}</status>", f"<summary>{summary}</summary>"]
        parts += [f"<result>{result}</result>"] if result else []
        self._user("\n".join(["<task-notification>", *parts, "</task-notification>"]))

    def _begin(self, name: str, arguments: Mapping[str, Any]) -> str:
        self.calls += 1
        ident = f"toolu_{self._random.getrandbits(64):016x}"
        block = {"type": "tool_use", "id": ident, "name": name, "input": dict(arguments)}
        self._reply(block, "tool_use")
        return ident

    def _reply(self, block: dict[str, Any], stop_reason: str) -> None:
        self._count += 1
        self._context = min(self._context + self._random.randint(150, 1_400), 700_000)
        new = self._random.randint(100, 1_200)
        usage = {
            "input_tokens": 3,
            "cache_creation_input_tokens": new,
            "cache_read_input_tokens": self._context - new,
            "output_tokens": self._random.randint(20, 600),
            "service_tier": "standard",
            "iterations": [],
        }
        message = {
            "id": f"msg_{self._count:06d}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [block],
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": usage,
        }
        self._chained(message=message, requestId=f"req_{self._count:06d}", type="assistant")

    def _result(self, ident: str, output: str, details: Any, failed: bool = False) -> None:
        block: dict[str, Any] = {"tool_use_id": ident, "type": "tool_result", "content": output}
        if failed:
            block["is_error"] = True
        self._user([block], toolUseResult=details)

    def _user(self, content: object, **more: Any) -> None:
        self._chained(type="user", message={"role": "user", "content": content}, **more)

    def _attachment(self, **attachment: Any) -> None:
        self._chained(attachment=attachment, type="attachment")

    def _chained(self, **record: Any) -> None:
        uuid = self._uuid()
        self._line(
            {
                "parentUuid": self._parent,
                "isSidechain": False,
                **record,
                "uuid": uuid,
                "timestamp": self._now(),
                "userType": "external",
                "entrypoint": "cli",
                "cwd": str(self._cwd),
                "sessionId": self.session,
                "version": VERSION,
                "gitBranch": self.branch,
            }
        )
        self._parent = uuid

    def _line(self, record: Mapping[str, Any]) -> None:
        dumped = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        self.lines.append(dumped + "\n")

    def _now(self) -> str:
        self._seconds += self._random.randint(2, 40)
        return f"{BEGAN + timedelta(seconds=self._seconds):%Y-%m-%dT%H:%M:%S}.000Z"

    def _uuid(self) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

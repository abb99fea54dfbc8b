"""The types of one Messages API call: a request to the simulated model, and its reply.

Parses requests in Claude Code's format. `script.py` creates the replies, and `model.py` sends them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from cockpit.core.deferred_dataclass import dataclass
from cockpit.core.prompt_files import prompt_files_in

DOCUMENT_PATH = re.compile(r"/[^\s`'\"<>]*/(?:handoff|draft)-[^\s`'\"<>]*?\.md")
"""Matches the absolute path of a handoff document or its draft, in any text."""

COMPACTION_REQUEST = "detailed summary of the conversation"
"""Text in the CLI's request for a summary, in manual and automatic compactions."""

ANSWER_ITSELF = "Answer with the document itself"
"""Text in the request with which cockpit asks a copy of a session for the document. The copy has no
tools."""

UNUSABLE = "cannot be used yet"
"""Text in cockpit's request to correct a document."""

AGREED = "handoff document of this session is complete"
"""Text in cockpit's request to end the turn after the document is written."""

COMPACTED = "This session is being continued from a previous conversation"
"""Text that precedes the summary with which the CLI replaces the conversation."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model."""

    name: str
    input: Mapping[str, Any]
    id: str = ""
    """The id of the call; if empty, the server creates one."""

    @property
    def path(self) -> str:
        """The path of the call's file; empty if the call has no file."""
        return str(self.input.get("file_path", ""))

    @property
    def is_about_document(self) -> bool:
        """Whether the call's file is a handoff document or its draft."""
        return DOCUMENT_PATH.fullmatch(self.path) is not None

    def within(self, directory: str) -> ToolCall:
        """Return the same call with an absolute file path, as the CLI's tools need it."""
        if not self.path or self.path.startswith("/"):
            return self
        return replace(self, input={**self.input, "file_path": f"{directory}/{self.path}"})


@dataclass(frozen=True, slots=True)
class TokenCount:
    """The token usage of a reply. The first three values together are the context."""

    input: int = 3
    cache_creation: int = 1_000
    cache_read: int = 10_000
    output: int = 120

    @property
    def context(self) -> int:
        """Tokens in the context window at this call."""
        return self.input + self.cache_creation + self.cache_read


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error of the API in place of a message."""

    status: int
    type: str
    message: str
    headers: tuple[tuple[str, str], ...] = ()
    """Additional headers of the response; sent only in the Responses API."""


OVERLOADED = ApiError(529, "overloaded_error", "Overloaded")


@dataclass(frozen=True, slots=True)
class Reply:
    """One message of the model, or an error."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tokens: TokenCount = field(default_factory=TokenCount)
    delay: float = 0.0
    """Seconds before the first byte."""
    error: ApiError | None = None

    @property
    def stop_reason(self) -> str:
        return "tool_use" if self.tool_calls else "end_turn"


@dataclass(frozen=True)
class Request:
    """One call of `/v1/messages`, or a call of another API that was converted to this form."""

    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers, with names in lower case."""

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages") or [])

    @cached_property
    def tools(self) -> frozenset[str]:
        """Names of the tools in the request."""
        return frozenset(str(tool.get("name")) for tool in self.body.get("tools") or [])

    @property
    def has_tools(self) -> bool:
        """Whether the request has tools; False for the CLI's own requests, such as for a title."""
        return bool(self.tools)

    @cached_property
    def system(self) -> str:
        """The system prompt, and all `system` messages."""
        messages = (m.get("content") for m in self.messages if m.get("role") == "system")
        return "\n".join(text_of(part) for part in (self.body.get("system"), *messages))

    @cached_property
    def session_id(self) -> str | None:
        """The CLI's session id, from the header or the metadata."""
        header = self.headers.get("x-claude-code-session-id")
        if header:
            return header
        user = str((self.body.get("metadata") or {}).get("user_id", ""))
        match = re.search(r"session(?:_id\W+|_)([0-9a-f-]{36})", user)
        return match.group(1) if match else None

    @cached_property
    def calls_made(self) -> tuple[ToolCall, ...]:
        """All tool calls of this conversation, oldest first."""
        return tuple(call for m in self._own for call in calls_in(m))

    @property
    def last_calls(self) -> tuple[ToolCall, ...]:
        return tuple(calls_in(self._own[-1])) if self._own else ()

    @cached_property
    def own_words(self) -> tuple[str, ...]:
        """The texts of the model's messages in this conversation."""
        return tuple(text_of(message.get("content")) for message in self._own)

    @cached_property
    def _own(self) -> list[dict[str, Any]]:
        return [message for message in self.messages if message.get("role") == "assistant"]

    @property
    def replies_made(self) -> int:
        """Number of messages of the model in the conversation."""
        return len(self._own)

    @cached_property
    def opening(self) -> str:
        """Everything before the model's first message: the prompt, or the summary of a compaction.

        A message that only reads the file with the prompt does not count as the model's first.
        """
        first = next(
            (
                i
                for i, m in enumerate(self.messages)
                if m.get("role") == "assistant" and not opens_prompt(m)
            ),
            len(self.messages),
        )
        return "\n".join(said(m) for m in self.messages[:first] if m.get("role") != "system")

    @property
    def steps_made(self) -> int:
        """Number of messages of the model, without those that only read the file with the
        prompt."""
        return sum(not opens_prompt(message) for message in self._own)

    @cached_property
    def latest(self) -> str:
        """All text since the model's last message, including tool results."""
        last = max(
            (i for i, m in enumerate(self.messages) if m.get("role") == "assistant"), default=-1
        )
        return "\n".join(said(message) for message in self.messages[last + 1 :])

    @cached_property
    def everything(self) -> str:
        """The whole conversation as text, including the model's messages and tool calls."""
        return "\n".join(said(message) for message in self.messages)

    def chose(self, option: str) -> bool:
        """Return whether the user chose this option of a question."""
        return f'="{option}"' in self.everything

    @property
    def asks_for_summary(self) -> bool:
        """Whether this is the CLI's request for a summary, to compact the conversation."""
        return COMPACTION_REQUEST in self.latest

    @property
    def asks_for_answer(self) -> bool:
        """Whether cockpit asks for the handoff document as a reply, not as a file."""
        return ANSWER_ITSELF in self.latest

    @property
    def told_to_end(self) -> bool:
        """Whether cockpit asked the agent to end its turn."""
        last = self.messages[-1] if self.messages else {}
        return last.get("role") != "assistant" and AGREED in prompted(last)

    @property
    def is_compacted(self) -> bool:
        """Whether the conversation starts with the CLI's summary of an earlier part."""
        return COMPACTED in self.opening

    @cached_property
    def documents_named(self) -> tuple[str, ...]:
        """Paths of handoff documents in the first prompt.

        Only a job's later sessions have such a path.
        """
        return tuple(dict.fromkeys(DOCUMENT_PATH.findall(self.opening)))

    @cached_property
    def documents_written(self) -> frozenset[str]:
        return frozenset(call.path for call in self.calls_made if call.name == "Write")

    @cached_property
    def document_asked(self) -> str | None:
        """The path of the document that cockpit requested and that is not written yet; else None.

        cockpit's requests (a hook's context, a blocked stop, a typed prompt) are user messages
        after the first prompt. Tool output is ignored, because a listing can contain an old
        document. For a document that exists already, only a request with `UNUSABLE` counts, because
        the CLI also mentions changed files.
        """
        last = self.messages[-1] if self.messages else {}
        if last.get("role") != "assistant" and self.replies_made:
            again = prompted(last)
            if UNUSABLE in again and (named := DOCUMENT_PATH.findall(again)):
                return str(named[-1])
        start = 1 if self.replies_made else 0
        prompts = [prompted(m) for m in self.messages[start:] if m.get("role") != "assistant"]
        asked = DOCUMENT_PATH.findall("\n".join(prompts))
        open_ones = [
            path
            for path in asked
            if path not in self.documents_written and path not in self.documents_named
        ]
        return open_ones[-1] if open_ones else None


def opens_prompt(message: Mapping[str, Any]) -> bool:
    """Return whether a message's only tool call reads the file with the prompt.

    In some CLIs, the model must open this file itself.
    """
    calls = list(calls_in(message))
    return len(calls) == 1 and bool(prompt_files_in(str(calls[0].input.get("command", ""))))


def blocks(content: object) -> Iterator[Mapping[str, Any]]:
    """Yield the content of a message as blocks; plain text is one block."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        for block in content:
            yield block if isinstance(block, dict) else {"type": "text", "text": str(block)}


def calls_in(message: Mapping[str, Any]) -> Iterator[ToolCall]:
    for block in blocks(message.get("content")):
        if block.get("type") == "tool_use":
            yield ToolCall(str(block["name"]), block.get("input") or {}, str(block.get("id", "")))


def text_of(content: object) -> str:
    return "\n".join(str(b.get("text", "")) for b in blocks(content) if b.get("type") == "text")


def said(message: Mapping[str, Any]) -> str:
    """Return all text in a message: text blocks, tool input, tool results."""
    parts: list[str] = []
    for block in blocks(message.get("content")):
        match block.get("type"):
            case "text":
                parts.append(str(block.get("text", "")))
            case "tool_use":
                parts.extend(str(value) for value in (block.get("input") or {}).values())
            case "tool_result":
                parts.append(text_of(block.get("content")))
    return "\n".join(parts)


def prompted(message: Mapping[str, Any]) -> str:
    """Return a message's text, and the system reminders in its tool results."""
    parts = [text_of(message.get("content"))]
    for block in blocks(message.get("content")):
        if block.get("type") == "tool_result":
            reminders = text_of(block.get("content"))
            parts.extend(re.findall(r"(?s)<system-reminder>(.*?)</system-reminder>", reminders))
    return "\n".join(parts)

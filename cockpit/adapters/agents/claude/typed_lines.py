"""Decode the lines of a Claude transcript into the few fields that facts and token counts need.

msgspec checks the whole line, and creates objects only for these fields. If a field has an
unexpected type, or the line is not strict JSON, `decode` raises an error. The caller then uses
`record.parse`, which accepts any line.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType
from msgspec.json import Decoder

from cockpit.adapters.agents.claude.tool_results import answers_of, output_of
from cockpit.core.foreign_json import loads
from cockpit.core.session import ToolFinished, ToolUse

ABSENT = UNSET
"""The value of a field that a line does not have."""
UNREADABLE = (ValueError, RecursionError)
"""The errors that `decode` raises, including those for invalid UTF-8 and for lone surrogates."""

_Count = Annotated[int, Meta(ge=0, lt=2**53)]
_Any = Raw | UnsetType
_FILE_TOOLS = frozenset({"Edit", "MultiEdit", "Read", "Write"})
_PLANS = "/.claude/plans/"
_LARGE_SIGNATURE = "(1M context)"
"""Part of the trailer that a model with the large window adds to a commit."""


class Counts(Struct, gc=False):
    """The token counts of a reply."""

    input_tokens: _Count
    cache_creation_input_tokens: _Count = 0
    cache_read_input_tokens: _Count = 0
    output_tokens: _Count = 0
    iterations: list[Raw] | None = None


class Block(Struct, gc=False):
    """A block of a message: text, a tool call or a tool result."""

    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: _Any = ABSENT
    tool_use_id: str | None = None
    content: _Any = ABSENT
    is_error: bool | None = None


class Message(Struct, gc=False):
    """The message in a line, in the form of the Claude API."""

    content: list[Block] | str | None = None
    id: str | None = None
    model: str | None = None
    usage: Counts | None = None


class Details(Struct, gc=False):
    """The fields of a tool result in the CLI's own form (`toolUseResult`) that can report more than
    success."""

    interrupted: bool | None = None
    agentId: _Any = ABSENT
    answers: _Any = ABSENT
    backgroundTaskId: _Any = ABSENT
    file: _Any = ABSENT
    plan: _Any = ABSENT
    questions: _Any = ABSENT
    resolvedModel: _Any = ABSENT
    returnCodeInterpretation: _Any = ABSENT
    shellId: _Any = ABSENT
    task: _Any = ABSENT
    timeoutMs: _Any = ABSENT

    @property
    def has_fact(self) -> bool:
        """Whether the result can have a fact about a subagent, a background task or a large window.

        A result with such a fact is parsed even if nothing else in the result is needed.
        """
        return not (
            self.agentId is ABSENT
            and self.backgroundTaskId is ABSENT
            and self.task is ABSENT
            and self.resolvedModel is ABSENT
            and self.shellId is ABSENT
            and self.timeoutMs is ABSENT
        )

    @property
    def is_plain(self) -> bool:
        """Whether the result says only that the call succeeded."""
        return (
            not self.has_fact
            and not self.interrupted
            and self.returnCodeInterpretation is ABSENT
            and self.file is ABSENT
            and self.answers is ABSENT
            and self.questions is ABSENT
            and self.plan is ABSENT
        )


class Line(Struct, gc=False):
    """A line of the transcript, reduced to the fields that facts and token counts need."""

    type: str
    isSidechain: bool = False
    message: Message | None = None
    isApiErrorMessage: bool | None = None
    toolDenialKind: _Any = ABSENT
    toolUseResult: Details | list[Raw] | str | UnsetType | None = ABSENT


class _Command(Struct, gc=False):
    command: str
    description: str | None = None


class _File(Struct, gc=False):
    file_path: str
    command: _Any = ABSENT


decode = Decoder(Line).decode
_decode_command = Decoder(_Command).decode
_decode_file = Decoder(_File).decode


def call_of(block: Block) -> ToolUse | None:
    """Return the call in a block; None if the line needs a full parse.

    Of a `Bash` call, only the command and its description are kept. Of a file tool's call, only the
    path is kept, because the text can have many kilobytes. Other calls, and a plan that is written
    to a file, are kept whole.
    """
    ident, name, content = block.id, block.name, block.input
    if ident is None or name is None or content is ABSENT:
        return None
    try:
        if name == "Bash":
            shell = _decode_command(content)
            if _LARGE_SIGNATURE in shell.command:
                return None
            if shell.description is None:
                return ToolUse(ident, name, {"command": shell.command})
            arguments = {"command": shell.command, "description": shell.description}
            return ToolUse(ident, name, arguments)
        if name in _FILE_TOOLS:
            file = _decode_file(content)
            path = file.file_path
            plan = name == "Write" and _PLANS in path
            if path.strip() and file.command is ABSENT and not plan:
                return ToolUse(ident, name, {"file_path": path})
        whole = loads(bytes(content))
    except UNREADABLE:
        return None
    return ToolUse(ident, name, whole if isinstance(whole, dict) else {})


def success(block: Block, sidechain: bool) -> ToolFinished:
    """Return the event for the result of a successful call, without the time.

    Raises `ValueError` if the result cannot be decoded.
    """
    content = None if block.content is ABSENT else loads(bytes(block.content))
    text, tail = output_of(content)
    return ToolFinished(
        block.tool_use_id or "",
        text=text,
        tail=tail,
        exit=0,
        answers=answers_of({}, text),
        sidechain=sidechain,
    )

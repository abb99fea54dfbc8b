"""Read the most frequent lines of a Claude transcript without parsing all their JSON.

Each function recognises one form of line, as the CLI writes it, and returns None for other lines,
which the caller then parses. Quotes inside a JSON string are escaped, so a pattern that begins or
ends with a bare quote matches the structure of the record and never a text in it.
"""

from __future__ import annotations

import re

from cockpit.adapters.agents.claude.tool_results import answers_of, output_of
from cockpit.adapters.agents.claude.totals import CHAINED
from cockpit.core.foreign_json import loads
from cockpit.core.session import ToolFinished, ToolUse

LONGEST_OUTPUT = 16_000
"""Maximum bytes of a tool's output that is read in this way, because all of it is decoded."""
_SHELL = (
    rb'Bash","input":\{"command":"([^"\\]*)"(?:,"timeout":[0-9]{1,9})?'
    rb'(?:,"description":"([^"\\]*)")?\}(?:,"caller":\{"type":"direct"\})?\}(?=\],"stop_reason":)'
)
_FILE = rb'(Edit|MultiEdit|Read|Write)","input":\{"file_path":"([^"\\]{1,4000})"(?=[,}])'
_TEXT_OR_THINKING = rb'(text","text":"[!#-\[\]-~]|(?:redacted_)?thinking")'
"""Of texts, only those that begin with a printable character, and are therefore not blank."""
LINE = re.compile(
    CHAINED + rb'(?:"message":\{"id":"([^"\\]+)","type":"message","role":"assistant",'
    rb'"model":"([^"\\<]+)","content":\[(?:\{"type":"(?:'
    rb'tool_use","id":"([^"\\]{1,200})","name":"(?:' + _SHELL + rb"|" + _FILE + rb")"
    rb"|" + _TEXT_OR_THINKING + rb")|)"
    rb'|"type":"user","message":\{"role":"user","content":\[\{'
    rb'(?:"tool_use_id":"(?:([^"\\]{1,200})","type":"tool_result","content":")?'
    rb'|"type":"tool_result"))'
)  # fmt: skip
"""Matches the beginning of a reply or a result. One pattern, because each match is slow.

Its groups are the mark of a subagent; of a reply the id and the model; of the reply's first block
the id of the call, its command and description, or its tool and file, or else the block's kind; of
a result the id of the call."""
_SUCCEEDED = b'","is_error":false'
_DETAILS = re.compile(
    rb'","stderr":"[^"\\]*","interrupted":false'
    rb'(?:,"(?:isImage|noOutputExpected)":(?:true|false))*\}'
)
_FACT_KEYS = rb'is_error":true|agentId"|backgroundTaskId"|task_id"|resolvedModel"'
_FACT = re.compile(rb'"(?:' + _FACT_KEYS + rb")")
_EVENTFUL = re.compile(
    rb'"(?:' + _FACT_KEYS + rb'|toolDenialKind"|interrupted":true|isAgent"|file":|type":)'
)
_PLANS = b"/.claude/plans/"
_BACKSLASH = 0x5C


def is_only_block(line: bytes, start: int, end: int) -> bool:
    """Return whether the content of a reply is one block of text or thinking."""
    return line.find(b'"type":', start, end) < 0


def shell_call(ident: bytes, command: bytes, description: bytes | None) -> ToolUse | None:
    """Return the call of a command; None if it is not UTF-8."""
    try:
        if description is None:
            return ToolUse(ident.decode(), "Bash", {"command": command.decode()})
        arguments = {"command": command.decode(), "description": description.decode()}
        return ToolUse(ident.decode(), "Bash", arguments)
    except UnicodeDecodeError:
        return None


def file_call(
    line: bytes, start: int, end: int, ident: bytes, name: bytes, path: bytes
) -> ToolUse | None:
    """Return the only call in a reply, with its path, because the changed text can have many
    kilobytes. None if the reply needs a full parse."""
    # Another block, a second path, or a command would change what the call is.
    if (
        line.find(b'"type":', start, end) >= 0
        or line.find(b'"file_path":', start, end) >= 0
        or line.find(b'"command":', start, end) >= 0
        or (name == b"Write" and _PLANS in path)
    ):
        return None
    try:
        return ToolUse(ident.decode(), name.decode(), {"file_path": path.decode()})
    except UnicodeDecodeError:
        return None


def may_hold_fact(line: bytes, start: int) -> bool:
    """Return whether a result may have facts, though its call is not one whose results are needed:
    a failure, a subagent, a background task, or a large context window.

    The pattern is faster than a `find` for each key.
    """
    return _FACT.search(line, start) is not None


def is_dropped_if_repeated(line: bytes, start: int) -> bool:
    """Return whether a result only says what a command printed and that it did not fail.

    `start`: the first character of the output.
    """
    return (
        line.find(b',"toolUseResult":{"stdout":"', start) >= 0
        and _EVENTFUL.search(line, start) is None
    )


def end_of_success(line: bytes, start: int) -> int | None:
    """Return the end of the output of a command with status 0, if the CLI recorded nothing else.

    `start`: the first character of the output.
    """
    close = line.find(b'}]},"', start)
    if close < 0:
        return None
    if line.endswith(_SUCCEEDED, start, close):
        end = close - len(_SUCCEEDED)
    elif line.endswith(b'"', start, close):
        end = close - 1
    else:
        return None
    if end - start > LONGEST_OUTPUT or line[end - 1] == _BACKSLASH:
        return None
    if line.find(b'"tool_use_id":', start, end) >= 0:
        return None  # several results
    details = line.find(b',"toolUseResult":{"stdout":"', close)
    after = line.find(b'","stderr":"', details) if details >= 0 else -1
    rest = _DETAILS.match(line, after) if after >= 0 else None
    if (
        rest is None
        or line.find(b'"toolDenialKind"', close, details) >= 0
        or line.find(b'"toolDenialKind"', rest.end()) >= 0
        or line.find(b'"toolUseResult":', rest.end()) >= 0
    ):
        return None
    return end


def success(line: bytes, start: int, end: int, call: bytes, sidechain: bool) -> ToolFinished | None:
    """Return the result of a command that succeeded, without its time; None if it is not JSON."""
    try:
        text, tail = output_of(loads(line[start - 1 : end + 1]))
        ident = call.decode()
    except ValueError:
        return None
    return ToolFinished(
        ident,
        text=text,
        tail=tail,
        exit=0,
        answers=answers_of({}, text),
        sidechain=sidechain,
    )

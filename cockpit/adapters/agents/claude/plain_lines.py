"""Read the most frequent lines of a Claude transcript without parsing all their JSON.

Each function recognises one form of line, as the CLI writes it, and returns None for other lines,
which the caller then parses. Quotes inside a JSON string are escaped, so a pattern that begins or
ends with a bare quote matches the structure of the record and never a text in it.
"""

from __future__ import annotations

import re

from cockpit.adapters.agents.claude.tool_results import answers_of, output_of
from cockpit.core.foreign_json import loads
from cockpit.core.session import ToolFinished, ToolUse

CHAINED = (
    rb'\{"parentUuid":(?:null|"[^"]*"),(?:"logicalParentUuid":(?:null|"[^"]*"),)?'
    rb'"isSidechain":(true|false),(?:"(?:agentId|promptId)":"[^"]*",)*'
)
LONGEST_OUTPUT = 16_000
"""Maximum bytes of a tool's output that is read in this way, because all of it is decoded."""
_FILE_CALL = re.compile(
    rb'\{"type":"tool_use","id":"([^"\\]{1,200})","name":"(Edit|MultiEdit|Read|Write)",'
    rb'"input":\{"file_path":"([^"\\]{1,4000})"(?=[,}])'
)
_SHELL_CALL = re.compile(
    rb'\{"type":"tool_use","id":"([^"\\]{1,200})","name":"Bash",'
    rb'"input":\{"command":"([^"\\]*)"(?:,"timeout":[0-9]{1,9})?(?:,"description":"([^"\\]*)")?\}'
    rb'(?:,"caller":\{"type":"direct"\})?\}'
)
_TEXT = re.compile(rb'\{"type":"text","text":"[!#-\[\]-~]')
"""Matches only texts that begin with a printable character, and are therefore not blank."""
_THINKING = re.compile(rb'\{"type":"(?:redacted_)?thinking"')
_OUTPUT = re.compile(
    CHAINED + rb'"type":"user","message":\{"role":"user","content":\[\{'
    rb'"tool_use_id":"([^"\\]{1,200})","type":"tool_result","content":"'
)
_SUCCEEDED = (b'","is_error":false', b'"')
_DETAILS = re.compile(
    rb'","stderr":"[^"\\]*","interrupted":false'
    rb'(?:,"(?:isImage|noOutputExpected)":(?:true|false))*\}'
)
_PLANS = b"/.claude/plans/"


def is_text_only(line: bytes, start: int, end: int) -> bool:
    """Return whether the content of a reply is one block of text that is not blank."""
    return _TEXT.match(line, start) is not None and line.find(b'"type":', start + 8, end) < 0


def is_thinking_only(line: bytes, start: int, end: int) -> bool:
    """Return whether the content of a reply is one block of thinking."""
    return _THINKING.match(line, start) is not None and line.find(b'"type":', start + 8, end) < 0


def only_call(line: bytes, start: int, end: int) -> ToolUse | None:
    """Return the only call in a reply without other content, with the arguments that are needed.

    For an edit this is the path, because the changed text can have many kilobytes.
    """
    shell = _SHELL_CALL.match(line, start)
    if shell is not None:
        return _shell_call(shell) if shell.end() == end else None
    found = _FILE_CALL.match(line, start)
    if found is None:
        return None
    after = found.end()
    # Another block, a second path, or a command would change what the call is.
    if (
        line.find(b'"type":', after, end) >= 0
        or line.find(b'"file_path":', after, end) >= 0
        or line.find(b'"command":', after, end) >= 0
        or (found[2] == b"Write" and _PLANS in found[3])
    ):
        return None
    try:
        return ToolUse(found[1].decode(), found[2].decode(), {"file_path": found[3].decode()})
    except UnicodeDecodeError:
        return None


def _shell_call(found: re.Match[bytes]) -> ToolUse | None:
    try:
        arguments = {"command": found[2].decode()}
        if found[3] is not None:
            arguments["description"] = found[3].decode()
        return ToolUse(found[1].decode(), "Bash", arguments)
    except UnicodeDecodeError:
        return None


def result_of(line: bytes) -> re.Match[bytes] | None:
    """Match a line with a result, up to the first character of its output.

    The groups are the mark of a subagent, and the id of the call.
    """
    return _OUTPUT.match(line)


def end_of_success(line: bytes, found: re.Match[bytes]) -> int | None:
    """Return the end of the output of a command with status 0, if the CLI recorded nothing else."""
    start = found.end()
    close = line.find(b'}]},"', start)
    if close < 0:
        return None
    ending = next((one for one in _SUCCEEDED if line.endswith(one, start, close)), b"")
    end = close - len(ending)
    if not ending or end - start > LONGEST_OUTPUT or line[end - 1 : end] == b"\\":
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


def success(line: bytes, found: re.Match[bytes], end: int) -> ToolFinished | None:
    """Return the result of a command that succeeded, without its time; None if it is not JSON."""
    try:
        text, tail = output_of(loads(line[found.end() - 1 : end + 1]))
        ident = found[2].decode()
    except ValueError:
        return None
    return ToolFinished(
        ident,
        text=text,
        tail=tail,
        exit=0,
        answers=answers_of({}, text),
        sidechain=found[1] == b"true",
    )

"""Whole Claude transcripts in a hurry: only what totals, or facts, ask of a line.

Each function answers like `claude_record.parse` for the records that its question is about, and
dismisses the rest by their first bytes. The shapes known here are those the CLI writes; any
other line goes to `parse` itself, so that being unusual costs time and never a token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cockpit.adapters.agents.claude_record import parse
from cockpit.core.session import AssistantReplied, SessionEvent, Skipped, Usage

_CHAINED = (
    rb'\{"parentUuid":(?:null|"[^"]*"),(?:"logicalParentUuid":(?:null|"[^"]*"),)?'
    rb'"isSidechain":(true|false),(?:"(?:agentId|promptId)":"[^"]*",)*'
)
_RESULT = re.compile(
    _CHAINED + rb'"type":"user","message":\{"role":"user","content":\[\{'
    rb'(?:"tool_use_id":"|"type":"tool_result")'
)
_REPLY = re.compile(
    _CHAINED + rb'"message":\{"id":"([^"\\]+)","type":"message","role":"assistant",'
    rb'"model":"([^"\\<]+)","content":\['
)
_USAGE = re.compile(
    rb'\],"stop_reason":(?:null|"[a-z_]*"),(?:"stop_sequence":(?:null|"[^"\\]*"),)?'
    rb'"usage":\{"input_tokens":([0-9]{1,12}),"cache_creation_input_tokens":([0-9]{1,12}),'
    rb'"cache_read_input_tokens":([0-9]{1,12}),"output_tokens":([0-9]{1,12})[,}]'
)
_COMMITTED = re.compile(rb'(?:"|\\n)\[[^"\n]{1,400}? [0-9a-f]{7,64}\] ')


def parse_totals(line: bytes) -> Sequence[SessionEvent] | Skipped:
    """Like `parse`, for counting tokens: replies come without text, tools and time."""
    if line[-1:] != b"}":
        return parse(line)
    reply = _REPLY.match(line)
    if reply is None:
        return () if _RESULT.match(line) else parse(line)
    # Text that quotes a record has its quotes escaped, and a tool's input stands in the content:
    # what follows the content's end is the record's own.
    usage = _USAGE.match(line, line.rfind(b'],"stop_reason":'))
    if usage is None:
        return parse(line)
    end = usage.end()
    unusual = (
        line.find(b'"iterations":[{', end) >= 0
        or line.find(b'"isApiErrorMessage"', end) >= 0
        or line.find(b'"usage":', end) >= 0
    )
    if unusual:
        return parse(line)
    billed = Usage(int(usage[1]), int(usage[2]), int(usage[3]), int(usage[4]))
    sidechain = reply[1] == b"true"
    return (
        AssistantReplied(
            reply[2].decode(errors="replace"),
            reply[3].decode(errors="replace"),
            billed,
            billed,
            sidechain=sidechain,
        ),
    )


def parse_facts(line: bytes) -> Sequence[SessionEvent] | Skipped:
    """Like `parse`, without the tool results that no fact is made of."""
    if line[-1:] == b"}" and _RESULT.match(line) and not _tells(line):
        return ()
    return parse(line)


def _tells(result: bytes) -> bool:
    """Whether a result can be a commit, a new task, a subagent or a failure."""
    if b"Task #" in result[:800] or b'"is_error":true' in result or b'"agentId"' in result:
        return True
    return b"] " in result and _COMMITTED.search(result) is not None

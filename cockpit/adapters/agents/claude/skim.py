"""Parse whole Claude transcripts quickly, for totals or facts only.

Both return the same events as `record.parse` for the records they need, and skip other lines by
their first bytes. Lines of an unusual form are parsed by `parse`: slower, but with the
same result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache

from cockpit.adapters.agents.claude.plain_lines import (
    CHAINED,
    end_of_success,
    is_text_only,
    is_thinking_only,
    only_call,
    result_of,
    success,
)
from cockpit.adapters.agents.claude.record import content_of, parse
from cockpit.core.collectors.bounded import remember
from cockpit.core.collectors.wanted import checks_of, result_matters
from cockpit.core.foreign_json import loads
from cockpit.core.session import (
    AssistantReplied,
    LastSaid,
    SessionEvent,
    Skipped,
    ToolUse,
    Usage,
)

_RESULT = re.compile(
    CHAINED + rb'"type":"user","message":\{"role":"user","content":\[\{'
    rb'(?:"tool_use_id":"|"type":"tool_result")'
)
_REPLY = re.compile(
    CHAINED + rb'"message":\{"id":"([^"\\]+)","type":"message","role":"assistant",'
    rb'"model":"([^"\\<]+)","content":\['
)
_USAGE = re.compile(
    rb'\],"stop_reason":(?:null|"[a-z_]*"),(?:"stop_sequence":(?:null|"[^"\\]*"),)?'
    rb'"usage":\{"input_tokens":([0-9]{1,12}),"cache_creation_input_tokens":([0-9]{1,12}),'
    rb'"cache_read_input_tokens":([0-9]{1,12}),"output_tokens":([0-9]{1,12})[,}]'
)
_LARGE_MODEL = b'[1m]"'
_LARGE_SIGNATURE = b"(1M context)"
_LISTED = re.compile(rb'"#[0-9]{1,6} \[[a-z_]{1,20}\] |"No tasks found"')
_CALL_ID = re.compile(rb'"tool_use_id":"([^"\\]{1,200})"')
_KEPT_BACK = 40
"""Maximum results that are held back at a time, so that collectors still know their calls."""
_COMMITTED = re.compile(rb'(?:"|\\n)\[[^"\n]{1,400}? [0-9a-f]{7,64}\] ')


def parse_totals(line: bytes) -> Sequence[SessionEvent] | Skipped:
    """Parse a line for its token counts: like `parse`, but replies have no text, tools or time."""
    if line[-1:] != b"}":
        return parse(line)
    reply = _REPLY.match(line)
    if reply is None:
        return () if _RESULT.match(line) and line.find(_LARGE_MODEL) < 0 else parse(line)
    usage = None if line.find(_LARGE_SIGNATURE) >= 0 else _usage_of(line)
    return parse(line) if usage is None else (_bare_event(*reply.groups(), usage.groups()),)


class FactsParser:
    """Parses the lines of one transcript for facts, in order.

    Like `parse`, but omits results that contain no facts, the times of replies, and texts and
    successful checks that are followed by later ones. Call `rest` at the end to get the last text
    and checks. Remembers the calls whose results are needed.
    """

    __slots__ = ("_awaited", "_held", "_kept_back", "_text")

    def __init__(self) -> None:
        self._awaited: dict[str, tuple[tuple[str, ...], bool]] = {}
        """The calls whose results are needed: the kinds of checks, and whether only these are."""
        self._held: dict[tuple[str, ...], tuple[bytes, re.Match[bytes], int]] = {}
        """The last check that succeeded, of each kind: the next one makes its output irrelevant."""
        self._kept_back = 0
        self._text: bytes | None = None
        """The content of the last reply with text, if its event had no text."""

    def __call__(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        """Parse the next line."""
        if line[-1:] != b"}":
            return self._whole(line)
        reply = _REPLY.match(line)
        if reply is None:
            return self._result(line)
        usage = _usage_of(line)
        if usage is None or line.find(_LARGE_SIGNATURE) >= 0:
            return self._whole(line)
        start, end = reply.end(), usage.start()
        call = only_call(line, start, end)
        if call is not None:
            self._await(call)
            return (_reply_event(reply, usage, "", (call,)),)
        if is_text_only(line, start, end):
            if reply[1] == b"false":
                self._text = line[start - 1 : end + 1]
            return (_bare_event(*reply.groups(), usage.groups()),)
        if is_thinking_only(line, start, end):
            return (_bare_event(*reply.groups(), usage.groups()),)
        try:
            content = loads(line[start - 1 : end + 1])
        except (ValueError, RecursionError):
            return self._whole(line)
        text, tools = content_of(content)
        event = _reply_event(reply, usage, text, tools)
        self._replied(event)
        return (event,)

    def rest(self) -> Sequence[SessionEvent]:
        """Return the events that were held back. Call it after the last line."""
        events = self._held_results()
        if self._text is not None:
            with suppress(ValueError, RecursionError):
                events.append(LastSaid(content_of(loads(self._text))[0]))
        return events

    def _result(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        found = result_of(line)
        if found is not None and self._awaited:
            ident = found[2].decode(errors="replace")
            checks = self._awaited.get(ident)
            end = end_of_success(line, found) if checks is not None else None
            if checks is not None and end is not None:
                del self._awaited[ident]
                return self._successful(*checks, line, found, end)
        return () if _RESULT.match(line) and not self._may_hold_fact(line) else self._whole(line)

    def _successful(
        self, kinds: tuple[str, ...], only: bool, line: bytes, found: re.Match[bytes], end: int
    ) -> Sequence[SessionEvent] | Skipped:
        if not only:
            event = success(line, found, end)
            if event is None:
                return self._whole(line)
            # The order of results matters only between those of checks.
            return (*self._held_results(), event) if kinds and self._held else (event,)
        self._held.pop(kinds, None)
        self._held[kinds] = line, found, end
        self._kept_back += 1
        return self._held_results() if self._kept_back > _KEPT_BACK else ()

    def _held_results(self) -> list[SessionEvent]:
        held, self._held, self._kept_back = [*self._held.values()], {}, 0
        events: list[SessionEvent] = []
        for line, found, end in held:
            event = success(line, found, end)
            if event is not None:
                events.append(event)
            elif not isinstance(parsed := parse(line), Skipped):
                events.extend(parsed)
        return events

    def _whole(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        events = parse(line)
        if isinstance(events, Skipped):
            return events
        for event in events:
            if isinstance(event, AssistantReplied):
                self._replied(event)
        return (*self._held_results(), *events) if events and self._held else events

    def _replied(self, event: AssistantReplied) -> None:
        if event.text.strip() and not event.sidechain:
            self._text = None
        for tool in event.tools:
            self._await(tool)

    def _await(self, tool: ToolUse) -> None:
        if result_matters(tool):
            remember(self._awaited, tool.id, checks_of(tool))

    def _may_hold_fact(self, line: bytes) -> bool:
        return bool(self._awaited and self._is_awaited(line)) or _may_hold_fact(line)

    def _is_awaited(self, line: bytes) -> bool:
        """Return whether the line has a result that is needed."""
        idents = [ident.decode(errors="replace") for ident in _CALL_ID.findall(line)]
        awaited = [ident for ident in idents if ident in self._awaited]
        for ident in awaited:
            self._awaited.pop(ident, None)
        return bool(awaited)


def _usage_of(line: bytes) -> re.Match[bytes] | None:
    """Return the usage at the end of a reply's line; None if a full parse is needed.

    The usage after the end of the content is the record's own: quotes in a text are escaped, and a
    tool's input is part of the content.
    """
    usage = _USAGE.match(line, line.rfind(b'],"stop_reason":'))
    if usage is None:
        return None
    end = usage.end()
    unusual = (
        line.find(b'"iterations":[{', end) >= 0
        or line.find(b'"isApiErrorMessage"', end) >= 0
        or line.find(b'"usage":', end) >= 0
    )
    return None if unusual else usage


def _reply_event(
    reply: re.Match[bytes], usage: re.Match[bytes], text: str, tools: tuple[ToolUse, ...]
) -> AssistantReplied:
    sidechain, ident, model = reply.groups()
    billed = _counted(*usage.groups())
    return AssistantReplied(
        _decoded(ident), _decoded(model), billed, billed, text, tools, None, sidechain == b"true"
    )


@lru_cache(maxsize=16)
def _bare_event(
    sidechain: bytes, ident: bytes, model: bytes, counts: tuple[bytes, ...]
) -> AssistantReplied:
    """Return a reply without text and tools.

    The CLI writes a line for each block of a message; equal lines give the same object, which a
    `Meter` counts quickly.
    """
    billed = _counted(*counts)
    return AssistantReplied(
        _decoded(ident), _decoded(model), billed, billed, sidechain=sidechain == b"true"
    )


@lru_cache(maxsize=16)
def _counted(fresh: bytes, creation: bytes, read: bytes, output: bytes) -> Usage:
    return Usage(int(fresh), int(creation), int(read), int(output))


@lru_cache(maxsize=64)
def _decoded(text: bytes) -> str:
    """Return an id or a model's name as text. Cached, because many lines repeat them."""
    return text.decode(errors="replace")


def _may_hold_fact(result: bytes) -> bool:
    """Return whether a result may contain a commit, a new task, a subagent, a background task or a
    failure.

    The CLI writes a tool's output twice: for the model, and as `toolUseResult` for its own use.
    """
    middle = result.rfind(b'"toolUseResult":')
    end = middle if middle >= 0 else len(result)
    return (
        result.find(b"Task #", 0, 800) >= 0
        or result.find(b'"Task not found', 0, 800) >= 0
        or _LISTED.search(result, 0, 800) is not None
        or result.find(b'"task_id"', end) >= 0
        or result.find(_LARGE_MODEL, end) >= 0
        or result.find(b'"is_error":true', 0, end) >= 0
        or result.find(b'"agentId"', end) >= 0
        or result.find(b'"backgroundTaskId"', end) >= 0
        or (result.find(b"] ", 0, end) >= 0 and _COMMITTED.search(result, 0, end) is not None)
    )

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
    LINE,
    end_of_success,
    file_call,
    is_dropped_if_repeated,
    is_only_block,
    may_hold_fact,
    shell_call,
    success,
)
from cockpit.adapters.agents.claude.record import content_of, parse
from cockpit.core.collectors.bounded import remember_call
from cockpit.core.collectors.wanted import checks_of, result_matters
from cockpit.core.foreign_json import loads
from cockpit.core.session import (
    AssistantReplied,
    LastSaid,
    SessionEvent,
    Skipped,
    ToolFinished,
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
_UNUSUAL = re.compile(rb'"(?:iterations":\[\{|isApiErrorMessage"|usage":)')
_LARGE_MODEL = b'[1m]"'
_LARGE_SIGNATURE = b"(1M context)"
_CALL_ID = re.compile(rb'"tool_use_id":"([^"\\]{1,200})"')
_KEPT_BACK = 40
"""Maximum results that are held back at a time, so that collectors still know their calls."""
_BRACE = 0x7D
_MODEL = 3
"""The group of `LINE` with the model, after which the content begins."""


_Held = tuple[bytes, int, bytes, bool]
"""A line with the result of a check: the line, the start of the output, the id of the call, and
whether a subagent called it."""


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

    Like `parse`, but omits results that contain no facts, the times of replies, texts and
    successful checks that are followed by later ones, and repeated token counts of a message. Call
    `rest` at the end to get the last text and checks. Remembers the calls whose results are needed.
    """

    __slots__ = (
        "_awaited",
        "_billed",
        "_counts",
        "_held",
        "_ident",
        "_kept_back",
        "_message",
        "_model",
        "_text",
    )

    def __init__(self) -> None:
        self._awaited: dict[str, tuple[tuple[str, ...], bool]] = {}
        """The calls whose results are needed: the kinds of checks, and whether only these are."""
        self._held: dict[tuple[str, ...], _Held] = {}
        """The last check that succeeded, of each kind: the next one makes its output irrelevant."""
        self._kept_back = 0
        self._text: bytes | None = None
        """The content of the last reply with text, if its event had no text."""
        self._message: tuple[bytes, bytes, bytes] | None = None
        """The mark of a subagent, the id and the model of the last reply. None after a line that
        was parsed whole, because the next line of the same message may then matter again."""
        self._ident = self._model = ""
        self._counts = b""
        """The bytes of the last reply with its token counts, which `_billed` has as numbers."""
        self._billed = Usage()

    def __call__(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        """Parse the next line."""
        found = LINE.match(line)
        if found is None or line[-1] != _BRACE:
            return self._whole(line)
        side, ident, model, id_, command, note, tool, path, block, result = found.groups()
        if ident is None:
            return self._result(line, found.end(), side, result)
        if command is not None:
            end = found.end()
            if self._count(line, end, (side, ident, model)) is None or _LARGE_SIGNATURE in command:
                return self._whole(line)
            call = shell_call(id_, command, note)
            return self._call_event(call) if call is not None else self._reply(line, found, end)
        end = line.rfind(b'],"stop_reason":')
        again = self._count(line, end, (side, ident, model)) if end >= 0 else None
        if again is None:
            return self._whole(line)
        if tool is not None:
            call = file_call(line, found.end(), end, id_, tool, path)
            if call is not None:
                return self._call_event(call)
        elif block is not None and is_only_block(line, found.end(), end):
            if block[:4] == b"text" and side == b"false":
                self._text = line[_content(found) : end + 1]
            return () if again else (self._event("", ()),)
        return self._reply(line, found, end)

    def rest(self) -> Sequence[SessionEvent]:
        """Return the events that were held back. Call it after the last line."""
        events = self._held_results()
        if self._text is not None:
            with suppress(ValueError, RecursionError):
                events.append(LastSaid(content_of(loads(self._text))[0]))
        return events

    def _count(self, line: bytes, end: int, message: tuple[bytes, bytes, bytes]) -> bool | None:
        """Read the token counts after the content of a reply, which ends at `end`.

        Return whether they and the message are those of the last reply; None if a full parse is
        needed.
        """
        if message == self._message and line.startswith(self._counts, end):
            return True if _is_usual(line, end + len(self._counts)) else None
        usage = _USAGE.match(line, end)
        if usage is None or not _is_usual(line, usage.end()):
            return None
        self._message, self._counts = message, usage[0]
        self._ident, self._model = message[1].decode(errors="replace"), _decoded(message[2])
        self._billed = Usage(*map(int, usage.groups()))
        return False

    def _event(self, text: str, tools: tuple[ToolUse, ...]) -> AssistantReplied:
        """Return the event of the reply that was counted last."""
        billed = self._billed
        sidechain = self._message is not None and self._message[0] == b"true"
        return AssistantReplied(
            self._ident, self._model, billed, billed, text, tools, None, sidechain
        )

    def _call_event(self, call: ToolUse) -> Sequence[SessionEvent]:
        self._await(call)
        return (self._event("", (call,)),)

    def _reply(
        self, line: bytes, found: re.Match[bytes], end: int
    ) -> Sequence[SessionEvent] | Skipped:
        """Parse the content of a reply."""
        if line.find(_LARGE_SIGNATURE) >= 0:
            return self._whole(line)
        try:
            content = loads(line[_content(found) : end + 1])
        except (ValueError, RecursionError):
            return self._whole(line)
        event = self._event(*content_of(content))
        self._replied(event)
        return (event,)

    def _result(
        self, line: bytes, start: int, side: bytes, call: bytes | None
    ) -> Sequence[SessionEvent] | Skipped:
        """Parse a result. `start`: of its output, if `call` is not None."""
        if self._awaited:
            ident = "" if call is None else call.decode(errors="replace")
            checks = self._awaited.get(ident)
            if call is not None and checks is not None:
                kinds, only = checks
                held = line, start, call, side == b"true"
                if only and is_dropped_if_repeated(line, start):
                    del self._awaited[ident]
                    return self._hold(kinds, held)
                event = None if only else _success(*held)
                if event is not None:
                    del self._awaited[ident]
                    # The order of results matters only between those of checks.
                    return (*self._held_results(), event) if kinds and self._held else (event,)
            if self._is_awaited(line, start, call):
                return self._whole(line)
        return self._whole(line) if may_hold_fact(line, start) else ()

    def _hold(self, kinds: tuple[str, ...], held: _Held) -> Sequence[SessionEvent]:
        self._held.pop(kinds, None)
        self._held[kinds] = held
        self._kept_back += 1
        return self._held_results() if self._kept_back > _KEPT_BACK else ()

    def _held_results(self) -> list[SessionEvent]:
        results, self._held, self._kept_back = [*self._held.values()], {}, 0
        events: list[SessionEvent] = []
        for held in results:
            event = _success(*held)
            if event is not None:
                events.append(event)
            elif not isinstance(parsed := parse(held[0]), Skipped):
                events.extend(parsed)
        return events

    def _whole(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        self._message = None
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
            remember_call(self._awaited, tool.id, checks_of(tool))

    def _is_awaited(self, line: bytes, start: int, call: bytes | None) -> bool:
        """Return whether the line has a result that is needed."""
        single = call is not None and line.find(b'"tool_use_id":"', start) < 0
        calls = [call] if call is not None and single else _CALL_ID.findall(line)
        idents = [ident.decode(errors="replace") for ident in calls]
        awaited = [ident for ident in idents if ident in self._awaited]
        for ident in awaited:
            self._awaited.pop(ident, None)
        return bool(awaited)


def _success(line: bytes, start: int, call: bytes, sidechain: bool) -> ToolFinished | None:
    """Return the result of a command with status 0; None if it needs a full parse."""
    end = end_of_success(line, start)
    return None if end is None else success(line, start, end, call, sidechain)


def _content(found: re.Match[bytes]) -> int:
    """Return where the content of a reply begins."""
    return found.end(_MODEL) + len(b'","content":')


def _usage_of(line: bytes) -> re.Match[bytes] | None:
    """Return the usage at the end of a reply's line; None if a full parse is needed.

    The usage after the end of the content is the record's own: quotes in a text are escaped, and a
    tool's input is part of the content.
    """
    usage = _USAGE.match(line, line.rfind(b'],"stop_reason":'))
    return usage if usage is not None and _is_usual(line, usage.end()) else None


def _is_usual(line: bytes, end: int) -> bool:
    """Return whether the rest of a reply's line, after the token counts, changes nothing."""
    return _UNUSUAL.search(line, end) is None


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

"""Parse whole Claude transcripts quickly, for their facts only.

Gives the same facts as `record.parse`, and skips most lines by their first bytes. Lines of an
unusual form are parsed by `parse`: slower, but with the same result.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from cockpit.adapters.agents.claude.plain_lines import (
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
from cockpit.adapters.agents.claude.totals import (
    CLOSING_BRACE,
    LARGE_SIGNATURE,
    ReplyCounter,
)
from cockpit.core.collect import REPLIES_BEFORE
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
)

_CALL_ID = re.compile(rb'"tool_use_id":"([^"\\]{1,200})"')
_KEPT_BACK = 40
"""Maximum results that are held back at a time, so that collectors still know their calls."""
_MODEL = 3
"""The group of `LINE` with the model, after which the content begins."""


_Held = tuple[bytes, int, bytes, bool]
"""A line with the result of a check: the line, the start of the output, the id of the call, and
whether a subagent called it."""


class FactsParser(ReplyCounter):
    """Parses the lines of one transcript for facts, in order.

    Like `parse`, but omits results that contain no facts, the times of replies, texts and
    successful checks that are followed by later ones, and repeated token counts of a message. Call
    `rest` at the end to get the last text and checks. Remembers the calls whose results are needed.
    """

    __slots__ = ("_awaited", "_held", "_kept_back", "_texts")

    def __init__(self) -> None:
        super().__init__()
        self._awaited: dict[str, tuple[tuple[str, ...], bool]] = {}
        """The calls whose results are needed: the kinds of checks, and whether only these are."""
        self._held: dict[tuple[str, ...], _Held] = {}
        """The last check that succeeded, of each kind: the next one makes its output irrelevant."""
        self._kept_back = 0
        self._texts: deque[bytes] = deque(maxlen=REPLIES_BEFORE + 1)
        """The contents of the last replies with text whose events had no text."""

    def __call__(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        """Parse the next line."""
        found = LINE.match(line)
        if found is None or line[-1] != CLOSING_BRACE:
            return self._whole(line)
        side, ident, model, id_, command, note, tool, path, block, result = found.groups()
        if ident is None:
            return self._result(line, found.end(), side, result)
        if command is not None:
            end = found.end()
            if self.count(line, end, (side, ident, model)) is None or LARGE_SIGNATURE in command:
                return self._whole(line)
            call = shell_call(id_, command, note)
            return self._call_event(call) if call is not None else self._reply(line, found, end)
        end = line.rfind(b'],"stop_reason":')
        again = self.count(line, end, (side, ident, model)) if end >= 0 else None
        if again is None:
            return self._whole(line)
        if tool is not None:
            call = file_call(line, found.end(), end, id_, tool, path)
            if call is not None:
                return self._call_event(call)
        elif block is not None and is_only_block(line, found.end(), end):
            if block[:4] == b"text" and side == b"false":
                self._texts.append(line[_content(found) : end + 1])
            return () if again else (self.event("", ()),)
        return self._reply(line, found, end)

    def rest(self) -> Sequence[SessionEvent]:
        """Return the events that were held back. Call it after the last line."""
        return [*self._held_results(), *self._held_texts()]

    def _call_event(self, call: ToolUse) -> Sequence[SessionEvent]:
        self._await(call)
        return (self.event("", (call,)),)

    def _reply(
        self, line: bytes, found: re.Match[bytes], end: int
    ) -> Sequence[SessionEvent] | Skipped:
        """Parse the content of a reply."""
        if line.find(LARGE_SIGNATURE) >= 0:
            return self._whole(line)
        try:
            content = loads(line[_content(found) : end + 1])
        except (ValueError, RecursionError):
            return self._whole(line)
        event = self.event(*content_of(content))
        return (*self._texts_before(event), event)

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
        self.message = None
        events = parse(line)
        if isinstance(events, Skipped):
            return events
        before: list[SessionEvent] = []
        for event in events:
            if isinstance(event, AssistantReplied):
                before += self._texts_before(event)
        if events and self._held:
            before += self._held_results()
        return (*before, *events) if before else events

    def _texts_before(self, event: AssistantReplied) -> list[SessionEvent]:
        """Return the texts that were held back, if the reply has a text. Awaits its calls."""
        for tool in event.tools:
            self._await(tool)
        return self._held_texts() if event.text.strip() and not event.sidechain else []

    def _held_texts(self) -> list[SessionEvent]:
        events: list[SessionEvent] = []
        for content in self._texts:
            with suppress(ValueError, RecursionError):
                events.append(LastSaid(content_of(loads(content))[0]))
        self._texts.clear()
        return events

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

"""Read whole Claude transcripts quickly, for their facts only.

Gives the same facts as `record.parse`, from the few fields of a line that facts need. Lines of an
unusual form are parsed by `parse`: slower, but with the same result.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from cockpit.adapters.agents.claude.record import is_blank, parse
from cockpit.adapters.agents.claude.typed_lines import (
    ABSENT,
    UNREADABLE,
    Block,
    Counts,
    Details,
    Line,
    Message,
    call_of,
    decode,
    success,
)
from cockpit.adapters.agents.claude.user_records import BLOCKS_KEPT
from cockpit.core.collect import REPLIES_BEFORE
from cockpit.core.collectors.bounded import remember_call
from cockpit.core.collectors.wanted import Awaited, awaited
from cockpit.core.session import (
    AssistantReplied,
    LastSaid,
    SessionEvent,
    Skipped,
    ToolUse,
    Usage,
)

_KEPT_BACK = 40
"""Maximum number of results held back at a time, including those that a later result replaced. If
there are more, all are passed on, because a collector remembers only a limited number of calls, and
must still know each result's call."""
_BARE = b'{"type":"'
"""The beginning of records outside the conversation; some contain 40 KB of system prompt."""
_SYNTHETIC = "<synthetic>"

_Key = tuple[str, bool, str, Counts]
"""Identifies a counted reply: id, whether it is a subagent's, model, and token counts."""


class FactsParser:
    """Parses the lines of one transcript for facts, in order.

    Like `parse`, but omits the times of replies, results without facts, a message's repeated token
    counts, and each text or successful check (test, lint or build) that a later one replaces. After
    the last line, call `rest` for the last texts and checks.
    """

    __slots__ = ("_awaited", "_bare", "_billed", "_held", "_kept_back", "_last", "_texts")

    def __init__(self) -> None:
        self._last: _Key | None = None
        """The previous reply, by which further lines of its message are recognised. None after a
        fully parsed line, so that the next line of the same message gives an event too."""
        self._bare = False
        """Whether the previous reply has no event yet. A reply without calls waits: the next line
        of the same message usually has calls, and one event for both lines is faster."""
        self._billed = Usage()
        self._awaited: dict[str, Awaited] = {}
        """The calls whose results are needed, by id."""
        self._held: dict[tuple[str, ...], tuple[Block, bool]] = {}
        """The latest successful check of each kind, held back while a newer one can replace it."""
        self._kept_back = 0
        self._texts: deque[str] = deque(maxlen=REPLIES_BEFORE + 1)
        """The main agent's most recent texts, which `_held_texts` returns as events. The events of
        replies have no text."""

    def __call__(self, line: bytes) -> Sequence[SessionEvent | Skipped] | Skipped:
        """Parse the next line. The result can include events held back from earlier lines."""
        if line.startswith(_BARE):
            return self._whole(line)
        try:
            decoded = decode(line)
        except UNREADABLE:
            return self._whole(line)
        message = decoded.message
        if message is None or type(message.content) is not list:
            return self._whole(line)
        events: Sequence[SessionEvent] | None = None
        if decoded.type == "assistant":
            events = self._reply(decoded, message, message.content)
        elif decoded.type == "user":
            events = self._results(decoded, message.content)
        return self._whole(line) if events is None else events

    def rest(self) -> Sequence[SessionEvent]:
        """Return the events that were held back. Call this after the last line."""
        return [*self._bare_reply(), *self._held_results(), *self._held_texts()]

    def _reply(
        self, line: Line, message: Message, blocks: list[Block]
    ) -> Sequence[SessionEvent] | None:
        """Return the events of a reply; None if the line needs a full parse."""
        ident, model, counts, side = message.id, message.model, message.usage, line.isSidechain
        if (
            not ident
            or model is None
            or model == _SYNTHETIC
            or counts is None
            or counts.iterations
            or line.isApiErrorMessage
            or len(blocks) > BLOCKS_KEPT
        ):
            return None
        text: str | None = None
        calls: list[ToolUse] = []
        for block in blocks:
            if block.type == "tool_use":
                call = call_of(block)
                if call is None:
                    return None
                calls.append(call)
            elif block.type == "text" and block.text is not None:
                text = block.text if text is None else f"{text}\n{block.text}"
        if text and not side and not is_blank(text):
            self._texts.append(text)
        # The CLI writes a line for each block of a message, with the same token counts.
        before: Sequence[SessionEvent] = ()
        key = ident, side, model, counts
        if key != self._last:
            if self._bare:
                before = self._bare_reply()
            self._last = key
            self._billed = Usage(
                counts.input_tokens,
                counts.cache_creation_input_tokens,
                counts.cache_read_input_tokens,
                counts.output_tokens,
            )
            if not calls:
                self._bare = True
                return before
        elif not calls:
            return ()
        self._bare = False
        for call in calls:
            if (wanted := awaited(call)) is not None:
                remember_call(self._awaited, call.id, wanted)
        billed = self._billed
        reply = AssistantReplied(ident, model, billed, billed, "", tuple(calls), None, side)
        return (*before, reply) if before else (reply,)

    def _bare_reply(self) -> Sequence[SessionEvent]:
        """Return the event of the previous reply; empty if it was already returned."""
        if not self._bare or self._last is None:
            return ()
        self._bare = False
        ident, side, model, _ = self._last
        return (AssistantReplied(ident, model, self._billed, self._billed, "", (), None, side),)

    def _results(self, line: Line, blocks: list[Block]) -> Sequence[SessionEvent] | None:
        """Return the events of a line with tool results; None if the line needs a full parse."""
        details = line.toolUseResult
        if details is ABSENT or not blocks:
            return None
        wanted = None
        for block in blocks:
            if block.type != "tool_result" or block.is_error:
                return None
            wanted = self._awaited.pop(block.tool_use_id or "", None) or wanted
        own = details if type(details) is Details else None
        if wanted is None:
            return None if own is not None and own.has_fact else ()
        plain = own is None or own.is_plain
        if len(blocks) != 1 or not plain or line.toolDenialKind is not ABSENT:
            return None
        held = blocks[0], line.isSidechain
        if wanted.only_checks:
            return self._hold(wanted.checks, held)
        # The order matters only among the results of checks.
        before = self._held_results() if wanted.checks and self._held else ()
        return (*self._bare_reply(), *before, success(*held))

    def _hold(self, kinds: tuple[str, ...], held: tuple[Block, bool]) -> Sequence[SessionEvent]:
        self._held.pop(kinds, None)
        self._held[kinds] = held
        self._kept_back += 1
        return self._held_results() if self._kept_back > _KEPT_BACK else ()

    def _held_results(self) -> list[SessionEvent]:
        held, self._held, self._kept_back = [*self._held.values()], {}, 0
        return [success(*result) for result in held]

    def _whole(self, line: bytes) -> Sequence[SessionEvent | Skipped] | Skipped:
        events = parse(line)
        before: list[SessionEvent] = [*self._bare_reply()]
        self._last = None
        if isinstance(events, Skipped):
            return (*before, events) if before else events
        for event in events:
            if isinstance(event, AssistantReplied):
                for tool in event.tools:
                    self._await(tool)
                if event.text.strip() and not event.sidechain:
                    before += self._held_texts()
        if events and self._held:
            before += self._held_results()
        return (*before, *events) if before else events

    def _held_texts(self) -> list[SessionEvent]:
        texts = [LastSaid(text) for text in self._texts]
        self._texts.clear()
        return [*texts]

    def _await(self, tool: ToolUse) -> None:
        if (wanted := awaited(tool)) is not None:
            remember_call(self._awaited, tool.id, wanted)

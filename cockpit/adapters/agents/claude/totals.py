"""Parse whole Claude transcripts quickly, for their token counts only.

Gives the same counts as `record.parse`, and skips most lines by their first bytes. Lines of an
unusual form are parsed by `parse`: slower, but with the same result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from cockpit.adapters.agents.claude.record import parse
from cockpit.core.session import AssistantReplied, SessionEvent, Skipped, ToolUse, Usage

CHAINED = (
    rb'\{"parentUuid":(?:null|"[^"]*"),(?:"logicalParentUuid":(?:null|"[^"]*"),)?'
    rb'"isSidechain":(true|false),(?:"(?:agentId|promptId)":"[^"]*",)*'
)
_BEGINNING = re.compile(
    CHAINED + rb'(?:"message":\{"id":"([^"\\]+)","type":"message","role":"assistant",'
    rb'"model":"([^"\\<]+)","content":\['
    rb'|"type":"user","message":\{"role":"user","content":\[\{'
    rb'(?:"tool_use_id":"|"type":"tool_result"))'
)
"""Matches the beginning of a line with a reply or a tool result, up to its first block."""
_USAGE = re.compile(
    rb'\],"stop_reason":(?:null|"[a-z_]*"),(?:"stop_sequence":(?:null|"[^"\\]*"),)?'
    rb'"usage":\{"input_tokens":([0-9]{1,12}),"cache_creation_input_tokens":([0-9]{1,12}),'
    rb'"cache_read_input_tokens":([0-9]{1,12}),"output_tokens":([0-9]{1,12})[,}]'
)
_UNUSUAL = re.compile(rb'"(?:iterations":\[\{|isApiErrorMessage"|usage":)')
_LARGE_MODEL = b'"resolvedModel"'
LARGE_SIGNATURE = b"(1M context)"
"""Part of the trailer that a model with the large window adds to a commit."""
CLOSING_BRACE = 0x7D


class ReplyCounter:
    """Reads the token counts of replies, and remembers those of the previous reply.

    The CLI writes a line for each block of a message, with the same token counts.
    """

    __slots__ = ("_billed", "_counts", "_ident", "_model", "message")

    def __init__(self) -> None:
        self.message: tuple[bytes, bytes, bytes] | None = None
        """The previous reply's `isSidechain`, message id and model, as bytes of the line. None
        after a fully parsed line, so that the next line of the same message gives an event too."""
        self._ident = self._model = ""
        self._counts = b""
        """The previous reply's token counts, as bytes of the line; `_billed` has the numbers."""
        self._billed = Usage()

    def count(self, line: bytes, end: int, message: tuple[bytes, bytes, bytes]) -> bool | None:
        """Read the token counts of a reply whose content ends at byte `end` of the line.

        Return True if the message and the counts equal those of the previous reply, False if they
        are new, and None if the line needs a full parse. A text or a tool's input that contains a
        `usage` is not mistaken for the record's own: quotes in texts are escaped, and a tool's
        input ends before byte `end`.
        """
        if message == self.message and line.startswith(self._counts, end):
            return True if _UNUSUAL.search(line, end + len(self._counts)) is None else None
        usage = _USAGE.match(line, end)
        if usage is None or _UNUSUAL.search(line, usage.end()) is not None:
            return None
        self.message, self._counts = message, usage[0]
        self._ident, self._model = message[1].decode(errors="replace"), _decoded(message[2])
        self._billed = Usage(*map(int, usage.groups()))
        return False

    def event(self, text: str, tools: tuple[ToolUse, ...]) -> AssistantReplied:
        """Return the event of the reply that `count` read most recently."""
        billed = self._billed
        sidechain = self.message is not None and self.message[0] == b"true"
        return AssistantReplied(
            self._ident, self._model, billed, billed, text, tools, None, sidechain
        )


class TotalsParser(ReplyCounter):
    """Parses the lines of one transcript for its token counts, in order.

    Like `parse`, but replies have no text, tools or time, and a message's repeated token counts are
    omitted.
    """

    __slots__ = ()

    def __call__(self, line: bytes) -> Sequence[SessionEvent] | Skipped:
        """Parse the next line."""
        match = _BEGINNING.match(line)
        if match is not None and line[-1] == CLOSING_BRACE:
            side, ident, model = match.groups()
            if ident is None:
                if line.find(_LARGE_MODEL, match.end()) < 0:
                    return ()
            elif line.find(LARGE_SIGNATURE) < 0:
                again = self.count(line, line.rfind(b'],"stop_reason":'), (side, ident, model))
                if again is not None:
                    return () if again else (self.event("", ()),)
        self.message = None
        return parse(line)


@lru_cache(maxsize=64)
def _decoded(text: bytes) -> str:
    """Return a model's name as text. Cached, because many lines contain the same name."""
    return text.decode(errors="replace")

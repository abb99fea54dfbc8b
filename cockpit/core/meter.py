"""Count one session's tokens from the events of its transcript.

Some events have the tokens in context; other events only add to the usage. To read a session again
from its start, create a new meter.
"""

from __future__ import annotations

import re
from collections import deque

from cockpit.core.course import Point, Trend, thinned
from cockpit.core.session import (
    AssistantReplied,
    Compacted,
    CostCounted,
    Identified,
    SessionEvent,
    Skipped,
    TurnEnded,
    Usage,
)

GROWTHS_KEPT = 10
IDENTITIES_KEPT = 20
SERIES_KEPT = 512


_DATE = re.compile(r"-20[0-9]{6}$")


class Meter:
    """Counts the tokens in one session's context, and the session's usage."""

    __slots__ = (
        "_base",
        "_billed",
        "_cached",
        "_cached_new",
        "_counted_id",
        "_growths",
        "_identity",
        "_input",
        "_just_compacted",
        "_last_bare",
        "_last_billed",
        "_last_id",
        "_model",
        "_output",
        "_series",
        "_suffixes",
        "_trend",
        "api_calls",
        "compactions",
        "cost_usd",
        "peak",
        "skipped",
        "tokens",
        "tool_calls",
        "turns",
    )

    def __init__(self) -> None:
        self.tokens: int | None = None
        """Tokens in context; None before the first reply, and after a compaction or a skipped reply
        until the next reply."""
        self.api_calls = 0
        """Number of the main agent's replies with a token count, each counted once."""
        self.compactions = 0
        self.tool_calls = 0
        """Number of the main agent's tool calls."""
        self.turns = 0
        """Number of turns that the CLI recorded as ended."""
        self.cost_usd: float | None = None
        """Cost in US dollars so far, as the CLI reports it; None until the CLI reports a cost."""
        self.peak = 0
        """The largest token count of the session, including before compactions."""
        self.skipped = 0
        """Number of lines that could not be read."""
        self._model: str | None = None
        self._identity: str | None = None
        self._suffixes: dict[str, str] = {}
        self._just_compacted = False
        self._last_bare: AssistantReplied | None = None
        """The previous reply, if it has no text and no tools. Counting the same object again would
        change nothing."""
        self._last_billed: Usage | None = None
        self._last_id: str | None = None
        self._counted_id: str | None = None
        self._base: int | None = None
        self._billed: dict[str, Usage] = {}
        self._input = self._cached_new = self._cached = self._output = 0
        self._growths: deque[int] = deque(maxlen=GROWTHS_KEPT)
        self._series: list[Point] = []
        self._trend = Trend()

    def feed(self, event: SessionEvent | Skipped) -> None:
        """Process the next event of the transcript; ignore kinds of events that change no count."""
        if isinstance(event, AssistantReplied):
            if event is self._last_bare:
                return
            self._last_bare = None if event.tools or event.text else event
            if (
                event.billed is self._last_billed
                and event.context is event.billed
                and event.message_id == self._counted_id
                and event.model == self._model
                and event.at is None
                and not event.sidechain
            ):
                self.tool_calls += len(event.tools)  # another block of the same message
            else:
                self._count(event)
        elif isinstance(event, Compacted):
            self._compact(event)
        elif isinstance(event, CostCounted):
            self.cost_usd = event.total_usd
        elif isinstance(event, Identified):
            self._identify(event.model)
        elif isinstance(event, TurnEnded):
            self.turns += 1
        elif isinstance(event, Skipped):
            self.skipped += 1
            if event.reading:
                self._reset_reading()

    @property
    def totals(self) -> Usage:
        """Usage of all API messages, including subagents.

        Of several records of one message, the largest is counted.
        """
        return Usage(self._input, self._cached_new, self._cached, self._output)

    @property
    def model(self) -> str | None:
        """The model of the last reply, with the `[1m]` suffix that replies leave out.

        Before the first reply, the model that the CLI reported; None if unknown.
        """
        if self._model is None:
            return self._identity
        return self._model + self._suffixes.get(_base(self._model), "")

    @property
    def series(self) -> tuple[Point, ...]:
        """The token counts, oldest first, thinned out evenly in a long session."""
        return tuple(self._series)

    @property
    def trend(self) -> tuple[int, ...]:
        """The whole session as a few token counts, oldest first."""
        return self._trend.values

    @property
    def tokens_per_turn(self) -> int | None:
        """Tokens that one API call adds: the median of the last `GROWTHS_KEPT` calls that added
        tokens since the last compaction; None if no call has added tokens since then."""
        from statistics import (
            median,
        )  # slow to load, and only the screen needs it

        growths = [*self._growths]
        if self.tokens is not None and self._base is not None and self.tokens > self._base:
            growths.append(self.tokens - self._base)
        return round(median(growths[-GROWTHS_KEPT:])) if growths else None

    def turns_left(self, target: int | None) -> int | None:
        """Return the number of API calls until `target` tokens; 0 at or above `target`.

        None if `target`, `tokens` or `tokens_per_turn` is None.
        """
        if target is None or self.tokens is None:
            return None
        if self.tokens >= target:
            return 0
        step = self.tokens_per_turn
        return -(-(target - self.tokens) // step) if step else None

    def _identify(self, model: str | None) -> None:
        if model is None:
            return
        self._identity = model
        base, bracket, suffix = model.partition("[")
        self._suffixes[_base(base)] = bracket + suffix
        while len(self._suffixes) > IDENTITIES_KEPT:
            del self._suffixes[next(iter(self._suffixes))]

    def _count(self, event: AssistantReplied) -> None:
        before = self._billed.get(event.message_id)
        if event.context is None:
            self.tool_calls += 0 if event.sidechain else len(event.tools)
            return
        self._bill(event.message_id, before, event.billed)
        if event.sidechain:
            return
        self.tool_calls += len(event.tools)
        if before is None:
            self.api_calls += 1
            self._last_id = event.message_id
        elif event.message_id != self._last_id:
            # A copied or late line of an earlier message does not show the current context.
            return
        self._model = event.model or self._model
        if (tokens := event.context.context) > 0:
            self._read(event, tokens)

    def _bill(self, message_id: str, before: Usage | None, now: Usage) -> None:
        if before is not None:
            if now.output + now.context <= before.output + before.context:
                return
            self._add(before, -1)
        self._add(now, 1)
        self._billed[message_id] = now
        self._last_billed = now

    def _add(self, usage: Usage, sign: int) -> None:
        self._input += sign * usage.input
        self._cached_new += sign * usage.cache_creation
        self._cached += sign * usage.cache_read
        self._output += sign * usage.output

    def _read(self, event: AssistantReplied, tokens: int) -> None:
        point = Point(event.at, tokens, "reply", self.api_calls)
        again = event.message_id == self._counted_id
        if again:
            self._series[-1] = point
        else:
            before, base = self.tokens, self._base
            if base is not None and before is not None and before > base:
                self._growths.append(before - base)
            self._base = before
            self._keep(point)
            self._counted_id = event.message_id
        self._trend.take(tokens, again=again)
        self.tokens = tokens
        self._just_compacted = False
        if tokens > self.peak:
            self.peak = tokens

    def _compact(self, event: Compacted) -> None:
        before = event.pre_tokens or self.tokens
        if before is None and self._just_compacted:
            return  # the CLI recorded the same compaction in two lines
        self._just_compacted = True
        self.compactions += 1
        if before:
            self._keep(Point(event.at, before, "compacted", self.api_calls))
        self._reset_reading()

    def _reset_reading(self) -> None:
        self.tokens = self._base = self._last_id = self._counted_id = None
        self._growths.clear()

    def _keep(self, point: Point) -> None:
        self._series.append(point)
        if len(self._series) > SERIES_KEPT:
            self._series = thinned(self._series, SERIES_KEPT // 2)


def _base(model: str) -> str:
    """Return a model's name without its suffix in brackets and without its date."""
    return _DATE.sub("", model.split("[", 1)[0])

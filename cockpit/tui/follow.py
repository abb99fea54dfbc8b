"""Keeping a part of the model current from its supervisor's stream, as long as the screen lives.

A supervisor that goes away is a picture that gets older, not an error: it is asked again,
less and less often, and whatever came meanwhile is taken up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import aclosing
from time import monotonic
from typing import Protocol, cast

from cockpit.client.client import Supervisor
from cockpit.core.errors import CockpitError, Failed
from cockpit.core.safetext import safe_line
from cockpit.tui.model import Connection, Part
from cockpit.wire.stream import Snapshot, WatchLine

FIRST_RETRY = 0.25
LAST_RETRY = 1.0
"""Seconds. Asking a socket that nobody listens on costs nothing, and a pilot may be waiting."""
LAST_FAR_RETRY = 30.0
"""Another machine is a program, a log-in and a line in somebody's journal, each time."""
BEGINNING = 3.0
AT_THE_BEGINNING = 0.05
"""A supervisor that was started together with the screen is there in a moment."""


class NotUnderstood(Failed):
    """It answers, in words of another version."""


async def follow(client: Supervisor, part: Part) -> None:
    """Keep `part` current until cancelled."""
    wait, begun = FIRST_RETRY, monotonic()
    while True:
        strange = False
        try:
            await _follow_once(client, part)
            why = "It ended the stream."
        except NotUnderstood as error:
            why, strange = safe_line(error.detail), True
        except CockpitError as error:
            why = _why(error, far=part.is_far)
        except OSError as error:
            why = safe_line(str(error))
        if part.connection.live:
            wait = FIRST_RETRY
        now = monotonic()
        beginning = now < begun + BEGINNING and not part.is_far
        if part.connection == Connection() and not strange and beginning:
            await asyncio.sleep(AT_THE_BEGINNING)
            continue
        part.lost(now, why, now + wait, strange=strange)
        await asyncio.sleep(wait)
        wait = min(wait * 2, LAST_FAR_RETRY if part.is_far else LAST_RETRY)


def _why(error: CockpitError, *, far: bool) -> str:
    """Of another machine the title too: many things can stand between it and us."""
    words = [error.title, *error.detail.splitlines()[:1]] if far else [error.detail or error.title]
    return safe_line(": ".join(filter(None, words)))


async def _follow_once(client: Supervisor, part: Part) -> None:
    lines = client.watch()
    async with aclosing(cast("_Closing", lines)):
        while (line := await _next(lines)) is not None:
            await _take(client, part, line)


async def _next(lines: AsyncIterator[WatchLine]) -> WatchLine | None:
    """The next line; None at the end. Raises `Failed` for one that makes no sense to us."""
    try:
        return await anext(lines)
    except StopAsyncIteration:
        return None
    except ValueError as error:
        raise NotUnderstood(
            "the supervisor was not understood",
            "It is of another version than this screen: cockpit down, then cockpit up.",
        ) from error


async def _take(client: Supervisor, part: Part, line: WatchLine) -> None:
    part.take(line, monotonic())
    if isinstance(line, Snapshot):
        part.answered()
        events = await client.events()
        if events and events[-1].id < part.last_event:
            part.forget_events()
        part.remember(events)


class _Closing(Protocol):
    """What every stream of a client has, and the protocol's `AsyncIterator` leaves out."""

    def aclose(self) -> Awaitable[None]: ...

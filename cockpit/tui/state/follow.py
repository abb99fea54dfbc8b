"""Keep one supervisor's part of the model current, from the supervisor's stream.

When the connection is lost, the last state is kept, and the screen connects again at growing
intervals (`retries`).
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
from cockpit.tui.state.model import Connection, Part
from cockpit.tui.state.retries import Retries
from cockpit.wire.stream import Resumed, Snapshot, WatchLine

BEGINNING = 3.0
MOST_MISSED = 500
"""Maximum events that are requested after an interruption; the model keeps the same number."""
AT_THE_BEGINNING = 0.05
"""Seconds between retries during the first `BEGINNING` seconds, if the supervisor is on this
machine: a supervisor that was started together with the screen is ready soon."""


class NotUnderstood(Failed):
    """The supervisor's reply cannot be parsed, because the supervisor runs another version."""


async def follow(client: Supervisor, part: Part) -> None:
    """Keep `part` current until cancelled."""
    retries, begun = Retries(is_remote=part.is_remote), monotonic()
    while True:
        incompatible, opened = False, monotonic()
        try:
            await _follow_once(client, part)
            why = "The supervisor closed the connection."
        except NotUnderstood as error:
            why, incompatible = safe_line(error.detail), True
        except CockpitError as error:
            why = _why(error, is_remote=part.is_remote)
        except OSError as error:
            why = safe_line(str(error))
        now = monotonic()
        was_live = part.connection.live
        beginning = now < begun + BEGINNING and not part.is_remote
        if part.connection == Connection() and not incompatible and beginning:
            await asyncio.sleep(AT_THE_BEGINNING)
            continue
        part.lost(now, why, incompatible=incompatible)
        await asyncio.sleep(retries.wait_after(opened, now, was_live=was_live))


def _why(error: CockpitError, *, is_remote: bool) -> str:
    """Return an error's detail as one line; for a remote host, after the error's title."""
    text = (
        [error.title, *error.detail.splitlines()[:1]]
        if is_remote
        else [error.detail or error.title]
    )
    return safe_line(": ".join(filter(None, text)))


async def _follow_once(client: Supervisor, part: Part) -> None:
    lines = client.watch(elsewhere=True, day=True, since=part.position)
    async with aclosing(cast("_Closing", lines)):
        while (line := await _next(lines)) is not None:
            await _take(client, part, line)


async def _next(lines: AsyncIterator[WatchLine]) -> WatchLine | None:
    """Return the next line; None at the end. Raises `NotUnderstood` for an invalid line."""
    try:
        return await anext(lines)
    except StopAsyncIteration:
        return None
    except ValueError as error:
        raise NotUnderstood(
            "cannot read the supervisor's reply",
            "The supervisor runs another version than this screen.",
        ) from error


async def _take(client: Supervisor, part: Part, line: WatchLine) -> None:
    part.remark = client.remark  # set first: `take` makes the screen show the remark
    part.take(line, monotonic())
    if isinstance(line, Resumed) and part.last_event:
        part.answered()
        missed = await client.events(after=part.last_event, limit=MOST_MISSED)
        if len(missed) == MOST_MISSED:
            missed = await client.events()  # the newest events are more useful
        part.remember(missed)
    elif isinstance(line, Snapshot | Resumed):
        part.answered()
        events = await client.events()
        if events and events[-1].id < part.last_event:
            part.forget_events()
        part.remember(events)


class _Closing(Protocol):
    """An async iterator with `aclose`, which client streams have but `AsyncIterator` lacks."""

    def aclose(self) -> Awaitable[None]: ...

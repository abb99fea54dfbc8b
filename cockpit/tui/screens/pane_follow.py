"""Stream one agent's pane into a view, at most as often as the pace allows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import aclosing
from time import monotonic
from typing import Protocol, cast

from cockpit.client.client import Client
from cockpit.core.errors import CockpitError, NoSupervisor
from cockpit.core.safetext import safe_line
from cockpit.tui.state.pace import Pace
from cockpit.tui.widgets.pane_view import PaneView
from cockpit.wire.status import AgentStatus
from cockpit.wire.stream import ScreenShot

LATE = 0.25
"""Seconds without a capture after which a message replaces the previously selected agent's pane. A
capture usually comes sooner; an earlier message would flicker."""


async def look(
    client: Client,
    agent: AgentStatus | None,
    view: PaneView,
    pace: Pace,
    *,
    start: str,
    unreachable: str,
    history: int = 0,
) -> None:
    """Show an agent's pane until the pane's stream ends or the task is cancelled.

    When the stream ends, its last capture is shown without waiting for the pace. Errors are shown
    in the view. `start` is a sentence that says how to start an agent that is not running,
    `unreachable` the message if the supervisor does not answer. `history` is the number of
    scrollback lines to include.
    """
    if agent is None:
        view.show_message("")
        return
    if agent.pane is None:
        view.show_message(_why_no_pane(agent, start))
        return
    try:
        shots = client.screen(agent.name, history)
        async with aclosing(cast("_Closing", shots)):
            await _show_each(agent.name, shots, view, pace)
        # The pane no longer exists; the row will show the reason. Keep the last capture until then.
        if view.whose != agent.name:
            view.show_message("No pane to show.")
    except NoSupervisor:
        # The header shows the outage. Keep this agent's last capture, greyed, but not another's.
        if view.whose != agent.name:
            view.show_message(unreachable)
    except CockpitError as error:
        view.show_message(safe_line(f"{error.title}. {error.detail}"))


async def _show_each(
    name: str, shots: AsyncIterator[ScreenShot], view: PaneView, pace: Pace
) -> None:
    latest: ScreenShot | None = None
    fresh = asyncio.Event()

    async def read() -> None:
        nonlocal latest
        async for shot in shots:
            latest = shot
            fresh.set()

    async def draw() -> None:
        last = float("-inf")
        while True:
            await fresh.wait()
            await asyncio.sleep(max(0.0, last + pace.pane - monotonic()))
            fresh.clear()
            if latest is not None:
                view.show(latest, whose=name)
            last = monotonic()

    async def remove_other() -> None:
        await asyncio.sleep(LATE)
        if view.whose != name:
            view.show_message("Loading…")

    tasks = [asyncio.create_task(draw()), asyncio.create_task(remove_other())]
    try:
        await read()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if latest is not None and fresh.is_set():
        view.show(latest, whose=name)


def _why_no_pane(agent: AgentStatus, start: str) -> str:
    if agent.state in {"stopped", "exited", "done"}:
        return f"Not running. {start}"
    return "No pane yet."


class _Closing(Protocol):
    """An async iterator with `aclose`, which client streams have but `AsyncIterator` lacks."""

    def aclose(self) -> Awaitable[None]: ...

"""Going into an agent's pane and back.

Inside cockpit's own tmux server that is another window: the screen stays as it is. In a terminal
of its own the screen steps aside until whoever was let in is done. What is run is given from
outside; nothing here starts a process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.app import App

Attach = Callable[[str], Awaitable[None]]
"""Show the pane of the agent of that name; returns when the pilot is on the way or is back."""

Edit = Callable[[Path], Awaitable[None]]
"""Open a file in the pilot's editor; returns when it was left."""


async def step_aside(app: App[object], run: Callable[[], Awaitable[None]]) -> None:
    """Give the terminal away while `run` runs, and take it back whatever happens in there.

    The batch is what keeps the application alive meanwhile: without it thirty repaints fill
    the stopped driver's queue and everything stands still for good. An error is held until the
    terminal is ours again: one raised inside would leave it suspended.
    """
    trouble: BaseException | None = None
    with app.suspend(), app.batch_update():
        try:
            await run()
        except BaseException as error:  # noqa: BLE001 (raised again below, on our own screen)
            trouble = error
    if trouble is not None:
        raise trouble

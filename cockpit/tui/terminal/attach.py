"""Types of the functions that attach to a pane or open an editor; suspend the screen meanwhile.

Inside cockpit's own tmux server the pane is another window, and the screen keeps running. In a
terminal of its own the screen is suspended until the user detaches. This module starts no process.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from textual.app import App

Attach = Callable[[str], Awaitable[None]]
"""Attaches to the pane of the agent with that name; may return before the user detaches."""


class Edit(Protocol):
    """Opens a file in the user's editor; returns when the editor exits."""

    def __call__(self, file: Path, line: int = 1, /) -> Awaitable[None]:
        """`line` counts from 1; ignored if the editor's option for a line number is unknown."""


async def suspend_while(app: App[object], run: Callable[[], Awaitable[None]]) -> None:
    """Suspend the application while `run` runs, and always resume it.

    The batch update is required: without it thirty repaints fill the stopped driver's queue and the
    application hangs. An error of `run` is raised only after resuming; an error raised earlier
    would leave the terminal suspended.
    """
    trouble: BaseException | None = None
    with app.suspend(), app.batch_update():
        try:
            await run()
        except BaseException as error:  # noqa: BLE001 (raised again below, on our own screen)
            trouble = error
    if trouble is not None:
        raise trouble

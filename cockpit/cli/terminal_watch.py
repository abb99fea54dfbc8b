"""Watch whether a terminal that shows the screen's tmux window is connected over SSH.

tmux sends SIGURG to the screen whenever a terminal is attached or detached, so nothing is polled.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

from cockpit.adapters.tmux.views import TmuxViews
from cockpit.core.errors import CockpitError


def watch_terminals(views: TmuxViews, call: Callable[[bool], None]) -> Callable[[], None]:
    """Call `call` now, and whenever a terminal is attached or detached.

    `call` gets True if an attached terminal is connected over SSH. While no terminal is attached,
    `call` is not called. Returns a function that stops the watch.
    """
    changed = asyncio.Event()
    changed.set()
    loop = asyncio.get_running_loop()

    async def follow() -> None:
        while True:
            await changed.wait()
            changed.clear()
            try:
                over_ssh = await views.over_ssh()
            except CockpitError:
                continue  # the screen stays as it is until the next change
            if over_ssh is not None:
                call(over_ssh)

    loop.add_signal_handler(signal.SIGURG, changed.set)
    task = loop.create_task(follow())

    def stop() -> None:
        loop.remove_signal_handler(signal.SIGURG)
        task.cancel()

    return stop

"""`cockpit demo`: a flight with no account, on screen or without one."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from cockpit.client.client import Supervisor

_ENDING = (signal.SIGTERM, signal.SIGHUP)


def demo(
    agents: int = 3, headless: bool = False, keep: bool = False, picture: Path | None = None
) -> int:
    """Fly; 0 when all is well. Raises `CockpitError` with the reason otherwise.

    Events and the summary are data, so they go to stdout. However the flight is ended, it takes
    everything of its own with it.
    """
    from cockpit.demo.flight import fly_headless, fly_on_screen

    for number in _ENDING:
        signal.signal(number, _leave)
    if headless or picture is not None:
        portray = partial(_portray, picture) if picture is not None else None
        return fly_headless(agents, keep=keep, say=_say, portray=portray)
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        from cockpit.core.errors import BadUsage

        raise BadUsage("There is no terminal for the cockpit here", hint="Add --headless.")
    return fly_on_screen(agents, keep=keep, say=_say)


async def _portray(path: Path, client: Supervisor, selected: str) -> None:
    """Leave a picture of the fleet as it is now, with this agent selected."""
    from cockpit.config.shipped import themes_folder
    from cockpit.tui.picture import picture

    svg = await picture(client, theme_folders=(themes_folder(),), selected=selected)
    # The scratch folder has another name in every flight; the picture is the same in all.
    told = re.sub(r"ckdemo-\w+", "demo", svg)
    await asyncio.to_thread(path.write_text, told, encoding="utf-8")
    _say(f"Picture: {path}")


def _say(text: str) -> None:
    print(text, flush=True)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """End as by Ctrl-C, so that the flight lands; once is enough, and landing is not hurried."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt

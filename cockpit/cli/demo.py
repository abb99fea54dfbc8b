"""`cockpit demo`: a flight with no account, on screen or without one."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

_ENDING = (signal.SIGTERM, signal.SIGHUP)


USUAL_AGENTS = 3


def demo(
    agents: int | None = None,
    headless: bool = False,
    keep: bool = False,
    pictures: Path | None = None,
) -> int:
    """Fly; 0 when all is well. Raises `CockpitError` with the reason otherwise.

    Events and the summary are data, so they go to stdout. However the flight is ended, it takes
    everything of its own with it.
    """
    from cockpit.core.errors import BadUsage
    from cockpit.demo.flight import fly_headless, fly_on_screen

    if pictures is not None and agents is not None:
        raise BadUsage("The pictures have a cast of their own", hint="Leave --agents out.")
    for number in _ENDING:
        signal.signal(number, _leave)
    if pictures is not None:
        from cockpit.cli.pictures import fly_for_pictures

        return fly_for_pictures(pictures, keep=keep, say=_say)
    flying = agents or USUAL_AGENTS
    if headless:
        return fly_headless(flying, keep=keep, say=_say)
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise BadUsage("There is no terminal for the cockpit here", hint="Add --headless.")
    return fly_on_screen(flying, keep=keep, say=_say)


def _say(text: str) -> None:
    print(text, flush=True)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """End as by Ctrl-C, so that the flight lands; once is enough, and landing is not hurried."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt

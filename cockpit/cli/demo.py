"""`cockpit demo`: run the demo, on a screen or without one."""

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
    """Run the demo; 0 if all jobs finished. Raises `CockpitError` with the reason otherwise.

    Events and the summary are data and go to stdout. The demo removes its processes and files
    however it ends.
    """
    from cockpit.core.errors import BadUsage
    from cockpit.demo.flight import fly_headless, fly_on_screen

    if pictures is not None and agents is not None:
        raise BadUsage("--pictures has its own set of agents", hint="Drop --agents.")
    for number in _ENDING:
        signal.signal(number, _leave)
    if pictures is not None:
        from cockpit.cli.pictures import fly_for_pictures

        return fly_for_pictures(pictures, keep=keep, say=_say)
    flying = agents or USUAL_AGENTS
    if headless:
        return fly_headless(flying, keep=keep, say=_say)
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise BadUsage("The demo's screen needs a terminal", hint="Add --headless.")
    return fly_on_screen(flying, keep=keep, say=_say)


def _say(text: str) -> None:
    print(text, flush=True)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    """End as with Ctrl-C, so that cleanup runs; further signals do not interrupt the cleanup."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt

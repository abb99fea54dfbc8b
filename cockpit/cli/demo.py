"""`cockpit demo`: run the demo, on a screen or without one."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

_END_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


USUAL_AGENTS = 3


def demo(
    agents: int | None = None,
    headless: bool = False,
    keep: bool = False,
    pictures: Path | None = None,
    runtime: str = "claude",
) -> int:
    """Run the demo; return the exit code.

    Prints the summary on stdout. With `headless`, also prints events, and raises `CockpitError` if
    a job is not finished. At the end, also after an error or a signal, ends the demo's processes,
    and removes the demo's files unless `keep`.
    """
    from cockpit.core.errors import BadUsage
    from cockpit.demo.flight import fly_headless, fly_on_screen

    if pictures is not None and agents is not None:
        raise BadUsage("--pictures uses a fixed set of agents", hint="Drop --agents.")
    if pictures is not None and runtime != "claude":
        raise BadUsage("--pictures always uses Claude Code", hint="Drop --runtime.")
    for signal_number in _END_SIGNALS:
        signal.signal(signal_number, _interrupt)
    if pictures is not None:
        from cockpit.cli.demo_pictures import save_pictures

        return save_pictures(pictures, keep=keep, say=_say)
    number_of_agents = agents or USUAL_AGENTS
    if headless:
        return fly_headless(number_of_agents, keep=keep, say=_say, runtime=runtime)
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise BadUsage("The demo's screen needs a terminal", hint="Add --headless.")
    return fly_on_screen(number_of_agents, keep=keep, say=_say, runtime=runtime)


def _say(text: str) -> None:
    print(text, flush=True)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """End the demo as Ctrl-C does, so that cleanup runs; ignore further signals."""
    for signal_number in _END_SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)
    raise KeyboardInterrupt

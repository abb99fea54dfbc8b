"""`cockpit` with no command: everything that is needed runs, and this terminal shows it.

The screen lives in the first window of the private tmux server, where it survives the terminal
that looks at it; with `--direct` it runs right here.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from cockpit.cli.asking import check_host
from cockpit.cli.attach import become, check_terminal, views_of
from cockpit.cli.launching import start_supervisor
from cockpit.cli.options import asked
from cockpit.cli.places import our_places
from cockpit.config.paths import Places
from cockpit.ports.panes import Launch


def open_screen(*, direct: bool, in_home_window: bool) -> int:
    """Show the cockpit in this terminal. Raises `BadUsage` without one."""
    check_host()
    check_terminal()
    config = asked().config
    if not in_home_window:
        start_supervisor(config)
    if direct or in_home_window:
        from cockpit.cli.tui import run

        return run(our_places(), config, in_home_window=in_home_window)
    places = our_places()
    asyncio.run(views_of(places).open_home(_screen(places, config)))
    return become(places, None)


def _screen(places: Places, config: Path | None) -> Launch:
    """The process of the home window: this very program, with the screen for itself."""
    # -P: as for the supervisor, no folder of the project may pass for one of our modules.
    argv = [sys.executable, "-P", "-m", "cockpit", "--in-home-window"]
    if config is not None:
        argv += ["--config", str(config)]
    environment = dict(os.environ)
    if places.home is not None:
        environment["COCKPIT_HOME"] = str(places.home)
    return Launch(argv, Path.cwd().resolve(), environment)

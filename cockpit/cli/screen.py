"""`cockpit` with no command: everything that is needed runs, and this terminal shows it.

The screen lives in the first window of the private tmux server, where it survives the terminal
that looks at it; with `--direct` it runs right here.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

from cockpit.cli.attach import become, check_terminal, views_of
from cockpit.cli.launching import start_supervisor, supervisor_pid
from cockpit.cli.places import our_places
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError
from cockpit.ports.panes import Launch

PROJECT_FILE = "cockpit.toml"


def open_screen(config: Path | None) -> int:
    """Start what does not run yet, and become a terminal that shows the home window."""
    check_terminal()
    places = make_screen(config)
    if _needs_its_own(places):
        from cockpit.cli.showing import show_here

        return show_here(config)
    return become(places, None)


def make_screen(config: Path | None) -> Places:
    """Make sure that supervisor and screen run, with no terminal to show it in yet."""
    places = our_places()
    views = views_of(places)

    def open_home() -> None:
        asyncio.run(views.open_home(_home_launch(places, config)))

    try:
        # The screen begins while the supervisor does: each needs most of a second.
        start_supervisor(config, meanwhile=open_home)
    except CockpitError:
        with suppress(CockpitError):
            asyncio.run(views.forsake())
        raise
    return places


def reattach() -> None:
    """Become that terminal at once when everything flies already; otherwise come back.

    The short way leaves out what reads configuration, so it is not for a folder that may have
    some: the supervisor must be told of that file first.
    """
    here = Path.cwd()
    if any((folder / PROJECT_FILE).exists() for folder in (here, *here.parents)):
        return
    check_terminal()
    places = our_places()
    if flies(places) and not _needs_its_own(places):
        become(places, None)


def _needs_its_own(places: Places) -> bool:
    """Whether the screen there is draws more than this terminal can show: characters or colours."""
    return asyncio.run(views_of(places).is_too_much_for(os.environ))


def flies(places: Places) -> bool:
    """Whether supervisor and screen run already, as far as can be known."""
    try:
        return supervisor_pid(places) is not None and asyncio.run(views_of(places).home())[1]
    except CockpitError:
        return False


def _home_launch(places: Places, config: Path | None) -> Launch:
    """The process of the home window: this very program, with the screen for itself."""
    # -P: no folder of the project may pass for one of our modules.
    argv = [sys.executable, "-P", "-m", "cockpit", "--in-home-window"]
    if config is not None:
        argv += ["--config", str(config)]
    environment = dict(os.environ)
    if places.home is not None:
        environment["COCKPIT_HOME"] = str(places.home)
    return Launch(argv, Path.cwd().resolve(), environment)

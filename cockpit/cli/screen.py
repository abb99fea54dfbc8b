"""`cockpit` with no command: everything that is needed runs, and this terminal shows it.

The screen lives in the first window of the private tmux server, where it survives the terminal
that looks at it; with `--direct` it runs right here. Coming back to it is the fast path's, so what
is heavy stays outside.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

from cockpit.adapters.tmux_views import TmuxViews
from cockpit.cli.attach import become, check_terminal, views_of
from cockpit.cli.launching import start_supervisor, supervisor_pid
from cockpit.cli.places import our_places
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError
from cockpit.ports.panes import Launch, PaneGone


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

    async def look_or_open() -> None:
        # Coming back is the usual thing, and asks tmux for one thing only.
        if not await _home_runs(views):
            await views.open_home(_home_launch(places, config))

    try:
        # The screen begins while the supervisor does: each needs most of a second.
        start_supervisor(config, meanwhile=lambda: asyncio.run(look_or_open()))
    except CockpitError:
        with suppress(CockpitError):
            asyncio.run(views.forsake())
        raise
    return places


def _needs_its_own(places: Places) -> bool:
    """Whether the screen there is none for this terminal: characters, colours, its own wishes."""
    return asyncio.run(views_of(places).is_not_for(os.environ))


def flies(places: Places) -> bool:
    """Whether supervisor and screen run already, as far as can be known."""
    try:
        return supervisor_pid(places) is not None and asyncio.run(_home_runs(views_of(places)))
    except CockpitError:
        return False


async def _home_runs(views: TmuxViews) -> bool:
    try:
        return (await views.home())[1]
    except PaneGone:
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

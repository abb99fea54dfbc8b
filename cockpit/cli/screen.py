"""`cockpit` without a command: start the supervisor if needed, and show the screen.

The screen runs in the first window of the private tmux server, the home window, so that the screen
survives a closed terminal. With `--direct` it runs in this process. The fast path uses this module
to reattach, so heavy imports are deferred.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from cockpit.adapters.tmux.views import TmuxViews
from cockpit.cli.attach import check_terminal, exec_client, views_of
from cockpit.cli.places import our_places
from cockpit.cli.supervisor_process import start_supervisor, supervisor_pid
from cockpit.client.raw_request import is_listening
from cockpit.config.paths import Places
from cockpit.core.errors import CockpitError
from cockpit.ports.panes import Launch, PaneGone


def open_screen(config: Path | None) -> int:
    """Start the supervisor and the screen if needed; attach this terminal to the home window.

    A terminal that needs other characters, colours or settings than the running screen gets a
    screen of its own.
    """
    check_terminal()
    with _meanwhile():
        places = ensure_screen(config)
    if _needs_own_screen(places):
        from cockpit.cli.screen_modes import show_here

        return show_here(config)
    return exec_client(places, None)


def _meanwhile() -> AbstractContextManager[None]:
    """Show the previous supervisor's rows in this terminal while a new supervisor starts.

    Shows nothing if a supervisor is running, because the home window then opens at once.
    """
    return nullcontext() if is_listening(our_places().socket) else _starting()


@contextmanager
def _starting() -> Iterator[None]:
    from cockpit.adapters.process.terminals import without_echo
    from cockpit.cli.first_rows import last_rows

    with without_echo(), last_rows():
        yield


def ensure_screen(config: Path | None) -> Places:
    """Make sure that the supervisor and the screen are running."""
    places = our_places()
    views = views_of(places)

    async def look_or_open() -> None:
        # Reattaching is the common case and needs a single tmux command.
        if not await _home_runs(views):
            await views.open_home(_home_launch(places, config))

    try:
        # Start the screen and the supervisor in parallel: each needs most of a second.
        start_supervisor(config, meanwhile=lambda: asyncio.run(look_or_open()))
    except CockpitError:
        with suppress(CockpitError):
            asyncio.run(views.end_if_unused())
        raise
    return places


def _needs_own_screen(places: Places) -> bool:
    """Return whether this terminal needs other characters, colours or settings than the running
    screen."""
    return asyncio.run(views_of(places).needs_own_screen(os.environ))


def is_running(places: Places) -> bool:
    """Return whether the supervisor and the screen appear to be running already."""
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
    """Return the command of the home window, which runs the screen."""
    # -P: never import modules from the current folder.
    argv = [sys.executable, "-P", "-m", "cockpit", "--in-home-window"]
    if config is not None:
        argv += ["--config", str(config)]
    environment = dict(os.environ)
    if places.home is not None:
        environment["COCKPIT_HOME"] = str(places.home)
    return Launch(argv, Path.cwd().resolve(), environment)

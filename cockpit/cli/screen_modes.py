"""Run the screen: in this terminal, in the home window, or for another machine.

The home window is the first window of cockpit's private tmux server.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit.adapters.files.watched_files import watch_files
from cockpit.adapters.tmux.outer_terminal import client_terminal
from cockpit.adapters.tmux.views import TmuxViews
from cockpit.cli.attach import check_terminal, views_of
from cockpit.cli.host_clients import HostClients
from cockpit.cli.places import our_places
from cockpit.cli.supervisor_process import start_supervisor
from cockpit.cli.terminal_watch import watch_terminals
from cockpit.cli.tui import ReloadTargets, ScreenOptions, run
from cockpit.client.connection import BEAT
from cockpit.client.http import HttpClient
from cockpit.config.files import Files
from cockpit.config.paths import Places
from cockpit.config.project import FILE_NAME, project_file
from cockpit.config.read import load
from cockpit.config.shipped import themes_folder
from cockpit.core.errors import CockpitError, Failed
from cockpit.core.far_names import LOCAL
from cockpit.core.ids import PaneId, agent_name
from cockpit.ports.panes import Launch
from cockpit.wire.verbs import Attach

if TYPE_CHECKING:
    from cockpit.adapters.remote_host import RemoteHost
    from cockpit.client.joined_client import JoinedClient
    from cockpit.config.schema import Settings
    from cockpit.tui.terminal.attach import Attach as ShowPane

CONNECT_SCRIPT = 'echo "Connecting to $0 …"; exec "$@"'
"""Shell script that prints a line, then runs the command that connects to a host.

If the connection fails, tmux prints a line below the error and scrolls the top line off the screen.
The script's line is then the top line, so the error stays visible.
"""
ERASE_LINE_ABOVE = b"\x1b[A\x1b[2K"


def show_here(config: Path | None) -> int:
    """Run the screen in this terminal; attaching to a pane suspends the screen."""
    check_terminal()
    start_supervisor(config)
    return _show(our_places(), config, in_home_window=False)


def show_remote(host: RemoteHost, config: Path | None) -> int:
    """Run a screen with another machine's agents in this terminal, with this machine's settings."""
    check_terminal()

    async def show_remote_pane(name: str) -> None:
        await _run_tmux_client(
            host.attach_command(agent_name(name)), f"Cannot open the pane on {host.name}"
        )

    from cockpit.adapters.kept_host import KeptHost

    places = our_places()
    kept = KeptHost(host)
    client = HttpClient(kept, host.name, beat=BEAT)
    # No `files`, so the screen cannot change the configuration: that of the agents is on the host.
    try:
        return _run_screen(
            client, show_remote_pane, places, _settings(places, config), remote=host.name
        )
    finally:
        kept.close()


def show_in_home_window(config: Path | None) -> int:
    """Run the screen in the home window, for every terminal attached to this window.

    When the user leaves the screen, the terminal is detached and a new screen starts, so that the
    next `cockpit` opens at once. If the screen ends in any other way, its last output stays visible
    until the user restarts the screen with Return.
    """
    places = our_places()
    lines: list[str] = []
    code = _show(places, config, in_home_window=True, say_after=lines.append)
    if code == 0:
        asyncio.run(_detach(views_of(places), "\n".join(lines)))
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return code


def _show(
    places: Places,
    config: Path | None,
    *,
    in_home_window: bool,
    say_after: Callable[[str], None] = print,
) -> int:
    here = HttpClient(places.socket)
    views = views_of(places)
    settings = _settings(places, config)
    hosts = HostClients(here, settings)

    async def select_window(name: str) -> None:
        if argv := hosts.pane_command(name):
            argv = ["/bin/sh", "-c", CONNECT_SCRIPT, name, *argv]
            await views.show_remote(name, Launch(argv, Path.cwd(), dict(os.environ)))
            return
        done = await here.ask(Attach(name=name))
        await views.show(PaneId(done.pane or ""))

    async def attach_client(name: str) -> None:
        if argv := hosts.pane_command(name):
            await _run_tmux_client(argv, f"Cannot open the pane of {name}")
            return
        done = await here.ask(Attach(name=name))
        pane = PaneId(done.pane or "")
        argv = await views.attach_command(pane, os.environ, aside=True)
        await _run_tmux_client(argv, "Cannot open the pane")

    attach = select_window if in_home_window else attach_client
    files = partial(Files.read, places, config, Path.cwd(), dict(os.environ))
    outside = ReloadTargets(
        hosts.set_hosts,
        partial(watch_files, _settings_files(places, config)),
        _notification_passer(views),
        partial(watch_terminals, views) if in_home_window else None,
    )
    try:
        return _run_screen(
            hosts.client, attach, places, settings,
            files=files, in_home_window=in_home_window, outside=outside, say_after=say_after,
        )  # fmt: skip
    finally:
        hosts.close()


def _settings_files(places: Places, config: Path | None) -> list[Path]:
    """Return the files with settings, including a project file that does not exist yet."""
    cwd = Path.cwd()
    project = cwd / config if config is not None else project_file(cwd)
    return [places.user_file, places.trusted, project or cwd / FILE_NAME]


def _notification_passer(views: TmuxViews) -> Callable[[], None]:
    """Return a function that turns tmux's `allow-passthrough` on, for desktop notifications. The
    function does not wait for tmux."""
    tasks: set[asyncio.Task[None]] = set()

    async def allow() -> None:
        with contextlib.suppress(CockpitError):  # Without notifications, the bell still rings.
            await views.allow_passthrough()

    def begin() -> None:
        task = asyncio.get_running_loop().create_task(allow())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    return begin


def _settings(places: Places, config: Path | None) -> Settings:
    return load(places, config, Path.cwd(), os.environ).settings


def _run_screen(
    client: HttpClient | JoinedClient,
    attach: ShowPane,
    places: Places,
    settings: Settings,
    *,
    files: Callable[[], Files] | None = None,
    in_home_window: bool = False,
    remote: str | None = None,
    outside: ReloadTargets | None = None,
    say_after: Callable[[str], None] = print,
) -> int:
    """Run the screen with the user's settings; `remote` is the name of the other machine that the
    screen shows, if any."""
    if in_home_window and settings.notifications.terminal in ("osc9", "osc777"):
        asyncio.run(views_of(places).allow_passthrough())
    options = ScreenOptions(
        attach=attach,
        copy=views_of(places).copy if in_home_window else None,
        attached=views_of(places).attached if in_home_window else None,
        direct=not in_home_window,
        host=remote or LOCAL,
        theme=settings.cockpit.theme,
        theme_folders=[themes_folder(), places.themes],
        refresh=settings.cockpit.refresh,
        keys=dict(settings.keys),
        files=files,
        remember_in=places.state / (f"screen-{remote}.json" if remote else "screen.json"),
        glyphs=settings.cockpit.glyphs,
        colours=settings.cockpit.colours,
        notifications=settings.notifications,
        settings=settings,
        outside=outside,
        say_after=say_after,
    )
    return run(client, options)


async def _run_tmux_client(argv: list[str], trouble: str) -> None:
    """Run a tmux client in this terminal until the client detaches, then erase its exit message.

    The client may run on another machine. If the client fails, its error output stays visible;
    raises `Failed` with `trouble` as the title.
    """
    process = await asyncio.create_subprocess_exec(*argv, env=client_terminal(os.environ))
    if code := await process.wait():
        raise Failed(
            trouble,
            f"The tmux client ended with exit code {code}.",
            hint="To check tmux: cockpit doctor",
        )
    os.write(sys.stdout.fileno(), ERASE_LINE_ABOVE)


async def _detach(views: TmuxViews, line: str) -> None:
    try:
        await views.detach(line)
    except CockpitError:
        return  # no client is attached
